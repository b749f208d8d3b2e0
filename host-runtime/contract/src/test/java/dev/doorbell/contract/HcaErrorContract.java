package dev.doorbell.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Requires that a faulty request leads to a syndrome, no harm, and a flushed queue. */
abstract class HcaErrorContract extends HcaObjectContract {
  /** A way to post a request that must fail. */
  enum Fault {
    REMOTE_KEY(Syndrome.REMOTE_ACCESS),
    REMOTE_BOUNDS(Syndrome.REMOTE_ACCESS),
    REMOTE_BELOW(Syndrome.REMOTE_ACCESS),
    REMOTE_RIGHT_WRITE(Syndrome.REMOTE_ACCESS),
    REMOTE_RIGHT_READ(Syndrome.REMOTE_ACCESS),
    REMOTE_RIGHT_ATOMIC(Syndrome.REMOTE_ACCESS),
    REMOTE_DOMAIN(Syndrome.REMOTE_ACCESS),
    QUEUE_PAIR_RIGHT(Syndrome.REMOTE_INVALID_REQUEST),
    ATOMIC_ALIGNMENT(Syndrome.REMOTE_INVALID_REQUEST),
    LOCAL_KEY(Syndrome.LOCAL_PROTECTION),
    LOCAL_BOUNDS(Syndrome.LOCAL_PROTECTION),
    LOCAL_RIGHT(Syndrome.LOCAL_PROTECTION),
    LOCAL_DOMAIN(Syndrome.LOCAL_PROTECTION),
    CLOSED_REGION(Syndrome.LOCAL_PROTECTION),
    OPCODE(Syndrome.LOCAL_QP_OPERATION),
    DS_ZERO(Syndrome.LOCAL_QP_OPERATION),
    DS_TOO_SMALL(Syndrome.LOCAL_QP_OPERATION),
    DS_PAST_DOORBELL(Syndrome.LOCAL_QP_OPERATION),
    INDEX(Syndrome.LOCAL_QP_OPERATION),
    NUMBER(Syndrome.LOCAL_QP_OPERATION),
    INLINE_READ(Syndrome.LOCAL_QP_OPERATION),
    ATOMIC_LENGTH(Syndrome.LOCAL_LENGTH),
    WAIT_UNKNOWN_QUEUE(Syndrome.LOCAL_QP_OPERATION);

    final int syndrome;

    Fault(int syndrome) {
      this.syndrome = syndrome;
    }
  }

