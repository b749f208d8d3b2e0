package dev.doorbell.experiments.scenario.collective;

import dev.doorbell.experiments.collective.Algorithm;
import dev.doorbell.experiments.collective.Call;
import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.collective.DataType;
import dev.doorbell.experiments.collective.Reduction;
import dev.doorbell.experiments.collective.Schedule;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.NetworkSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.kind.SignalName;

/**
 * Settings of a point.
 *
 * @param size bytes of the larger buffer
 * @param chunk bytes of the longest message where an algorithm cuts
 * @param threads of each rank's block
 * @param signal what makes flags come behind their data
 */
record CollectiveSettings(
    Point point,
    Collective collective,
    Chosen algorithm,
    int ranks,
    int size,
    DataType datatype,
    Reduction redop,
    int root,
    Buffers buffers,
    Flags flags,
    int chunk,
    int threads,
    TransferPath path,
    SignalName signal,
    QueueSettings queues,
    NetworkSettings between) {
  /** The largest message, in bytes, that carries its flags with its data. */
  private static final long MOST_PACKED = 1024;

  private static final int LINE = 16;

  /** An algorithm, or the choice of one. */
  enum Chosen {
    AUTO,
    RING,
    TREE,
    HALVING,
    DIRECT,
    HIERARCHICAL
  }

  /** Where the result lies. */
  enum Buffers {
    OUT_OF_PLACE,
    IN_PLACE
  }

  /** How a message's arrival is seen. */
  enum Flags {
    AUTO,
    APART,
    INSIDE
  }

  /**
   * The call.
   *
   * @param node ranks of a node of the topology
   */
  Call call(int node) {
    return new Call(
        collective,
        ranks,
        size,
        datatype,
        redop,
        root,
        buffers == Buffers.IN_PLACE,
        point.seed(),
        node);
  }

  Schedule schedule(Algorithm by, int node) {
    long mostPacked =
        switch (flags) {
          case AUTO -> MOST_PACKED;
          case APART -> 0;
          case INSIDE -> size;
        };
    return by.schedule(call(node), mostPacked, Math.max(LINE, chunk / LINE * LINE));
  }
}
