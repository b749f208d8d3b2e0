package dev.doorbell.experiments.scenario.collective;

import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.experiments.collective.Algorithm;
import dev.doorbell.experiments.collective.Call;
import dev.doorbell.experiments.collective.Call.Reduction;
import dev.doorbell.experiments.collective.Channels;
import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.collective.DataType;
import dev.doorbell.experiments.collective.Schedule;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.NetworkSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings.SignalName;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.World;
import java.util.List;

/** Settings of a point. */
public record CollectiveSettings(
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
    int channels,
    int threads,
    TransferPath path,
    SignalName signal,
    QueueSettings queues,
    NetworkSettings between) {
  /** A kernel is stopped after that. */
  public static final long KERNEL_NANOS = 2_000_000_000L;

  private static final long DEADLINE_NANOS = 1_000_000_000L;

  /** The largest message, in bytes, that carries its flags with its data. */
  private static final long MOST_PACKED = 1024;

  private static final int LINE = 16;

  /** An algorithm, or the choice of one. */
  public enum Chosen {
    AUTO,
    RING,
    TREE,
    HALVING,
    DIRECT,
    HIERARCHICAL,
    NVLS
  }

  public enum Buffers {
    OUT_OF_PLACE,
    IN_PLACE
  }

  /** Ways of seeing that a message has arrived. */
  public enum Flags {
    AUTO,
    APART,
    INSIDE
  }

  /**
   * The call.
   *
   * @param node ranks of a node of the topology
   */
  public Call call(int node) {
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

  /**
   * Lays out the ranks of a world that execute the call once for each launch.
   *
   * @param channels schedules that blocks of a rank execute side by side
   */
  public CollectiveTrial trial(World world, List<Schedule> channels, int node) {
    return trial(world, channels, node, DEADLINE_NANOS);
  }

  /** The same among ranks that wait for each other for so long at most. */
  CollectiveTrial trial(World world, List<Schedule> channels, int node, long deadlineNanos) {
    Endpoint.Shape shape =
        queues
            .endpoint(deadlineNanos)
            .blueFlame(path.blueFlame())
            .exclusive(true)
            .order(signal.on(queues.nic().adapter().promises()))
            .build();
    LaunchConfig grid = LaunchConfig.of(channels.size(), threads).withTimeout(2 * deadlineNanos);
    return new CollectiveTrial(world, call(node), channels, shape, grid, 1);
  }

  /** The schedules of so many channels, or of as many as the buffers divide into. */
  public List<Schedule> schedules(Algorithm by, int node, int count) {
    return Channels.of(by, call(node), mostPacked(), longest(), count);
  }

  /** Returns true for what an NVSwitch adds. */
  public boolean isSumOfFloats() {
    return redop == Reduction.SUM && datatype != DataType.INT32;
  }

  /** Bytes of the longest message of a ring, a tree or a chain. */
  public long longest() {
    return Math.max(LINE, chunk / LINE * LINE);
  }

  /** Bytes of the longest message that carries its flag with its data. */
  public long mostPacked() {
    return switch (flags) {
      case AUTO -> MOST_PACKED;
      case APART -> 0;
      case INSIDE -> size;
    };
  }
}
