package dev.doorbell.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.hca.AddressHandle;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SharedReceiveSegment;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.generated.DataSegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of every HCA beyond WRITEs and READs on a reliable connection: other transports, shared
 * receives, completion events, peers that are silent. A back end extends this class too.
 */
public abstract class HcaTransportContractTest extends HcaEventContract {
  private static final int GLOBAL_ROUTE = 40;
  private static final int QUEUE_KEY = 0x1234_5678;

  /** A timeout of 8 us, and one retry. */
  private static final ConnectionAttributes IMPATIENT =
      new ConnectionAttributes(1, 1, 7, 12, 16, 16, 0);

  private Endpoint[] pair(Endpoint.Shape shape, ConnectionAttributes attributes) {
    return pair(shape, shape, attributes);
  }

  // Reliable connections.

  @Test
  void a_silent_peer_ends_the_request_with_the_retry_syndrome() {
    Endpoint[] ends = pair(USUAL, IMPATIENT);
    ends[1].queuePair.toReset();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).write();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertSyndrome(ends[0].pollSend(), Syndrome.TRANSPORT_RETRY_EXCEEDED);
    assertFlushed(ends[0].pollSend());
    assertThat(ends[0].queuePair.state()).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void a_connection_that_broke_works_again_after_reset_on_both_sides() {
    Endpoint[] ends = pair(USUAL, IMPATIENT);
    ends[1].queuePair.toReset();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(ends[0].pollSend().isError()).isTrue();
    for (Endpoint end : ends) {
      end.queuePair.toReset();
      end.restart();
    }
    Endpoint.connect(ends[0], ends[1]);
    ends[0].buffer.putLong(0, 17);
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    world.settle();
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(17);
  }

  @ParameterizedTest
  @ValueSource(ints = {0x8001, 0x7fff})
  void peers_of_other_partitions_do_not_hear_each_other(int key) {
    assumeHas(HcaWorld.Feature.PARTITIONS);
    Endpoint a = new Endpoint(world, 0, USUAL);
    Endpoint b = new Endpoint(world, 1, USUAL);
    // Two limited members of one partition, or a full member of another.
    int other = key == 0x7fff ? 0x7fff : 0xffff;
    a.queuePair.connect(b.queuePair.address(), Endpoint.ALL, IMPATIENT.withPartitionKey(key));
    b.queuePair.connect(a.queuePair.address(), Endpoint.ALL, IMPATIENT.withPartitionKey(other));
    a.buffer.putLong(0, 5);
    a.rdmaWrite(b, 0, 64, 8).post();
    assertSyndrome(a.pollSend(), Syndrome.TRANSPORT_RETRY_EXCEEDED);
    world.settle();
    assertThat(b.buffer.getLong(64)).isZero();
  }

