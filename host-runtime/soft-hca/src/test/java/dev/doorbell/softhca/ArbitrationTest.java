package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.RoundTopology;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.core.trace.TraceEvent;
import dev.doorbell.softhca.device.HcaTiming;
import dev.doorbell.softhca.device.HcaTiming.HcaRates;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.packet.PortCounters;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import dev.doorbell.softhca.wire.InProcessWire;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How queue pairs of one HCA share it: 25 GB/s of wire, a transmit buffer of 64 KiB. */
class ArbitrationTest {
  private static final int BUFFER = 65_536;
  private static final double NANOS_OF_BUFFER = BUFFER / 25.0;
  private static final int BULK = 1 << 18;

  private final List<TraceEvent> events = new ArrayList<>();
  private final List<Endpoint> ends = new ArrayList<>();
  private SoftWorld world = open(BUFFER, SoftHcaOptions.DEFAULT, events);

  private static SoftWorld open(int bufferBytes, SoftHcaOptions options, List<TraceEvent> events) {
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
    HcaRates rates = new HcaRates(4, 32, 2, 0, 0, 1, bufferBytes, bufferBytes);
    return new SoftWorld(
        fabric,
        options.withTiming(new HcaTiming(400, 130, 90, 180, 350, rates)),
        new InProcessWire(300, 200));
  }

  @AfterEach
  void close() {
    ends.forEach(Endpoint::close);
    ends.clear();
    world.close();
  }

  private void reopenWithoutBound() {
    close();
    world = open(0, SoftHcaOptions.DEFAULT, events);
  }

  /** Connected endpoints at HCA 0 and HCA 1. */
  private Endpoint[] pair() {
    Endpoint[] pair = new Endpoint[2];
    for (int side = 0; side < 2; side++) {
      pair[side] = new Endpoint(world, side, Endpoint.Shape.usual());
      ends.add(pair[side]);
    }
    Endpoint.connect(pair[0], pair[1]);
    world.settle();
    return pair;
  }

  private static void ring(Endpoint end) {
    ((SoftQueuePair) end.queuePair).ring((int) end.posted() & SendQueue.INDEX_MASK);
  }

  /** By queue pair, when its last request completed. */
  private Map<Integer, Long> ended() {
    Map<Integer, Long> ended = new LinkedHashMap<>();
    for (TraceEvent event : events) {
      if (event.kind() == TraceEvent.Kind.CQE) {
        ended.put((int) event.subject(), event.nanos());
      }
    }
    return ended;
  }

  /**
   * Nanoseconds of an 8-byte WRITE, beside {@code bulk} queue pairs with 4 MiB of WRITEs or READs
   * each.
   */
  private long probe(int bulk, int opcode) {
    Endpoint[] probe = pair();
    List<Endpoint> senders = new ArrayList<>();
    for (int i = 0; i < bulk; i++) {
      Endpoint[] pair = pair();
      // HCA 0 sends the payload of either.
      Endpoint poster = pair[opcode == Opcode.RDMA_READ ? 1 : 0];
      Endpoint peer = pair[opcode == Opcode.RDMA_READ ? 0 : 1];
      for (int n = 0; n < 16; n++) {
        poster.wqe(opcode).remote(peer.address(0), peer.region.rkey()).local(0, BULK).write();
      }
      senders.add(poster);
    }
    events.clear();
    senders.forEach(ArbitrationTest::ring);
    long start = world.fabric.now() + 20_000;
    world.fabric.run(() -> world.fabric.now() >= start, 30_000);
    long began = world.fabric.now();
    probe[0].rdmaWrite(probe[1], 0, 0, 8).write();
    ring(probe[0]);
    world.settle();
    Map<Integer, Long> ended = ended();
    assertThat(ended).hasSize(bulk + 1);
    return ended.getOrDefault(probe[0].queuePair.number(), -1L) - began;
  }

  @Test
  void a_put_beside_bulk_on_other_queue_pairs_waits_for_two_buffers_and_not_for_the_backlog() {
    long alone = probe(0, Opcode.RDMA_WRITE);
    assertThat(probe(8, Opcode.RDMA_WRITE))
        .isBetween(alone, alone + Math.round(2.5 * NANOS_OF_BUFFER));
    // The bulk itself is 8 times 4 MiB: 1.3 ms of the wire.
    assertThat(world.fabric.now()).isGreaterThan(1_300_000);
  }

