package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.hca.AddressHandle;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.DcTarget;
import dev.doorbell.core.hca.DcTargetAttributes;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.generated.DatagramSegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Targets of dynamic connections at the peer of rank 0 or 1, and the address vectors that lead
 * there, in memory of that rank's GPU. Nothing is sent that takes a receive.
 */
public final class DcTargets implements AutoCloseable {
  private static final long ACCESS_KEY = 0x0d0e_0a0d_0000_0001L;

  private final Owned owned = new Owned();
  private final int count;
  private final long vectors;

  /**
   * Creates {@code count} targets.
   *
   * @param rank whose GPU has the vectors
   * @param initiator a queue pair of that rank, whose path MTU is theirs
   */
  public DcTargets(World world, int rank, Endpoint initiator, int count) {
    this.count = count;
    Rank here = world.rank(rank);
    Rank there = world.rank(1 - rank);
    CompletionQueue completions =
        owned.add(
            there
                .domain()
                .createCompletionQueue(
                    CompletionQueueAttributes.ring(1, MemoryKind.HOST), there.gpu()));
    SharedReceiveQueue receives =
        owned.add(
            there
                .domain()
                .createSharedReceiveQueue(
                    new SharedReceiveQueueAttributes(1, 1, MemoryKind.HOST, MemoryKind.HOST),
                    there.gpu()));
    List<DcTarget> targets = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      targets.add(
          owned.add(
              there
                  .domain()
                  .createDcTarget(
                      new DcTargetAttributes(
                          ACCESS_KEY,
                          receives,
                          completions,
                          Endpoint.ALL_RIGHTS,
                          initiator.queuePair().address().mtu(),
                          ConnectionAttributes.DEFAULT.minRnrTimer()))));
    }
    AddressHandle handle = here.domain().createAddressHandle(there.hca().name(), 0);
    Memory memory =
        owned.add(
            here.gpu()
                .allocate(
                    MemoryKind.DEVICE, (long) count * DatagramSegment.BYTES, "address vectors"));
    memory.putBytes(0, encode(targets, handle));
    this.vectors = memory.address();
  }

  private static byte[] encode(List<DcTarget> targets, AddressHandle handle) {
    long bytes = (long) targets.size() * DatagramSegment.BYTES;
    MemorySegment table = Arena.ofAuto().allocate(bytes, Long.BYTES);
    for (int i = 0; i < targets.size(); i++) {
      long at = table.address() + (long) i * DatagramSegment.BYTES;
      DatagramSegment.write(
          at,
          0,
          targets.get(i).number(),
          handle.macAddress(),
          handle.trafficClass(),
          handle.hopLimit(),
          handle.gidIndex(),
          handle.gidHigh(),
          handle.gidLow());
      DatagramSegment.putAccessKey(at, ACCESS_KEY);
    }
    return table.toArray(ValueLayout.JAVA_BYTE);
  }

  public int count() {
    return count;
  }

  /** Address of the vectors, 48 bytes each. */
  public long vectors() {
    return vectors;
  }

  @Override
  public void close() {
    owned.close();
  }
}
