package dev.doorbell.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the states of queue pairs and the lifetimes of objects. */
abstract class HcaObjectContract extends HcaContract {
  @ParameterizedTest
  @CsvSource({
    "RESET, INIT RESET",
    "INIT, RTR ERR RESET",
    "RTR, RTS ERR RESET",
    "RTS, ERR RESET",
    "ERR, ERR RESET"
  })
  void only_legal_transitions_are_made(QueuePairState from, String legal) {
    Set<String> allowed = Set.of(legal.split(" "));
    for (QueuePairState to : QueuePairState.values()) {
      Endpoint a = new Endpoint(world, 0, USUAL);
      Endpoint b = new Endpoint(world, 1, USUAL);
      bring(a.queuePair, from, b.queuePair);
      Consumer<QueuePair> move = queuePair -> move(queuePair, to, b.queuePair);
      if (allowed.contains(to.name())) {
        move.accept(a.queuePair);
        assertThat(a.queuePair.state()).isEqualTo(to);
      } else {
        assertThatThrownBy(() -> move.accept(a.queuePair))
            .as("%s to %s", from, to)
            .isInstanceOf(HcaException.class)
            .hasMessageContaining(from.name())
            .hasMessageContaining(to.name());
        assertThat(a.queuePair.state()).isEqualTo(from);
      }
      a.close();
      b.close();
    }
  }

  private static void bring(QueuePair queuePair, QueuePairState state, QueuePair peer) {
    for (QueuePairState step : QueuePairState.values()) {
      if (step != QueuePairState.RESET && step.compareTo(state) <= 0) {
        move(queuePair, step, peer);
      }
    }
  }

  private static void move(QueuePair queuePair, QueuePairState to, QueuePair peer) {
    switch (to) {
      case RESET -> queuePair.toReset();
      case INIT -> queuePair.toInit(Endpoint.ALL);
      case RTR -> queuePair.toRtr(peer.address(), ConnectionAttributes.DEFAULT);
      case RTS -> queuePair.toRts(ConnectionAttributes.DEFAULT);
      case ERR -> queuePair.toError();
    }
  }

  @Test
  void to_error_flushes_what_waits_and_reset_begins_again() {
    Endpoint[] ends = pair();
    ends[0].wqe(Opcode.SEND).local(0, 8).post();
    world.settle();
    ends[0].queuePair.toError();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.FLUSHED);
    for (Endpoint end : ends) {
      end.queuePair.toReset();
      end.restart();
    }
    Endpoint.connect(ends[0], ends[1]);
    ends[0].buffer.putLong(0, 5);
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 0);
    world.settle();
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(5);
  }

  @Test
  void connecting_to_nobody_is_explained() {
    Endpoint a = new Endpoint(world, 0, USUAL);
    a.queuePair.toInit(Endpoint.ALL);
    assertThatThrownBy(
            () ->
                a.queuePair.toRtr(
                    new QueuePairAddress("nobody", 1, 0, 1024), ConnectionAttributes.DEFAULT))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("nobody");
    assertThat(a.queuePair.state()).isEqualTo(QueuePairState.INIT);
  }

  @ParameterizedTest
  @CsvSource({
    "DEVICE, DEVICE, DEVICE",
    "DEVICE, DEVICE, HOST",
    "DEVICE, HOST, DEVICE",
    "DEVICE, HOST, HOST",
    "HOST, DEVICE, DEVICE",
    "HOST, DEVICE, HOST",
    "HOST, HOST, DEVICE",
    "HOST, HOST, HOST"
  })
  void queues_work_wherever_they_are_placed(MemoryKind rings, MemoryKind record, MemoryKind cq) {
    assumeTrue(
        world.deviceMemoryIsAddressable(), "the test posts from the CPU; GPU memory is not mapped");
    Endpoint.Shape shape =
        USUAL
            .withPlaces(rings, record)
            .withCompletions(CompletionQueueAttributes.ring(64, cq))
            .withSendBlocks(16);
    Endpoint[] ends = pair(shape, shape);
    new RandomTraffic(world, ends[0], ends[1], 77).run(40);
  }

  @Test
  void on_chip_memory_serves_as_payload_and_runs_out() {
    long total = world.hca(0).attributes().onChipBytes();
    assumeTrue(total > 0, "no on-chip memory");
    Endpoint[] ends = pair();
    Memory chip = ends[0].domain.allocateOnChip(total / 2);
    assertThat(chip.kind()).isEqualTo(MemoryKind.NIC);
    MemoryRegion region = ends[0].domain.register(chip, Endpoint.ALL);
    byte[] payload = noise(4, 9_000);
    chip.putBytes(0, payload);
    ends[0]
        .wqe(Opcode.RDMA_WRITE)
        .remote(ends[1].address(0), ends[1].region.rkey())
        .data(9_000, region.lkey(), region.address())
        .post();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 0);
    world.settle();
    assertThat(ends[1].buffer.getBytes(0, 9_000)).isEqualTo(payload);
    Memory rest = ends[0].domain.allocateOnChip(total - total / 2);
    assertThatThrownBy(() -> ends[0].domain.allocateOnChip(1))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("0 of " + total);
    assertThatThrownBy(chip::close)
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("memory region");
    region.close();
    chip.close();
    rest.close();
    ends[0].domain.allocateOnChip(total).close();
  }

  @Test
  void what_is_stored_where_the_device_has_its_memory_is_sent() {
    assumeTrue(world.hca(0).attributes().onChipBytes() > 0, "no on-chip memory");
    Endpoint[] ends = pair();
    int bytes = 4096;
    Memory chip = ends[0].domain.allocateOnChip(bytes);
    MemoryRegion region = ends[0].domain.register(chip, Endpoint.ALL);
    byte[] payload = noise(5, bytes);
    // As a GPU that has mapped it would: not through the fabric.
    ByteBuffer words = ByteBuffer.wrap(payload).order(ByteOrder.nativeOrder());
    for (int at = 0; at < bytes; at += Long.BYTES) {
      RawMemory.putLongOpaque(chip.deviceAddress() + at, words.getLong(at));
    }
    ends[0]
        .wqe(Opcode.RDMA_WRITE)
        .remote(ends[1].address(0), ends[1].region.rkey())
        .data(bytes, region.lkey(), region.address())
        .post();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 0);
    world.settle();
    assertThat(ends[1].buffer.getBytes(0, bytes)).isEqualTo(payload);
    region.close();
    chip.close();
  }

  @Test
  void objects_close_only_after_those_that_need_them() {
    Endpoint a = new Endpoint(world, 0, USUAL);
    assertThatThrownBy(a.sendQueue::close)
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("queue pairs first");
    assertThatThrownBy(a.domain::close)
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("queue pair 0x%x".formatted(a.queuePair.number()));
    a.close();
    a.close();
  }

  @Test
  void impossible_objects_are_refused() {
    ProtectionDomain domain = world.hca(0).allocateProtectionDomain();
    Memory memory = world.memory(0).allocate(MemoryKind.HOST, 4096, "refused");
    assertThatThrownBy(() -> domain.register(memory, 4000, 97, Endpoint.ALL))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("4096");
    assertThatThrownBy(() -> domain.register(memory, EnumSet.of(AccessRight.REMOTE_WRITE)))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("LOCAL_WRITE");
    assertThatThrownBy(
            () ->
                domain.createCompletionQueue(
                    CompletionQueueAttributes.ring(3, MemoryKind.HOST), world.memory(0)))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("power of two");
    assertThatThrownBy(() -> new Endpoint(world, 0, USUAL.withSendBlocks(65_536)))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("power of two");
    memory.close();
  }
}
