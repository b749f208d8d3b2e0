package dev.doorbell.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.hca.AddressHandle;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.DcTarget;
import dev.doorbell.core.hca.DcTargetAttributes;
import dev.doorbell.core.hca.HcaException;
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
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests of every HCA with dynamic connections. A back end extends this class too. */
public abstract class HcaDynamicContractTest extends HcaContract {
  private static final int RECEIVES = 64;
  private static final int RECEIVE_BYTES = 8_192;
  private static final long KEY = 0x1122_3344_5566_7788L;
  private static final int MINIMAL_RNR_TIMER = 1;

  /** A timeout of 8 us, and one retry. */
  private static final ConnectionAttributes IMPATIENT =
      new ConnectionAttributes(1, 1, 7, 12, 16, 16, 0);

  /** A target at HCA 1, its shared receives, and the memory it lets others use. */
  private static final class Target {
    final Endpoint end;
    final SharedReceiveQueue receives;
    final DcTarget target;
    private int posted;

    Target(HcaWorld world, long key) {
      // The endpoint's own queue pair is not used.
      end = new Endpoint(world, 1, USUAL);
      receives =
          end.domain.createSharedReceiveQueue(
              new SharedReceiveQueueAttributes(RECEIVES, 1, MemoryKind.HOST, MemoryKind.HOST),
              world.memory(1));
      target =
          end.domain.createDcTarget(
              new DcTargetAttributes(
                  key,
                  receives,
                  end.receiveQueue,
                  Endpoint.ALL,
                  end.queuePair.address().mtu(),
                  MINIMAL_RNR_TIMER));
    }

    /** Posts receives, of {@value HcaDynamicContractTest#RECEIVE_BYTES} bytes each. */
    void post(int count) {
      for (int i = 0; i < count; i++) {
        int slot = posted & (RECEIVES - 1);
        long wqe =
            SharedReceiveSegment.wqeAddress(
                receives.ringAddress(), receives.attributes().stride(), slot);
        SharedReceiveSegment.write(wqe, posted + 1 & (RECEIVES - 1));
        DataSegment.write(
            wqe + SharedReceiveSegment.BYTES,
            RECEIVE_BYTES,
            end.region.lkey(),
            end.address(offset(slot)));
        posted++;
      }
      DoorbellRecord.putReceiveIndex(receives.recordAddress(), posted);
    }

    static long offset(int slot) {
      return (1L << 19) + (long) slot * RECEIVE_BYTES;
    }
  }

  private Endpoint initiator(ConnectionAttributes attributes) {
    Endpoint end = new Endpoint(world, 0, USUAL.withReceives(0).withTransport(Transport.DC, null));
    ready(end, attributes);
    return end;
  }

  private static void ready(Endpoint end, ConnectionAttributes attributes) {
    end.queuePair.toInit(Endpoint.ALL);
    end.queuePair.toRtr(attributes);
    end.queuePair.toRts(attributes);
  }

  private static EndpointWqe to(Endpoint from, Target target, int opcode) {
    return to(from, target, opcode, KEY);
  }

  private static EndpointWqe to(Endpoint from, Target target, int opcode, long key) {
    AddressHandle handle = from.domain.createAddressHandle(target.end.queuePair.address().hca(), 0);
    return from.wqe(opcode).toTarget(handle, target.target.number(), key);
  }

  private static EndpointWqe write(Endpoint from, Target to, long at, long remote, int bytes) {
    return to(from, to, Opcode.RDMA_WRITE)
        .remote(to.end.address(remote), to.end.region.rkey())
        .local(at, bytes);
  }

  @Test
  void one_initiator_writes_to_one_target_after_the_other() {
    Target[] targets = {new Target(world, KEY), new Target(world, KEY), new Target(world, KEY)};
    Endpoint from = initiator(ConnectionAttributes.DEFAULT);
    byte[] payload = noise(1, 64_000);
    from.buffer.putBytes(0, payload);
    Random random = new Random(2);
    for (int i = 0; i < 30; i++) {
      int bytes = 1 + random.nextInt(20_000);
      int at = random.nextInt(40_000);
      Target to = targets[i % 3];
      // Two messages of a connection follow each other without a wait.
      write(from, to, at, 0, bytes).write();
      write(from, to, at, 100_000, bytes).post();
      for (int j = 0; j < 2; j++) {
        assertThat(from.pollSend().isError()).as("message %d of round %d", j, i).isFalse();
      }
      world.settle();
      byte[] expected = java.util.Arrays.copyOfRange(payload, at, at + bytes);
      assertThat(to.end.buffer.getBytes(0, bytes)).isEqualTo(expected);
      assertThat(to.end.buffer.getBytes(100_000, bytes)).isEqualTo(expected);
    }
    for (Target target : targets) {
      assertThat(target.target.keyViolations()).isZero();
    }
  }

