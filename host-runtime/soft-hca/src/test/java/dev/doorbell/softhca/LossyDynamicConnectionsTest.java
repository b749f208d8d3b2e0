package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.hca.AddressHandle;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.DcTarget;
import dev.doorbell.core.hca.DcTargetAttributes;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Opcode;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dynamic connections over a wire that loses, doubles, reorders and delays packets. */
class LossyDynamicConnectionsTest {
  private static final int MTU = 256;
  private static final int TARGETS = 3;
  private static final int INITIATORS = 3;
  private static final long KEY = 0x5eed;
  private static final ConnectionAttributes PATIENT =
      new ConnectionAttributes(10, 7, 7, 1, 16, 16, 0);

  /**
   * Initiators add to counters at targets and write messages of several packets, to one target
   * after the other: an addition that is lost or carried out twice, or bytes of an old connection
   * that come late, would be seen.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void every_request_is_carried_out_once_and_in_order(long seed) {
    try (SteppedWorld world = SteppedWorld.withMtu(MTU)) {
      Endpoint[] ends = new Endpoint[TARGETS];
      DcTarget[] targets = new DcTarget[TARGETS];
      for (int i = 0; i < TARGETS; i++) {
        ends[i] = new Endpoint(world, 1, Endpoint.Shape.usual());
        SharedReceiveQueue receives =
            ends[i].domain.createSharedReceiveQueue(
                new SharedReceiveQueueAttributes(4, 1, MemoryKind.HOST, MemoryKind.HOST),
                world.memory(1));
        targets[i] =
            ends[i].domain.createDcTarget(
                new DcTargetAttributes(KEY, receives, ends[i].receiveQueue, Endpoint.ALL, MTU, 1));
      }
      Endpoint[] from = new Endpoint[INITIATORS];
      for (int i = 0; i < INITIATORS; i++) {
        from[i] =
            new Endpoint(
                world, 0, Endpoint.Shape.usual().withReceives(0).withTransport(Transport.DC, null));
        from[i].queuePair.toInit(Endpoint.ALL);
        from[i].queuePair.toRtr(PATIENT);
        from[i].queuePair.toRts(PATIENT);
      }
      AddressHandle handle = from[0].domain.createAddressHandle("soft1", 0);
      world.wire.plan(seed, 0.1, 400);
      Random random = new Random(seed);
      long[] sums = new long[TARGETS];
      long[][] last = new long[INITIATORS][TARGETS];
      int[] posted = new int[INITIATORS];
      for (int round = 0; round < 60; round++) {
        int i = random.nextInt(INITIATORS);
        int to = random.nextInt(TARGETS);
        long value = seed << 32 | round + 1;
        // A message of its own memory for every round: nothing changes under a retransmission.
        long at = 4_096L + round * 2_048L;
        for (int word = 0; word < 4 * MTU; word += 8) {
          from[i].buffer.putLong(at + word, value);
        }
        from[i]
            .wqe(Opcode.RDMA_WRITE)
            .toTarget(handle, targets[to].number(), KEY)
            .remote(ends[to].address(i * 2_048L), ends[to].region.rkey())
            .local(at, 4 * MTU)
            .write();
        from[i]
            .wqe(Opcode.ATOMIC_FA)
            .toTarget(handle, targets[to].number(), KEY)
            .remote(ends[to].address(1 << 16), ends[to].region.rkey())
            .atomic(round + 1, 0)
            .local(0, 8)
            .post();
        last[i][to] = value;
        sums[to] += round + 1;
        posted[i] += 2;
        if (posted[i] > 12) {
          drain(from[i], posted, i);
        }
      }
      for (int i = 0; i < INITIATORS; i++) {
        drain(from[i], posted, i);
      }
      world.settle();
      assertThat(world.wire.faults).as("seed %d", seed).isGreaterThan(30);
      for (int to = 0; to < TARGETS; to++) {
        assertThat(ends[to].buffer.getLong(1 << 16)).as("seed %d", seed).isEqualTo(sums[to]);
        for (int i = 0; i < INITIATORS; i++) {
          for (int word = 0; word < 4 * MTU; word += 8) {
            assertThat(ends[to].buffer.getLong(i * 2_048L + word))
                .as("seed %d, target %d, initiator %d, byte %d", seed, to, i, word)
                .isEqualTo(last[i][to]);
          }
        }
      }
    }
  }

  @Test
  void a_read_of_more_packets_than_the_hca_has_goes_on_as_they_come_back() {
    int bytes = 800_000;
    try (SteppedWorld world = SteppedWorld.withMtu(MTU)) {
      Endpoint at = new Endpoint(world, 1, Endpoint.Shape.usual());
      SharedReceiveQueue receives =
          at.domain.createSharedReceiveQueue(
              new SharedReceiveQueueAttributes(4, 1, MemoryKind.HOST, MemoryKind.HOST),
              world.memory(1));
      DcTarget target =
          at.domain.createDcTarget(
              new DcTargetAttributes(KEY, receives, at.receiveQueue, Endpoint.ALL, MTU, 1));
      Endpoint from =
          new Endpoint(
              world, 0, Endpoint.Shape.usual().withReceives(0).withTransport(Transport.DC, null));
      from.queuePair.toInit(Endpoint.ALL);
      from.queuePair.toRtr(PATIENT);
      from.queuePair.toRts(PATIENT);
      byte[] payload = new byte[bytes];
      new Random(1).nextBytes(payload);
      at.buffer.putBytes(0, payload);
      from.wqe(Opcode.RDMA_READ)
          .toTarget(from.domain.createAddressHandle("soft1", 0), target.number(), KEY)
          .remote(at.address(0), at.region.rkey())
          .local(0, bytes)
          .post();
      assertThat(from.pollSend().isError()).isFalse();
      world.settle();
      assertThat(from.buffer.getBytes(0, bytes)).isEqualTo(payload);
    }
  }

  private static void drain(Endpoint from, int[] posted, int i) {
    for (; posted[i] > 0; posted[i]--) {
      assertThat(from.pollSend().isError()).isFalse();
    }
  }
}
