package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.RoundTopology;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.core.trace.TraceEvent;
import dev.doorbell.softhca.device.HcaTiming;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Wire.Route;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import dev.doorbell.softhca.wire.InProcessWire;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * When the stages of a WRITE happen, counted from the doorbell's arrival, on a path whose latency
 * is known: one way 250 ns, memory 300 ns, so an empty read of GPU memory takes 800 ns; doorbell
 * 50, WQE 120, packet 100 ns. The rest is serialisation at 29.9 GB/s, 24 bytes a completion of 256.
 */
class StageTimesTest {
  private static final long READ = 800;
  private static final HcaTiming TIMING = new HcaTiming(50, 120, 100);

  private final List<TraceEvent> events = new ArrayList<>();
  private SoftWorld world;
  private Endpoint a;
  private Endpoint b;

  @BeforeEach
  void open() {
    TimedFabric fabric =
        new TimedFabric(RoundTopology.sameSwitch(), AddressSpace.reserve(1L << 28), 1);
    fabric.trace(
        new Trace() {
          @Override
          public boolean enabled() {
            return true;
          }

          @Override
          public void record(TraceEvent event) {
            events.add(event);
          }
        });
    world = new SoftWorld(fabric, SoftHcaOptions.DEFAULT.withTiming(TIMING), new InProcessWire());
    Endpoint.Shape shape =
        Endpoint.Shape.usual()
            .withPlaces(MemoryKind.DEVICE, MemoryKind.DEVICE)
            .withCompletions(CompletionQueueAttributes.ring(64, MemoryKind.DEVICE))
            .withBufferIn(MemoryKind.DEVICE);
    a = new Endpoint(world, 0, shape);
    b = new Endpoint(world, 1, shape);
    Endpoint.connect(a, b);
    world.settle();
    events.clear();
  }

  @AfterEach
  void close() {
    world.close();
  }