  @Test
  void requests_for_several_targets_may_be_posted_at_once() {
    Target[] targets = {new Target(world, KEY), new Target(world, KEY)};
    Endpoint from = initiator(ConnectionAttributes.DEFAULT);
    for (int i = 0; i < 12; i++) {
      from.buffer.putLong(8L * i, 100 + i);
      write(from, targets[i % 2], 8L * i, 8L * i, 8).write();
    }
    from.record();
    from.ring();
    for (int i = 0; i < 12; i++) {
      assertThat(from.pollSend().isError()).isFalse();
    }
    world.settle();
    for (int i = 0; i < 12; i++) {
      assertThat(targets[i % 2].end.buffer.getLong(8L * i)).isEqualTo(100 + i);
      assertThat(targets[1 - i % 2].end.buffer.getLong(8L * i)).isZero();
    }
  }

  @Test
  void reads_and_atomics_return_what_the_target_has() {
    Target target = new Target(world, KEY);
    Endpoint from = initiator(ConnectionAttributes.DEFAULT);
    byte[] payload = noise(3, 10_000);
    target.end.buffer.putBytes(0, payload);
    target.end.buffer.putLong(16_384, 40);
    to(from, target, Opcode.RDMA_READ)
        .remote(target.end.address(0), target.end.region.rkey())
        .local(0, 10_000)
        .write();
    to(from, target, Opcode.ATOMIC_FA)
        .remote(target.end.address(16_384), target.end.region.rkey())
        .atomic(2, 0)
        .local(16_384, 8)
        .write();
    to(from, target, Opcode.ATOMIC_MASKED_CS)
        .remote(target.end.address(16_384), target.end.region.rkey())
        .maskedSwap(8, 0xff00, 42, 0xff00, -1)
        .local(16_392, 8)
        .post();
    for (int i = 0; i < 3; i++) {
      assertThat(from.pollSend().isError()).as("request %d", i).isFalse();
    }
    world.settle();
    assertThat(from.buffer.getBytes(0, 10_000)).isEqualTo(payload);
    assertThat(from.buffer.getLong(16_384)).isEqualTo(40);
    assertThat(from.buffer.getLong(16_392)).isEqualTo(42);
    assertThat(target.end.buffer.getLong(16_384)).isEqualTo(0xff00 | 42);
  }

  @Test
  void initiators_share_a_targets_receives() {
    Target target = new Target(world, KEY);
    target.post(RECEIVES);
    Endpoint[] from = new Endpoint[5];
    for (int i = 0; i < from.length; i++) {
      from[i] = initiator(ConnectionAttributes.DEFAULT);
    }
    for (int i = 0; i < 25; i++) {
      Endpoint sender = from[i % from.length];
      sender.buffer.putLong(0, 1_000 + i);
      to(sender, target, Opcode.SEND_IMM).immediate(i).local(0, 5_000).post();
      assertThat(sender.pollSend().isError()).isFalse();
      Endpoint.Completion receive = target.end.pollReceive();
      assertThat(receive.opcode()).isEqualTo(Cqe.RESPONDER_SEND_IMM);
      assertThat(receive.qpn()).isEqualTo(target.target.number());
      assertThat(receive.bytes()).isEqualTo(5_000);
      assertThat(receive.immediate()).isEqualTo(i);
      world.settle();
      assertThat(target.end.buffer.getLong(Target.offset(receive.counter()))).isEqualTo(1_000 + i);
    }
    assertThatThrownBy(target.receives::close).isInstanceOf(HcaException.class);
  }