  private EndpointWqe faulty(Fault fault, Endpoint a, Endpoint b) {
    long target = b.address(0);
    int rkey = b.region.rkey();
    Set<AccessRight> local = EnumSet.of(AccessRight.LOCAL_WRITE);
    return switch (fault) {
      case REMOTE_KEY -> a.wqe(Opcode.RDMA_WRITE).remote(target, rkey ^ 1).local(0, 64);
      case REMOTE_BOUNDS ->
          a.wqe(Opcode.RDMA_WRITE).remote(b.address(b.buffer.size() - 63), rkey).local(0, 64);
      case REMOTE_BELOW -> a.wqe(Opcode.RDMA_WRITE).remote(target - 1, rkey).local(0, 64);
      case REMOTE_RIGHT_WRITE -> {
        MemoryRegion region = b.domain.register(b.buffer, local);
        yield a.wqe(Opcode.RDMA_WRITE).remote(target, region.rkey()).local(0, 64);
      }
      case REMOTE_RIGHT_READ -> {
        MemoryRegion region = b.domain.register(b.buffer, local);
        yield a.wqe(Opcode.RDMA_READ).remote(target, region.rkey()).local(0, 64);
      }
      case REMOTE_RIGHT_ATOMIC -> {
        MemoryRegion region = b.domain.register(b.buffer, local);
        yield a.wqe(Opcode.ATOMIC_FA).remote(target, region.rkey()).atomic(1, 0).local(0, 8);
      }
      case REMOTE_DOMAIN -> {
        ProtectionDomain other = world.hca(1).allocateProtectionDomain();
        MemoryRegion region = other.register(b.buffer, Endpoint.ALL);
        yield a.wqe(Opcode.RDMA_WRITE).remote(target, region.rkey()).local(0, 64);
      }
      case QUEUE_PAIR_RIGHT -> a.wqe(Opcode.RDMA_READ).remote(target, rkey).local(0, 64);
      case ATOMIC_ALIGNMENT ->
          a.wqe(Opcode.ATOMIC_FA).remote(target + 4, rkey).atomic(1, 0).local(0, 8);
      case LOCAL_KEY ->
          a.wqe(Opcode.RDMA_WRITE).remote(target, rkey).data(64, 0x7700, a.address(0));
      case LOCAL_BOUNDS ->
          a.wqe(Opcode.RDMA_WRITE).remote(target, rkey).local(a.buffer.size() - 63, 64);
      case LOCAL_RIGHT -> {
        MemoryRegion region = a.domain.register(a.buffer, Set.of());
        yield a.wqe(Opcode.RDMA_READ).remote(target, rkey).data(64, region.lkey(), a.address(0));
      }
      case LOCAL_DOMAIN -> {
        ProtectionDomain other = world.hca(0).allocateProtectionDomain();
        MemoryRegion region = other.register(a.buffer, Endpoint.ALL);
        yield a.wqe(Opcode.RDMA_WRITE).remote(target, rkey).data(64, region.lkey(), a.address(0));
      }
      case CLOSED_REGION -> {
        MemoryRegion region = a.domain.register(a.buffer, Endpoint.ALL);
        int lkey = region.lkey();
        region.close();
        yield a.wqe(Opcode.RDMA_WRITE).remote(target, rkey).data(64, lkey, a.address(0));
      }
      case OPCODE -> a.wqe(0x2c).remote(target, rkey).local(0, 64);
      case DS_ZERO -> a.rdmaWrite(b, 0, 0, 64).ds(0);
      case DS_TOO_SMALL -> a.rdmaWrite(b, 0, 0, 64).ds(1);
      case DS_PAST_DOORBELL -> a.rdmaWrite(b, 0, 0, 64).ds(63);
      case INDEX -> a.rdmaWrite(b, 0, 0, 64).wrongIndex(1);
      case NUMBER -> a.rdmaWrite(b, 0, 0, 64).wrongNumber(1);
      case INLINE_READ -> a.wqe(Opcode.RDMA_READ).remote(target, rkey).inline(new byte[8]);
      case ATOMIC_LENGTH -> a.wqe(Opcode.ATOMIC_FA).remote(target, rkey).atomic(1, 0).local(0, 4);
      case WAIT_UNKNOWN_QUEUE -> a.wqe(Opcode.WAIT).waitFor(0, 0xfffff0);
    };
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void a_faulty_request_fails_with_its_syndrome_writes_nothing_and_flushes_the_rest(Fault fault) {
    Set<AccessRight> rights =
        fault == Fault.QUEUE_PAIR_RIGHT
            ? EnumSet.of(AccessRight.LOCAL_WRITE, AccessRight.REMOTE_WRITE)
            : Endpoint.ALL;
    Endpoint[] ends = pair(USUAL, USUAL.withRights(Endpoint.ALL, rights));
    Endpoint[] others = pair();
    byte[] before = noise(8, (int) ends[1].buffer.size());
    ends[1].buffer.putBytes(0, before);
    byte[] own = noise(9, (int) ends[0].buffer.size());
    ends[0].buffer.putBytes(0, own);
    ends[0].wqe(Opcode.NOP).write();
    long failing = faulty(fault, ends[0], ends[1]).flags(0).write();
    ends[0].rdmaWrite(ends[1], 0, 512, 64).write();
    ends[0].wqe(Opcode.NOP).post();
    assertSuccess(ends[0].pollSend(), Opcode.NOP, 0);
    Endpoint.Completion error = ends[0].pollSend();
    assertThat(error.opcode()).isEqualTo(Cqe.REQUESTER_ERROR);
    assertSyndrome(error, fault.syndrome);
    assertThat(error.counter()).isEqualTo((int) failing);
    for (int i = 0; i < 2; i++) {
      Endpoint.Completion flush = ends[0].pollSend();
      assertThat(flush.opcode()).isEqualTo(Cqe.REQUESTER_ERROR);
      assertThat(flush.syndrome()).as("flush %d", i).isEqualTo(Syndrome.FLUSHED);
      assertThat(flush.counter()).isEqualTo((int) failing + 1 + i);
    }
    assertThat(ends[0].queuePair.state()).isEqualTo(QueuePairState.ERR);
    world.settle();
    assertThat(ends[0].hasSendCompletion()).isFalse();
    assertThat(ends[1].buffer.getBytes(0, before.length)).isEqualTo(before);
    assertThat(ends[0].buffer.getBytes(0, own.length)).isEqualTo(own);
    ends[0].wqe(Opcode.NOP).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.FLUSHED);
    others[0].rdmaWrite(others[1], 0, 0, 4096).post();
    assertSuccess(others[0].pollSend(), Opcode.RDMA_WRITE, 0);
  }