  private long time(TraceEvent.Kind kind, long index) {
    return events.stream()
        .filter(event -> event.kind() == kind && event.value() == index)
        .filter(event -> event.subject() == a.queuePair.number())
        .mapToLong(TraceEvent::nanos)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + kind + " of WQE " + index));
  }

  /** Rings as if the doorbell had arrived now, and lets everything happen. */
  private long ring() {
    long start = world.fabric.now();
    SoftQueuePair queuePair = (SoftQueuePair) a.queuePair;
    queuePair.ring((int) a.posted() & SendQueue.INDEX_MASK);
    world.settle();
    return start;
  }

  private static double serialisation(long bytes) {
    long completions = (bytes + 255) / 256;
    return (bytes + 24.0 * completions) / (31.508 * 0.95);
  }

  @ParameterizedTest
  @CsvSource({"8", "64", "512", "4096", "65536", "1048576"})
  void a_pulled_write_leaves_after_two_reads_one_after_the_other(int bytes) {
    a.rdmaWrite(b, 0, 0, bytes).write();
    long start = ring();
    double gathered = 50 + READ + serialisation(64) + 120 + READ + serialisation(bytes);
    assertThat((double) time(TraceEvent.Kind.WQE_FETCHED, 0) - start)
        .isCloseTo(50 + READ + serialisation(64), Percentage.withPercentage(1));
    assertThat((double) time(TraceEvent.Kind.PAYLOAD_GATHERED, 0) - start)
        .isCloseTo(gathered, Percentage.withPercentage(3));
    assertThat((double) time(TraceEvent.Kind.EMITTED, 0) - start)
        .isCloseTo(gathered + 100, Percentage.withPercentage(3));
  }

  @ParameterizedTest
  @CsvSource({"8, 1", "28, 1", "29, 2", "92, 2", "220, 4"})
  void an_inline_write_needs_one_read_of_its_blocks(int bytes, int blocks) {
    a.wqe(Opcode.RDMA_WRITE).remote(b.address(0), b.region.rkey()).inline(new byte[bytes]).write();
    long start = ring();
    assertThat((double) time(TraceEvent.Kind.EMITTED, 0) - start)
        .isCloseTo(
            50 + READ + serialisation(64L * blocks) + 120 + 100, Percentage.withPercentage(1));
  }

  @Test
  void a_write_that_came_by_blueflame_needs_no_fetch() {
    a.rdmaWrite(b, 0, 0, 64).write();
    long start = world.fabric.now();
    SoftQueuePair queuePair = (SoftQueuePair) a.queuePair;
    queuePair.offerBlueFlame(a.queuePair.sendRingAddress(), 64);
    queuePair.ring(1);
    world.settle();
    assertThat(time(TraceEvent.Kind.WQE_FETCHED, 0) - start).isZero();
    assertThat((double) time(TraceEvent.Kind.EMITTED, 0) - start)
        .isCloseTo(120 + READ + serialisation(64) + 100, Percentage.withPercentage(1));
  }

  @Test
  void an_inline_write_by_blueflame_reads_nothing() {
    a.wqe(Opcode.RDMA_WRITE).remote(b.address(0), b.region.rkey()).inline(new byte[28]).write();
    long start = world.fabric.now();
    SoftQueuePair queuePair = (SoftQueuePair) a.queuePair;
    queuePair.offerBlueFlame(a.queuePair.sendRingAddress(), 64);
    queuePair.ring(1);
    world.settle();
    assertThat(time(TraceEvent.Kind.EMITTED, 0) - start).isEqualTo(120 + 100);
  }

  @Test
  void payload_on_the_chip_costs_no_read() {
    Memory chip = a.domain.allocateOnChip(8192);
    MemoryRegion region = a.domain.register(chip, Endpoint.ALL);
    a.wqe(Opcode.RDMA_WRITE)
        .remote(b.address(0), b.region.rkey())
        .data(8192, region.lkey(), chip.address())
        .write();
    long start = ring();
    assertThat((double) time(TraceEvent.Kind.EMITTED, 0) - start)
        .isCloseTo(50 + READ + serialisation(64) + 120 + 100, Percentage.withPercentage(1));
    region.close();
    chip.close();
  }

  @Test
  void writes_overlap_in_the_pipeline() {
    int writes = 32;
    for (int i = 0; i < writes; i++) {
      a.rdmaWrite(b, 0, 8L * i, 8).write();
    }
    long start = ring();
    long first = time(TraceEvent.Kind.EMITTED, 0) - start;
    long last = time(TraceEvent.Kind.EMITTED, writes - 1) - start;
    // One after another they would take 32 times as long; side by side only their TLPs queue up.
    assertThat(last - first).isBetween(0L, 300L);
    assertThat(time(TraceEvent.Kind.CQE, writes - 1)).isGreaterThan(start + last);
  }

  @Test
  void the_wire_takes_its_latency_and_its_bandwidth() {
    InProcessWire slow = new InProcessWire(5_000, 8);
    SoftHca one = new SoftHca(world.fabric, dev.doorbell.core.memory.Locus.nic(2, 0), "one");
    SoftHca two = new SoftHca(world.fabric, dev.doorbell.core.memory.Locus.nic(3, 0), "two");
    slow.join(one);
    slow.join(two);
    long[] arrived = new long[2];
    Route route = java.util.Objects.requireNonNull(slow.route(one, "two"));
    for (int i = 0; i < 2; i++) {
      Packet packet = one.packets().takeSpare();
      packet.opcode = BthOpcode.WRITE_MIDDLE;
      packet.bytes = 918;
      packet.destination = -1;
      packet.payload = one.scratch();
      route.transmit(packet);
    }
    long start = world.fabric.now();
    for (int i = 0; i < 2; i++) {
      int left = 1 - i;
      world.fabric.run(() -> one.packets().out() == left, 100_000);
      arrived[i] = world.fabric.now() - start;
    }
    // 918 bytes padded to 920 and 82 of framing at 1 byte a nanosecond.
    assertThat(arrived[0]).isCloseTo(5_000 + 1_002, within(2L));
    assertThat(arrived[1]).isCloseTo(5_000 + 2_004, within(2L));
    one.close();
    two.close();
  }
}