  @Test
  void a_target_without_receives_lets_initiators_wait() {
    Target target = new Target(world, KEY);
    Endpoint from = initiator(ConnectionAttributes.DEFAULT);
    from.buffer.putLong(0, 77);
    to(from, target, Opcode.SEND).local(0, 8).post();
    world.settle();
    assertThat(from.hasSendCompletion()).isFalse();
    target.post(1);
    assertThat(from.pollSend().isError()).isFalse();
    assertThat(target.end.pollReceive().bytes()).isEqualTo(8);
    world.settle();
    assertThat(target.end.buffer.getLong(Target.offset(0))).isEqualTo(77);
  }

  @Test
  void a_wrong_access_key_is_refused_and_leaves_the_target_to_others() {
    Target target = new Target(world, KEY);
    Endpoint from = initiator(ConnectionAttributes.DEFAULT);
    Endpoint other = initiator(ConnectionAttributes.DEFAULT);
    from.buffer.putLong(0, 5);
    to(from, target, Opcode.RDMA_WRITE, KEY + 1)
        .remote(target.end.address(64), target.end.region.rkey())
        .local(0, 8)
        .post();
    assertSyndrome(from.pollSend(), Syndrome.REMOTE_ACCESS);
    assertThat(target.target.keyViolations()).isPositive();
    world.settle();
    assertThat(target.end.buffer.getLong(64)).isZero();
    other.buffer.putLong(0, 6);
    write(other, target, 0, 64, 8).post();
    assertThat(other.pollSend().isError()).isFalse();
    world.settle();
    assertThat(target.end.buffer.getLong(64)).isEqualTo(6);
  }

  @Test
  void a_target_that_is_not_there_is_given_up_after_the_retries() {
    Target target = new Target(world, KEY);
    Endpoint from = initiator(IMPATIENT);
    target.target.close();
    write(from, target, 0, 64, 8).write();
    write(from, target, 0, 72, 8).post();
    assertSyndrome(from.pollSend(), Syndrome.TRANSPORT_RETRY_EXCEEDED);
    assertFlushed(from.pollSend());
  }

  @Test
  void an_error_ends_one_connection_and_its_initiator_connects_again_after_a_reset() {
    Target target = new Target(world, KEY);
    Endpoint from = initiator(ConnectionAttributes.DEFAULT);
    Endpoint other = initiator(ConnectionAttributes.DEFAULT);
    write(other, target, 0, 0, 8).post();
    assertThat(other.pollSend().isError()).isFalse();
    to(from, target, Opcode.RDMA_WRITE).remote(target.end.address(0), 0x7700).local(0, 8).post();
    assertSyndrome(from.pollSend(), Syndrome.REMOTE_ACCESS);
    assertThat(from.queuePair.state()).isEqualTo(QueuePairState.ERR);
    from.queuePair.toReset();
    from.restart();
    ready(from, ConnectionAttributes.DEFAULT);
    for (Endpoint end : new Endpoint[] {from, other}) {
      end.buffer.putLong(0, 1_000 + end.queuePair.number());
      write(end, target, 0, 64, 8).post();
      assertThat(end.pollSend().isError()).isFalse();
      world.settle();
      assertThat(target.end.buffer.getLong(64)).isEqualTo(1_000 + end.queuePair.number());
    }
  }

  @Test
  void a_target_that_drains_refuses_who_is_not_connected() {
    Target target = new Target(world, KEY);
    Endpoint from = initiator(ConnectionAttributes.DEFAULT);
    Endpoint late = initiator(ConnectionAttributes.DEFAULT);
    write(from, target, 0, 0, 8).post();
    assertThat(from.pollSend().isError()).isFalse();
    target.target.drain();
    write(from, target, 0, 0, 8).post();
    assertThat(from.pollSend().isError()).isFalse();
    write(late, target, 0, 0, 8).post();
    assertSyndrome(late.pollSend(), Syndrome.REMOTE_INVALID_REQUEST);
  }

  @Test
  void a_request_without_an_address_vector_fails_here() {
    Target target = new Target(world, KEY);
    Endpoint from = initiator(ConnectionAttributes.DEFAULT);
    from.rdmaWrite(target.end, 0, 64, 8).post();
    assertThat(from.pollSend().syndrome()).isEqualTo(Syndrome.LOCAL_QP_OPERATION);
  }
}