  @Test
  void queue_pairs_of_two_hcas_with_four_packets_each_all_end() {
    close();
    SoftHcaOptions.Engine engine = SoftHcaOptions.DEFAULT.engine();
    SoftHcaOptions few =
        SoftHcaOptions.DEFAULT.withEngine(
            new SoftHcaOptions.Engine(
                engine.mtu(), engine.pipelineDepth(), engine.prefetchBlocks(), 4));
    world = open(BUFFER, few, events);
    List<Endpoint> posters = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      Endpoint[] pair = pair();
      for (int side = 0; side < 2; side++) {
        Endpoint peer = pair[1 - side];
        for (int n = 0; n < 8; n++) {
          pair[side]
              .wqe(n % 2 == i % 2 ? Opcode.RDMA_READ : Opcode.RDMA_WRITE)
              .remote(peer.address(0), peer.region.rkey())
              .local(0, 3 * engine.mtu())
              .write();
        }
        posters.add(pair[side]);
      }
    }
    events.clear();
    posters.forEach(ArbitrationTest::ring);
    world.settle();
    assertThat(events.stream().filter(event -> event.kind() == TraceEvent.Kind.CQE))
        .hasSize(8 * posters.size());
    // Packets and bytes are conserved.
    for (int side = 0; side < 2; side++) {
      PortCounters sent = world.soft(side).counters();
      PortCounters received = world.soft(1 - side).counters();
      assertThat(received.get(Counter.PORT_RCV_PACKETS))
          .isEqualTo(sent.get(Counter.PORT_XMIT_PACKETS))
          // Half of the WRITEs' packets and half of the READs' answers go either way.
          .isGreaterThanOrEqualTo(24 * 8 * 3);
      assertThat(received.get(Counter.PORT_RCV_DATA))
          .isEqualTo(sent.get(Counter.PORT_XMIT_DATA))
          .isGreaterThan(24L * 8 * 3 * engine.mtu() / Integer.BYTES);
    }
    assertThat(world.soft(0).packets().out() + world.soft(1).packets().out()).isZero();
  }

  @Test
  void a_put_beside_answers_to_reads_waits_for_two_buffers_and_not_for_the_backlog() {
    long alone = probe(0, Opcode.RDMA_READ);
    assertThat(probe(8, Opcode.RDMA_READ))
        .isBetween(alone, alone + Math.round(2.5 * NANOS_OF_BUFFER));
  }

  @Test
  void without_a_bound_a_put_waits_behind_what_the_hca_has_taken_in() {
    reopenWithoutBound();
    assertThat(probe(8, Opcode.RDMA_WRITE)).isGreaterThan(Math.round(10 * NANOS_OF_BUFFER));
  }

  @Test
  void queue_pairs_with_equal_work_end_together_and_none_is_held_back() {
    List<Endpoint> posters = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Endpoint[] pair = pair();
      for (int n = 0; n < 4; n++) {
        pair[0].rdmaWrite(pair[1], 0, 0, BULK).write();
      }
      posters.add(pair[0]);
    }
    events.clear();
    long began = world.fabric.now();
    posters.forEach(ArbitrationTest::ring);
    world.settle();
    Map<Integer, Long> ended = ended();
    long first = ended.values().stream().mapToLong(Long::longValue).min().orElseThrow();
    long last = ended.values().stream().mapToLong(Long::longValue).max().orElseThrow();
    assertThat(ended).hasSize(8);
    // The first has filled the buffer before the others came: it is as many turns ahead to the end.
    assertThat(last - first).isLessThan(Math.round(8 * NANOS_OF_BUFFER));
    // 8 MiB in frames of 4178 bytes.
    assertThat((double) last - began).isBetween(335_000.0, 352_000.0);
  }

  @Test
  void a_queue_pair_alone_takes_the_same_time_with_a_bound() {
    long[] times = new long[2];
    for (int i = 0; i < 2; i++) {
      Endpoint[] pair = pair();
      for (int n = 0; n < 4; n++) {
        pair[0].rdmaWrite(pair[1], 0, 0, BULK).write();
      }
      events.clear();
      long began = world.fabric.now();
      ring(pair[0]);
      world.settle();
      times[i] = ended().getOrDefault(pair[0].queuePair.number(), -1L) - began;
      reopenWithoutBound();
    }
    assertThat(times[0]).isPositive();
    assertThat(times[1]).isEqualTo(times[0]);
  }

  @Test
  void small_writes_of_many_queue_pairs_share_the_engine_and_leave_no_gap_in_it() {
    List<Endpoint> posters = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      Endpoint[] pair = pair();
      for (int n = 0; n < 32; n++) {
        pair[0]
            .wqe(Opcode.RDMA_WRITE)
            .remote(pair[1].address(0), pair[1].region.rkey())
            .inline(new byte[8])
            .write();
      }
      posters.add(pair[0]);
    }
    events.clear();
    long began = world.fabric.now();
    posters.forEach(ArbitrationTest::ring);
    world.settle();
    long last = ended().values().stream().mapToLong(Long::longValue).max().orElseThrow();
    long first =
        events.stream()
            .filter(e -> e.kind() == TraceEvent.Kind.CQE)
            .mapToLong(TraceEvent::nanos)
            .min()
            .orElseThrow();
    // 1,024 WQEs of 4 ns.
    assertThat(last - first).isBetween(3_900L, 4_600L);
    assertThat(first).isGreaterThan(began);
  }
}