  @Test
  void the_partition_does_not_change_between_rtr_and_rts() {
    Endpoint a = new Endpoint(world, 0, USUAL);
    Endpoint b = new Endpoint(world, 1, USUAL);
    a.queuePair.toInit(Endpoint.ALL);
    a.queuePair.toRtr(b.queuePair.address(), ConnectionAttributes.DEFAULT);
    assertThatThrownBy(
            () -> a.queuePair.toRts(ConnectionAttributes.DEFAULT.withPartitionKey(0x8001)))
        .isInstanceOf(HcaException.class);
    assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RTR);
    a.queuePair.toRts(ConnectionAttributes.DEFAULT);
    assertThat(a.queuePair.state()).isEqualTo(QueuePairState.RTS);
  }

  /** In any order, over the ends of packets, and to the last byte. */
  @ParameterizedTest
  @ValueSource(ints = {Opcode.RDMA_WRITE, Opcode.SEND})
  void a_wqe_may_hold_inline_and_data_segments_together(int opcode) {
    assumeHas(HcaWorld.Feature.MIXED_SEGMENTS);
    Endpoint[] ends = pair(USUAL, ConnectionAttributes.DEFAULT);
    byte[] expected = new byte[3 + 700 + 21 + 0 + 12 + 5];
    new Random(opcode).nextBytes(expected);
    ends[0].buffer.putBytes(100, Arrays.copyOfRange(expected, 3, 703));
    ends[0].buffer.putBytes(2000, Arrays.copyOfRange(expected, 736, 741));
    EndpointWqe wqe = ends[0].wqe(opcode);
    if (opcode == Opcode.SEND) {
      ends[1].postReceive(512, 1024);
    } else {
      wqe.remote(ends[1].address(512), ends[1].region.rkey());
    }
    wqe.inline(Arrays.copyOfRange(expected, 0, 3))
        .local(100, 700)
        .inline(Arrays.copyOfRange(expected, 703, 724))
        .inline(new byte[0])
        .inline(Arrays.copyOfRange(expected, 724, 736))
        .local(2000, 5)
        .post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    world.settle();
    assertThat(ends[1].buffer.getBytes(512, expected.length)).isEqualTo(expected);
    assertThat(ends[1].buffer.getBytes(512 + expected.length, 8)).isEqualTo(new byte[8]);
  }

  @Test
  void a_send_with_invalidate_ends_the_peers_registration() {
    assumeHas(HcaWorld.Feature.INVALIDATION);
    Endpoint[] ends = pair(USUAL, ConnectionAttributes.DEFAULT);
    MemoryRegion window = ends[1].domain.register(ends[1].buffer, Endpoint.ALL);
    ends[1].postReceive(0, 64);
    ends[0].wqe(Opcode.RDMA_WRITE).remote(ends[1].address(512), window.rkey()).local(0, 8).write();
    ends[0].wqe(Opcode.SEND_INVAL).immediate(window.rkey()).local(0, 16).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[0].pollSend().isError()).isFalse();
    Endpoint.Completion receive = ends[1].pollReceive();
    assertThat(receive.opcode()).isEqualTo(Cqe.RESPONDER_SEND_INVAL);
    assertThat(receive.immediate()).isEqualTo(window.rkey());
    ends[0].wqe(Opcode.RDMA_WRITE).remote(ends[1].address(512), window.rkey()).local(0, 8).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.REMOTE_ACCESS);
  }

  // Unreliable connections.

  @Test
  void an_unreliable_connection_carries_writes_and_sends() {
    assumeHas(HcaWorld.Feature.UNRELIABLE_TRANSPORTS);
    Endpoint[] ends = pair(USUAL.withTransport(Transport.UC, null), ConnectionAttributes.DEFAULT);
    byte[] payload = noise(20_000, 20_000);
    ends[0].buffer.putBytes(0, payload);
    ends[1].postReceive(400_000, 20_000);
    ends[1].postReceive(500_000, 0);
    ends[0].rdmaWrite(ends[1], 0, 100_000, 20_000).write();
    ends[0].wqe(Opcode.SEND).local(0, 20_000).write();
    ends[0]
        .wqe(Opcode.RDMA_WRITE_IMM)
        .immediate(7)
        .remote(ends[1].address(200_000), ends[1].region.rkey())
        .local(0, 20_000)
        .post();
    for (int i = 0; i < 3; i++) {
      assertThat(ends[0].pollSend().isError()).isFalse();
    }
    assertThat(ends[1].pollReceive().bytes()).isEqualTo(20_000);
    assertThat(ends[1].pollReceive().immediate()).isEqualTo(7);
    world.settle();
    for (long at : new long[] {100_000, 200_000, 400_000}) {
      assertThat(ends[1].buffer.getBytes(at, 20_000)).isEqualTo(payload);
    }
  }

  @Test
  void an_unreliable_send_without_a_receive_is_lost_and_the_next_one_is_not() {
    assumeHas(HcaWorld.Feature.UNRELIABLE_TRANSPORTS);
    Endpoint[] ends = pair(USUAL.withTransport(Transport.UC, null), ConnectionAttributes.DEFAULT);
    ends[0].buffer.putLong(0, 3);
    ends[0].wqe(Opcode.SEND).local(0, 9_000).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    world.settle();
    ends[1].postReceive(400_000, 8);
    ends[0].wqe(Opcode.SEND).local(0, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[1].pollReceive().bytes()).isEqualTo(8);
    world.settle();
    assertThat(ends[1].buffer.getLong(400_000)).isEqualTo(3);
    assertThat(ends[1].hasReceiveCompletion()).isFalse();
  }

  @Test
  void an_unreliable_write_with_a_wrong_key_changes_nothing_and_breaks_nothing() {
    assumeHas(HcaWorld.Feature.UNRELIABLE_TRANSPORTS);
    Endpoint[] ends = pair(USUAL.withTransport(Transport.UC, null), ConnectionAttributes.DEFAULT);
    ends[0].buffer.putLong(0, 9);
    ends[0].wqe(Opcode.RDMA_WRITE).remote(ends[1].address(0), 0x7700).local(0, 9_000).write();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[0].pollSend().isError()).isFalse();
    world.settle();
    assertThat(ends[1].buffer.getLong(0)).isZero();
    assertThat(ends[1].buffer.getLong(64)).isEqualTo(9);
  }

  @ParameterizedTest
  @EnumSource(names = {"UC", "UD"})
  void only_reliable_connections_read(Transport transport) {
    assumeHas(HcaWorld.Feature.UNRELIABLE_TRANSPORTS);
    Endpoint a = new Endpoint(world, 0, USUAL.withTransport(transport, null));
    Endpoint b = new Endpoint(world, 1, USUAL.withTransport(transport, null));
    if (transport == Transport.UD) {
      ready(a, QUEUE_KEY);
    } else {
      Endpoint.connect(a, b);
    }
    a.wqe(Opcode.RDMA_READ).remote(b.address(0), b.region.rkey()).local(0, 64).post();
    assertThat(a.pollSend().syndrome()).isEqualTo(Syndrome.LOCAL_QP_OPERATION);
  }

  // Datagrams.

  private static void ready(Endpoint end, int queueKey) {
    ConnectionAttributes attributes = ConnectionAttributes.DEFAULT.withQueueKey(queueKey);
    end.queuePair.toInit(Endpoint.ALL);
    end.queuePair.toRtr(attributes);
    end.queuePair.toRts(attributes);
  }

  private Endpoint[] datagrams() {
    assumeHas(HcaWorld.Feature.UNRELIABLE_TRANSPORTS);
    Endpoint a = new Endpoint(world, 0, USUAL.withTransport(Transport.UD, null));
    Endpoint b = new Endpoint(world, 1, USUAL.withTransport(Transport.UD, null));
    ready(a, QUEUE_KEY);
    ready(b, QUEUE_KEY);
    return new Endpoint[] {a, b};
  }

  private static AddressHandle handle(Endpoint from, Endpoint to) {
    return from.domain.createAddressHandle(to.queuePair.address().hca(), 0x20);
  }

  @Test
  void a_datagram_arrives_behind_its_global_route_and_says_who_sent_it() {
    Endpoint[] ends = datagrams();
    byte[] payload = noise(1_000, 1_000);
    ends[0].buffer.putBytes(0, payload);
    ends[1].postReceive(64, 2_000);
    ends[0]
        .wqe(Opcode.SEND_IMM)
        .immediate(0xabcd)
        .to(handle(ends[0], ends[1]), ends[1].queuePair.number(), QUEUE_KEY)
        .local(0, 1_000)
        .post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    Endpoint.Completion receive = ends[1].pollReceive();
    assertThat(receive.opcode()).isEqualTo(Cqe.RESPONDER_SEND_IMM);
    assertThat(receive.bytes()).isEqualTo(GLOBAL_ROUTE + 1_000);
    assertThat(receive.immediate()).isEqualTo(0xabcd);
    long entry = ends[1].receiveQueue.ringAddress();
    assertThat(Cqe.remoteQpn(entry)).isEqualTo(ends[0].queuePair.number());
    assertThat(Cqe.hasGlobalRoute(entry)).isTrue();
    world.settle();
    assertThat(ends[1].buffer.getBytes(64 + GLOBAL_ROUTE, 1_000)).isEqualTo(payload);
    AddressHandle back = handle(ends[1], ends[0]);
    java.nio.ByteBuffer route = java.nio.ByteBuffer.wrap(ends[1].buffer.getBytes(64, GLOBAL_ROUTE));
    if (back.gidHigh() == 0 && back.gidLow() >>> Integer.SIZE == 0xffff) {
      // Between GIDs of IPv4 addresses the last 20 bytes are the packet's IPv4 header.
      assertThat(route.get(20) >>> 4).isEqualTo(4);
      assertThat(route.getInt(32)).isEqualTo((int) back.gidLow());
      assertThat(Cqe.packetType(entry)).isEqualTo(2);
    } else {
      assertThat(route.get(0) >>> 4).isEqualTo(6);
      assertThat(Cqe.packetType(entry)).isEqualTo(1);
      assertThat(route.getLong(8)).isEqualTo(back.gidHigh());
      assertThat(route.getLong(16)).isEqualTo(back.gidLow());
    }
  }

  @Test
  void datagrams_with_a_wrong_key_or_without_a_receive_are_lost_without_a_word() {
    Endpoint[] ends = datagrams();
    AddressHandle handle = handle(ends[0], ends[1]);
    int number = ends[1].queuePair.number();
    ends[0].wqe(Opcode.SEND).to(handle, number, QUEUE_KEY).local(0, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    world.settle();
    ends[1].postReceive(64, 200);
    ends[0].wqe(Opcode.SEND).to(handle, number, QUEUE_KEY + 1).local(0, 8).write();
    ends[0].wqe(Opcode.SEND).to(handle, number + 1, QUEUE_KEY).local(0, 8).write();
    ends[0].wqe(Opcode.SEND).to(handle, number, QUEUE_KEY).local(0, 16).post();
    for (int i = 0; i < 3; i++) {
      assertThat(ends[0].pollSend().isError()).isFalse();
    }
    assertThat(ends[1].pollReceive().bytes()).isEqualTo(GLOBAL_ROUTE + 16);
    world.settle();
    assertThat(ends[1].hasReceiveCompletion()).isFalse();
  }

  @Test
  void a_datagram_with_the_highest_key_bit_brings_the_senders_own_key() {
    Endpoint[] ends = datagrams();
    ends[1].postReceive(64, 200);
    ends[0]
        .wqe(Opcode.SEND)
        .to(handle(ends[0], ends[1]), ends[1].queuePair.number(), 0x8000_0000)
        .local(0, 8)
        .post();
    assertThat(ends[1].pollReceive().bytes()).isEqualTo(GLOBAL_ROUTE + 8);
  }

  @Test
  void a_datagram_longer_than_the_path_mtu_fails_here() {
    Endpoint[] ends = datagrams();
    int mtu = ends[0].queuePair.address().mtu();
    ends[0]
        .wqe(Opcode.SEND)
        .to(handle(ends[0], ends[1]), ends[1].queuePair.number(), QUEUE_KEY)
        .local(0, mtu + 1)
        .post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.LOCAL_LENGTH);
  }

  @Test
  void datagrams_have_no_peer_and_connections_have_one() {
    assumeHas(HcaWorld.Feature.UNRELIABLE_TRANSPORTS);
    Endpoint a = new Endpoint(world, 0, USUAL.withTransport(Transport.UD, null));
    Endpoint b = new Endpoint(world, 1, USUAL);
    a.queuePair.toInit(Endpoint.ALL);
    b.queuePair.toInit(Endpoint.ALL);
    assertThatThrownBy(() -> a.queuePair.toRtr(b.queuePair.address(), ConnectionAttributes.DEFAULT))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("toRtr(attributes)");
    assertThatThrownBy(() -> b.queuePair.toRtr(ConnectionAttributes.DEFAULT))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("toRtr(peer, attributes)");
    assertThatThrownBy(() -> a.domain.createAddressHandle("nobody", 0))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("nobody");
  }

  // Shared receive queues.

  /** Posts receives of one segment to a shared queue, slot after slot. */
  private static final class Shared {
    final SharedReceiveQueue queue;
    private final Endpoint owner;
    private int posted;

    Shared(SharedReceiveQueue queue, Endpoint owner) {
      this.queue = queue;
      this.owner = owner;
    }

    void post(long offset, int bytes) {
      SharedReceiveQueueAttributes attributes = queue.attributes();
      int slot = posted & (attributes.entries() - 1);
      long wqe = SharedReceiveSegment.wqeAddress(queue.ringAddress(), attributes.stride(), slot);
      SharedReceiveSegment.write(wqe, posted + 1 & (attributes.entries() - 1));
      DataSegment.write(
          wqe + SharedReceiveSegment.BYTES, bytes, owner.region.lkey(), owner.address(offset));
      posted++;
      DoorbellRecord.putReceiveIndex(queue.recordAddress(), posted);
    }
  }

  @Test
  void queue_pairs_take_from_a_shared_queue_in_the_order_of_their_messages() {
    assumeHas(HcaWorld.Feature.SHARED_RECEIVES);
    ProtectionDomain domain = world.hca(1).allocateProtectionDomain();
    SharedReceiveQueue queue =
        domain.createSharedReceiveQueue(
            new SharedReceiveQueueAttributes(8, 1, MemoryKind.HOST, MemoryKind.HOST),
            world.memory(1));
    Endpoint[] senders = new Endpoint[3];
    Endpoint[] receivers = new Endpoint[3];
    for (int i = 0; i < 3; i++) {
      senders[i] = new Endpoint(world, 0, USUAL);
      receivers[i] = new Endpoint(world, 1, USUAL.withTransport(Transport.RC, queue), domain);
      Endpoint.connect(senders[i], receivers[i]);
    }
    Shared shared = new Shared(queue, receivers[0]);
    for (int i = 0; i < 8; i++) {
      shared.post(1_000L * i, 1_000);
    }
    for (int i = 0; i < 24; i++) {
      Endpoint from = senders[i % 3];
      from.buffer.putLong(0, i);
      from.wqe(Opcode.SEND).local(0, 8).post();
      assertThat(from.pollSend().isError()).isFalse();
      Endpoint.Completion receive = receivers[i % 3].pollReceive();
      assertThat(receive.counter()).as("message %d", i).isEqualTo(i % 8);
      assertThat(receive.qpn()).isEqualTo(receivers[i % 3].queuePair.number());
      world.settle();
      assertThat(receivers[0].buffer.getLong(1_000L * (i % 8))).isEqualTo(i);
      shared.post(1_000L * (i % 8), 1_000);
    }
    assertThatThrownBy(queue::close)
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("3 queue pair(s)");
  }

  @Test
  void a_shared_queue_that_runs_low_says_so_once() {
    assumeHas(HcaWorld.Feature.SHARED_RECEIVES);
    assumeHas(HcaWorld.Feature.ASYNC_EVENTS);
    ProtectionDomain domain = world.hca(1).allocateProtectionDomain();
    SharedReceiveQueue queue =
        domain.createSharedReceiveQueue(
            new SharedReceiveQueueAttributes(8, 3, MemoryKind.DEVICE, MemoryKind.HOST),
            world.memory(1));
    Endpoint sender = new Endpoint(world, 0, USUAL);
    Endpoint receiver = new Endpoint(world, 1, USUAL.withTransport(Transport.RC, queue), domain);
    Endpoint.connect(sender, receiver);
    int stride = queue.attributes().stride();
    for (int i = 0; i < 6; i++) {
      long wqe = SharedReceiveSegment.wqeAddress(queue.ringAddress(), stride, i);
      SharedReceiveSegment.write(wqe, i + 1);
      DataSegment.write(wqe + 16, 100, receiver.region.lkey(), receiver.address(0));
      DataSegment.write(wqe + 32, 0, DataSegment.INVALID_LKEY, 0);
    }
    DoorbellRecord.putReceiveIndex(queue.recordAddress(), 6);
    queue.armLimit(4);
    for (int i = 0; i < 5; i++) {
      sender.wqe(Opcode.SEND).local(0, 8).post();
      assertThat(sender.pollSend().isError()).isFalse();
      world.settle();
      AsyncEvent event = world.hca(1).pollAsyncEvent();
      if (i == 2) {
        assertThat(event)
            .isEqualTo(new AsyncEvent(AsyncEvent.Type.SRQ_LIMIT_REACHED, queue.number()));
      } else {
        assertThat(event).as("after message %d", i).isNull();
      }
    }
  }

  @Test
  void an_error_leaves_a_shared_queue_to_the_others_and_says_that_it_was_the_last() {
    assumeHas(HcaWorld.Feature.SHARED_RECEIVES);
    ProtectionDomain domain = world.hca(1).allocateProtectionDomain();
    SharedReceiveQueue queue =
        domain.createSharedReceiveQueue(
            new SharedReceiveQueueAttributes(4, 1, MemoryKind.HOST, MemoryKind.HOST),
            world.memory(1));
    Endpoint[] senders = {new Endpoint(world, 0, USUAL), new Endpoint(world, 0, USUAL)};
    Endpoint[] receivers = new Endpoint[2];
    for (int i = 0; i < 2; i++) {
      receivers[i] = new Endpoint(world, 1, USUAL.withTransport(Transport.RC, queue), domain);
      Endpoint.connect(senders[i], receivers[i]);
    }
    new Shared(queue, receivers[0]).post(0, 1_000);
    receivers[0].queuePair.toError();
    world.settle();
    assertEvent(
        1, new AsyncEvent(AsyncEvent.Type.LAST_WQE_REACHED, receivers[0].queuePair.number()));
    assertThat(receivers[0].hasReceiveCompletion()).isFalse();
    senders[1].wqe(Opcode.SEND).local(0, 8).post();
    assertThat(senders[1].pollSend().isError()).isFalse();
    assertThat(receivers[1].pollReceive().bytes()).isEqualTo(8);
  }
}