  @ParameterizedTest
  @CsvSource({
    "REMOTE_KEY, QP_ACCESS_ERROR",
    "REMOTE_BOUNDS, QP_ACCESS_ERROR",
    "ATOMIC_ALIGNMENT, QP_REQUEST_ERROR"
  })
  void the_responder_of_a_bad_request_is_in_error_and_says_so(Fault fault, AsyncEvent.Type type) {
    assumeHas(HcaWorld.Feature.RESPONDER_ERRORS);
    Endpoint[] ends = pair();
    ends[1].postReceive(0, 64);
    faulty(fault, ends[0], ends[1]).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(fault.syndrome);
    world.settle();
    assertThat(ends[1].queuePair.state()).isEqualTo(QueuePairState.ERR);
    assertEvent(1, new AsyncEvent(type, ends[1].queuePair.number()));
    assertEvent(1, null);
    Endpoint.Completion receive = ends[1].pollReceive();
    assertThat(receive.opcode()).isEqualTo(Cqe.RESPONDER_ERROR);
    assertThat(receive.syndrome()).isEqualTo(Syndrome.FLUSHED);
  }

  @Test
  void a_send_longer_than_the_receive_fails_on_both_sides() {
    Endpoint[] ends = pair();
    ends[1].postReceive(0, 10);
    ends[0].wqe(Opcode.SEND).local(0, 11).post();
    assertSyndrome(ends[0].pollSend(), Syndrome.REMOTE_INVALID_REQUEST);
    assertSyndrome(ends[1].pollReceive(), Syndrome.LOCAL_LENGTH);
  }

  @Test
  void a_receive_with_a_wrong_key_fails_on_both_sides() {
    Endpoint[] ends = pair();
    ends[1].postReceive(64, 0x4400, ends[1].address(0));
    ends[0].wqe(Opcode.SEND).local(0, 64).post();
    assertSyndrome(ends[0].pollSend(), Syndrome.REMOTE_OPERATION);
    assertSyndrome(ends[1].pollReceive(), Syndrome.LOCAL_PROTECTION);
  }

  @Test
  void a_receive_that_ends_with_the_invalid_key_takes_nothing() {
    Endpoint[] ends = pair();
    ends[1].postReceive(64, 0x100, ends[1].address(0));
    ends[0].wqe(Opcode.SEND).local(0, 8).post();
    assertSyndrome(ends[0].pollSend(), Syndrome.REMOTE_INVALID_REQUEST);
    assertSyndrome(ends[1].pollReceive(), Syndrome.LOCAL_LENGTH);
  }

  @Test
  void an_error_in_the_middle_lets_what_is_before_it_complete_first() {
    Endpoint[] ends = pair();
    byte[] payload = noise(6, 50_000);
    ends[0].buffer.putBytes(0, payload);
    ends[0].rdmaWrite(ends[1], 0, 0, 50_000).write();
    ends[0]
        .wqe(Opcode.RDMA_READ)
        .remote(ends[1].address(0), ends[1].region.rkey())
        .local(100_000, 50_000)
        .write();
    faulty(Fault.LOCAL_KEY, ends[0], ends[1]).post();
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_WRITE, 0);
    assertSuccess(ends[0].pollSend(), Opcode.RDMA_READ, 1);
    assertSyndrome(ends[0].pollSend(), Syndrome.LOCAL_PROTECTION);
    world.settle();
    assertThat(ends[0].buffer.getBytes(100_000, 50_000)).isEqualTo(payload);
  }
}
