package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.EndpointWqe;
import dev.doorbell.contract.RandomTraffic;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that need no packets end as those do that need them. */
class DirectWritesTest {
  private @Nullable SoftWorld world;

  @AfterEach
  void close() {
    if (world != null) {
      world.close();
    }
  }

  private SwitchingWire open(BooleanSupplier immediate) {
    SwitchingWire wire = new SwitchingWire(immediate);
    world =
        new SoftWorld(
            new DirectFabric(AddressSpace.reserve(1L << 28), 0),
            SoftHcaOptions.DEFAULT,
            (hca, side) -> wire.join(hca));
    return wire;
  }

  private Endpoint[] pair(Endpoint.Shape shape) {
    SoftWorld in = Objects.requireNonNull(world);
    Endpoint a = new Endpoint(in, 0, shape);
    Endpoint b = new Endpoint(in, 1, shape);
    Endpoint.connect(a, b);
    return new Endpoint[] {a, b};
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 13, 4096, 4097, 100_000})
  void a_write_needs_no_packet_where_it_reaches_the_peer_at_once(int bytes) {
    SwitchingWire wire = open(() -> true);
    Endpoint[] ends = pair(Endpoint.Shape.usual());
    byte[] sent = new byte[bytes];
    new Random(bytes).nextBytes(sent);
    ends[0].buffer.putBytes(16, sent);
    ends[0].rdmaWrite(ends[1], 16, 200, bytes).post();
    Endpoint.Completion completion = ends[0].pollSend();
    assertThat(completion.opcode()).isEqualTo(Cqe.REQUESTER);
    assertThat(completion.wqeOpcode()).isEqualTo(Opcode.RDMA_WRITE);
    assertThat(ends[1].buffer.getBytes(200, bytes)).isEqualTo(sent);
    assertThat(wire.packets).isZero();
  }

  @Test
  void a_short_inline_write_needs_no_packet_either() {
    SwitchingWire wire = open(() -> true);
    Endpoint[] ends = pair(Endpoint.Shape.usual());
    byte[] sent = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    ends[0]
        .wqe(Opcode.RDMA_WRITE)
        .flags(ControlSegment.CQ_UPDATE)
        .remote(ends[1].address(64), ends[1].region.rkey())
        .inline(sent)
        .post();
    assertThat(ends[0].pollSend().opcode()).isEqualTo(Cqe.REQUESTER);
    assertThat(ends[1].buffer.getBytes(64, 12)).isEqualTo(sent);
    assertThat(wire.packets).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4096, 100_000})
  void a_write_with_immediate_data_needs_no_packet_where_a_receive_waits(int bytes) {
    SwitchingWire wire = open(() -> true);
    Endpoint[] ends = pair(Endpoint.Shape.usual());
    byte[] sent = new byte[bytes];
    new Random(bytes).nextBytes(sent);
    ends[0].buffer.putBytes(16, sent);
    ends[1].postReceive(0, 0);
    ends[0]
        .wqe(Opcode.RDMA_WRITE_IMM)
        .flags(ControlSegment.CQ_UPDATE)
        .remote(ends[1].address(200), ends[1].region.rkey())
        .local(16, bytes)
        .immediate(0xcafe)
        .post();
    assertThat(ends[0].pollSend().wqeOpcode()).isEqualTo(Opcode.RDMA_WRITE_IMM);
    Endpoint.Completion received = ends[1].pollReceive();
    assertThat(received.opcode()).isEqualTo(Cqe.RESPONDER_WRITE_IMM);
    assertThat(received.bytes()).isEqualTo(bytes);
    assertThat(received.immediate()).isEqualTo(0xcafe);
    assertThat(ends[1].buffer.getBytes(200, bytes)).isEqualTo(sent);
    assertThat(wire.packets).isZero();
  }

  @Test
  void requests_of_several_pieces_need_no_packet() {
    SwitchingWire wire = open(() -> true);
    Endpoint[] ends = pair(Endpoint.Shape.usual());
    byte[] sent = new byte[50_000];
    new Random(4).nextBytes(sent);
    ends[0].buffer.putBytes(0, sent);
    ends[0]
        .wqe(Opcode.RDMA_WRITE)
        .flags(ControlSegment.CQ_UPDATE)
        .remote(ends[1].address(100_000), ends[1].region.rkey())
        .local(0, 10_000)
        .inline(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17})
        .local(10_000, 40_000)
        .post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[1].buffer.getBytes(100_000, 10_000)).isEqualTo(Arrays.copyOf(sent, 10_000));
    assertThat(ends[1].buffer.getBytes(110_000, 17)).startsWith(1, 2, 3).endsWith(16, 17);
    ends[0]
        .wqe(Opcode.RDMA_READ)
        .flags(ControlSegment.CQ_UPDATE)
        .remote(ends[1].address(110_017), ends[1].region.rkey())
        .local(200_000, 39_999)
        .local(300_000, 1)
        .post();
    assertThat(ends[0].pollSend().wqeOpcode()).isEqualTo(Opcode.RDMA_READ);
    assertThat(ends[0].buffer.getBytes(200_000, 39_999))
        .isEqualTo(Arrays.copyOfRange(sent, 10_000, 49_999));
    assertThat(ends[0].buffer.getBytes(300_000, 1)).containsExactly(sent[49_999]);
    assertThat(wire.packets).isZero();
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void atomics_end_the_same_either_way(boolean immediate) {
    SwitchingWire wire = open(() -> immediate);
    Endpoint[] ends = pair(Endpoint.Shape.usual());
    long cell = ends[1].address(64);
    int key = ends[1].region.rkey();
    ends[1].buffer.putLong(64, 0x11111111_fffffffeL);
    ends[0].wqe(Opcode.ATOMIC_FA).remote(cell, key).atomic(3, 0).local(0, 8).write();
    ends[0].wqe(Opcode.ATOMIC_CS).remote(cell, key).atomic(7, 5).local(8, 8).write();
    ends[0].wqe(Opcode.ATOMIC_MASKED_FA).remote(cell, key).maskedAdd(4, 9, 0).local(16, 4).write();
    ends[0].rdmaWrite(ends[1], 24, 128, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[0].buffer.getLong(0)).isEqualTo(0x11111111_fffffffeL);
    assertThat(ends[0].buffer.getLong(8)).isEqualTo(0x11111112_00000001L);
    // Results of 4 bytes are big-endian.
    assertThat(ends[0].buffer.getBytes(16, 4)).containsExactly(0, 0, 0, 1);
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(0x11111112_0000000aL);
    assertThat(wire.packets == 0).isEqualTo(immediate);
  }

  @Test
  void a_write_with_immediate_data_waits_for_a_receive() {
    open(() -> true);
    Endpoint[] ends = pair(Endpoint.Shape.usual());
    ends[0].buffer.putLong(16, 77);
    ends[0]
        .wqe(Opcode.RDMA_WRITE_IMM)
        .flags(ControlSegment.CQ_UPDATE)
        .remote(ends[1].address(200), ends[1].region.rkey())
        .local(16, 8)
        .immediate(5)
        .post();
    int[] turns = {0};
    Objects.requireNonNull(world).runUntil(() -> ++turns[0] > 100);
    assertThat(ends[0].hasSendCompletion()).isFalse();
    ends[1].postReceive(0, 0);
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[1].pollReceive().immediate()).isEqualTo(5);
    assertThat(ends[1].buffer.getLong(200)).isEqualTo(77);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void either_way_goes_on_where_the_other_stopped(long seed) {
    Random random = new Random(seed);
    SwitchingWire wire = open(() -> random.nextInt(4) != 0);
    Endpoint[] ends = pair(Endpoint.Shape.usual().withSendBlocks(64));
    new RandomTraffic(Objects.requireNonNull(world), ends[0], ends[1], seed).run(120);
    assertThat(wire.packets).as("packets, seed %d", seed).isPositive();
    // The sequence numbers of both sides still agree: packets alone are understood.
    ends[0].wqe(Opcode.RDMA_WRITE).flags(ControlSegment.CQ_UPDATE).remote(0, 0).post();
    assertThat(ends[0].pollSend().opcode()).as("seed %d", seed).isEqualTo(Cqe.REQUESTER);
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void both_ends_may_write_at_once(boolean immediate) {
    open(() -> immediate);
    Endpoint[] ends = pair(Endpoint.Shape.usual());
    for (int i = 0; i < 16; i++) {
      ends[0].buffer.putLong(8L * i, i + 1);
      ends[1].buffer.putLong(8L * i, -i - 1);
      ends[0].rdmaWrite(ends[1], 8L * i, 1024 + 8L * i, 8).write();
      ends[1].rdmaWrite(ends[0], 8L * i, 1024 + 8L * i, 8).write();
    }
    for (Endpoint end : ends) {
      end.record();
      end.ring();
    }
    for (int i = 0; i < 16; i++) {
      assertThat(ends[0].pollSend().isError()).isFalse();
      assertThat(ends[1].pollSend().isError()).isFalse();
    }
    for (int i = 0; i < 16; i++) {
      assertThat(ends[1].buffer.getLong(1024 + 8L * i)).isEqualTo(i + 1);
      assertThat(ends[0].buffer.getLong(1024 + 8L * i)).isEqualTo(-i - 1);
    }
  }

  /** What a refused WRITE or READ behind two good WRITEs leaves, in words. */
  private String refused(boolean immediate, int opcode, String what) {
    open(() -> immediate);
    Endpoint[] ends = pair(Endpoint.Shape.usual());
    ends[0].rdmaWrite(ends[1], 0, 0, 8).write();
    ends[0].rdmaWrite(ends[1], 0, 8, 8).write();
    EndpointWqe wqe = ends[0].wqe(opcode).flags(ControlSegment.CQ_UPDATE);
    long remote = ends[1].address(16);
    int rkey = ends[1].region.rkey();
    long local = ends[0].address(0);
    int lkey = ends[0].region.lkey();
    long size = ends[0].buffer.size();
    switch (what) {
      case "rkey" -> wqe.remote(remote, rkey ^ 1).data(8, lkey, local);
      case "lkey" -> wqe.remote(remote, rkey).data(8, lkey ^ 1, local);
      case "source" -> wqe.remote(remote, rkey).data(8, lkey, local + size - 4);
      case "target" -> wqe.remote(ends[1].address(size - 4), rkey).data(8, lkey, local);
      case "index" -> wqe.remote(remote, rkey).data(8, lkey, local).wrongIndex(3);
      case "number" -> wqe.remote(remote, rkey).data(8, lkey, local).wrongNumber(1);
      default -> throw new IllegalArgumentException(what);
    }
    wqe.write();
    ends[0].rdmaWrite(ends[1], 0, 24, 8).write();
    ends[0].record();
    ends[0].ring();
    StringBuilder seen = new StringBuilder();
    for (int i = 0; i < 4; i++) {
      seen.append(ends[0].pollSend()).append('\n');
    }
    seen.append(ends[0].queuePair.state()).append(' ').append(ends[1].queuePair.state());
    SoftWorld done = Objects.requireNonNull(world);
    done.close();
    world = null;
    return seen.toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"rkey", "lkey", "source", "target", "index", "number"})
  void a_refusal_reads_the_same_either_way(String what) {
    for (int opcode : new int[] {Opcode.RDMA_WRITE, Opcode.RDMA_READ}) {
      assertThat(refused(true, opcode, what))
          .isEqualTo(refused(false, opcode, what))
          .contains(QueuePairState.ERR.toString());
    }
  }

  @Test
  void a_key_that_was_used_before_is_refused_once_its_region_is_closed() {
    SwitchingWire wire = open(() -> true);
    Endpoint[] ends = pair(Endpoint.Shape.usual());
    ends[0].rdmaWrite(ends[1], 0, 0, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(wire.packets).isZero();
    ends[1].buffer.putLong(8, 77);
    ends[1].region.close();
    ends[0].rdmaWrite(ends[1], 0, 8, 8).post();
    assertThat(ends[0].pollSend().isError()).isTrue();
    assertThat(ends[1].buffer.getLong(8)).isEqualTo(77);
  }

  @Test
  void one_entry_for_all_completions_shows_the_last() {
    SwitchingWire wire = open(() -> true);
    Endpoint[] ends =
        pair(
            Endpoint.Shape.usual()
                .withCompletions(CompletionQueueAttributes.collapsed(MemoryKind.DEVICE)));
    for (int i = 0; i < 5; i++) {
      ends[0].buffer.putLong(8L * i, 100 + i);
      ends[0].rdmaWrite(ends[1], 8L * i, 8L * i, 8).write();
    }
    ends[0].record();
    ends[0].ring();
    SoftWorld in = Objects.requireNonNull(world);
    long entry = ends[0].sendQueue.ringAddress();
    assertThat(in.runUntil(() -> Cqe.isOwnedBySoftware(entry, 0, 1) && Cqe.wqeCounter(entry) == 4))
        .isTrue();
    assertThat(Cqe.opcode(entry)).isEqualTo(Cqe.REQUESTER);
    assertThat(Cqe.byteCount(entry)).isEqualTo(8);
    assertThat(ends[1].buffer.getLong(32)).isEqualTo(104);
    assertThat(wire.packets).isZero();
  }

  @Test
  void a_peer_that_only_receives_may_stay_in_rtr() {
    SwitchingWire wire = open(() -> true);
    SoftWorld in = Objects.requireNonNull(world);
    Endpoint from = new Endpoint(in, 0, Endpoint.Shape.usual());
    Endpoint to = new Endpoint(in, 1, Endpoint.Shape.usual());
    from.queuePair.connect(to.queuePair.address(), Endpoint.ALL, ConnectionAttributes.DEFAULT);
    to.queuePair.toInit(Endpoint.ALL);
    to.queuePair.toRtr(from.queuePair.address(), ConnectionAttributes.DEFAULT);
    from.buffer.putLong(0, 7);
    for (int i = 0; i < 2; i++) {
      from.rdmaWrite(to, 0, 8L * i, 8).post();
      assertThat(from.pollSend().isError()).isFalse();
      assertThat(to.buffer.getLong(8L * i)).isEqualTo(7);
    }
    assertThat(wire.packets).isZero();
    AsyncEvent event = Objects.requireNonNull(in.hca(1).pollAsyncEvent());
    assertThat(event.type()).isEqualTo(AsyncEvent.Type.COMMUNICATION_ESTABLISHED);
    assertThat(event.number()).isEqualTo(to.queuePair.number());
    assertThat(in.hca(1).pollAsyncEvent()).isNull();
  }

  @Test
  void a_ring_of_completions_that_is_polled_never_ends_it() {
    SwitchingWire wire = open(() -> true);
    Endpoint[] ends =
        pair(
            Endpoint.Shape.usual()
                .withCompletions(CompletionQueueAttributes.ring(4, MemoryKind.HOST)));
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 4; i++) {
        ends[0].rdmaWrite(ends[1], 0, 8, 8).post();
      }
      for (int i = 0; i < 4; i++) {
        assertThat(ends[0].pollSend().isError()).isFalse();
      }
    }
    assertThat(wire.packets).isZero();
  }

  @Test
  void long_writes_behind_a_long_one_need_no_packets() {
    SwitchingWire wire = open(() -> true);
    Endpoint[] ends = pair(Endpoint.Shape.usual());
    int bytes = 512 << 10;
    byte[] sent = new byte[bytes];
    new Random(1).nextBytes(sent);
    ends[0].buffer.putBytes(0, sent);
    for (int i = 0; i < 8; i++) {
      ends[0].rdmaWrite(ends[1], 0, i % 2 * (long) bytes, bytes).write();
    }
    ends[0].record();
    ends[0].ring();
    for (int i = 0; i < 8; i++) {
      assertThat(ends[0].pollSend().isError()).isFalse();
    }
    assertThat(ends[1].buffer.getBytes(bytes, bytes)).isEqualTo(sent);
    assertThat(wire.packets).isZero();
    // They count as the packets that they would have been.
    SoftWorld in = Objects.requireNonNull(world);
    assertThat(in.soft(0).counters().get(Counter.PORT_XMIT_PACKETS)).isEqualTo(8L * bytes / 4096);
    assertThat(in.soft(1).counters().get(Counter.PORT_RCV_DATA)).isGreaterThan(8L * bytes / 4);
    assertThat(in.soft(1).counters().get(Counter.PORT_XMIT_PACKETS)).isEqualTo(8);
  }

  @Test
  void while_the_cable_is_out_nothing_arrives() {
    open(() -> true);
    Endpoint[] ends = pair(Endpoint.Shape.usual());
    SoftWorld in = Objects.requireNonNull(world);
    ends[0].buffer.putLong(0, 5);
    in.soft(1).linkUp(false);
    ends[0].rdmaWrite(ends[1], 0, 0, 8).post();
    in.settle();
    assertThat(ends[1].buffer.getLong(0)).isZero();
    assertThat(ends[0].hasSendCompletion()).isFalse();
  }
}
