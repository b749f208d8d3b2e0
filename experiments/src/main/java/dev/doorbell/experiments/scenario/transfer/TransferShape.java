package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Placement;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a point of a transfer experiment asks for: its queue pairs, its buffers, its kernels. */
final class TransferShape {
  /** Bytes of a slot of the staging area. */
  static final int CHUNK_BYTES = 64 << 10;

  /** Bytes of the staging area. */
  static final int STAGING_BYTES = 256 << 10;

  private static final int FEWEST_MESSAGES = 4;
  private static final int COPY_BYTES = 16;
  private static final int MAX_COPY_THREADS = 512;
  static final int WARP = 32;
  private static final int LINE = 64;
  private static final long GOODPUT_BYTES = 2L << 20;

  private final Point point;
  private final TransferPath path;
  private final int bytes;
  private final long kernelNanos;
  private final long deadlineNanos;

  /**
   * @param kernelNanos after which a kernel is stopped
   * @param deadlineNanos after which a device-side wait ends
   */
  TransferShape(Point point, long kernelNanos, long deadlineNanos) {
    this.point = point;
    this.path = TransferPath.of(point.text("path"));
    this.bytes = Math.toIntExact(point.whole("size"));
    this.kernelNanos = kernelNanos;
    this.deadlineNanos = deadlineNanos;
  }

  /** Bytes of a message. */
  int bytes() {
    return bytes;
  }

  private boolean hasHostQueues() {
    return path == TransferPath.STAGED || path == TransferPath.PROXY;
  }

  /** What a reader of the numbers should know of the placement, or null. */
  @Nullable String note() {
    return hasHostQueues() ? "queues in host memory: the path's own placement" : null;
  }

  /** What the queue pairs of a protocol are like. */
  Endpoint.Shape endpoint(Protocol protocol) {
    return endpoint(!protocol.descriptor().launch().shared());
  }

  /**
   * What its queue pairs are like.
   *
   * @param exclusive one thread posts to each
   */
  private Endpoint.Shape endpoint(boolean exclusive) {
    int depth = (int) point.whole("depth");
    return new Endpoint.Shape(
        depth, depth, false, placement(), path.blueFlame(), false, exclusive, 1, deadlineNanos);
  }

  /** Where its queues lie. */
  Placement placement() {
    return hasHostQueues()
        ? Placement.HOST
        : new Placement(
            Placement.kind(point.text("sq")),
            Placement.kind(point.text("cq")),
            Placement.kind(point.text("record")));
  }

  Connection.Ringing ringing() {
    if (path == TransferPath.PROXY) {
      return Connection.Ringing.PROXY;
    }
    return point.text("doorbell").equals("cpu") ? Connection.Ringing.CPU : Connection.Ringing.GPU;
  }

  int queuePairs() {
    return (int) point.whole("qps");
  }

  /** Whether the lanes of a warp post a message together, a piece each. */
  static boolean byWarp(Point point) {
    return point.text("scope").equals("warp");
  }

  /** Ranks that a protocol has. */
  int ranks(Protocol protocol) {
    return protocol.descriptor().launch().allRanks() ? (int) point.whole("ranks") : 2;
  }

  /** Connects the ranks of a world for a protocol. */
  Connection connect(World world, Protocol protocol) {
    return protocol.descriptor().launch().allRanks()
        ? Connection.mesh(world, ranks(protocol), endpoint(protocol), ringing())
        : Connection.open(world, endpoint(protocol), ringing(), queuePairs());
  }

  /**
   * A rank's side.
   *
   * @param salt tells its payload from others of the point
   */
  RankBuffers buffers(Protocol protocol, Connection connection, Rank rank, long salt) {
    LaunchConfig config = launch(protocol);
    int slots =
        switch (protocol.descriptor().launch().slots()) {
          case BLOCKS ->
              protocol.descriptor().launch().allRanks() ? ranks(protocol) : config.blocks();
          case THREADS -> config.blocks() * config.threadsPerBlock();
          case WINDOW -> (int) point.whole("window");
        };
    RankBuffers buffers =
        new RankBuffers(
            connection,
            rank,
            new RankBuffers.Buffers(
                bytes,
                slots,
                (int) point.whole("offset"),
                payload(rank),
                rights(),
                protocol.descriptor().launch().signals()),
            point.seed() ^ salt);
    switch (path) {
      case PUSH_MEMIC -> buffers.stageOnChip(STAGING_BYTES);
      case STAGED -> buffers.stageInHost(STAGING_BYTES);
      default -> {}
    }
    return buffers;
  }

  private MemoryKind payload(Rank rank) {
    return switch (point.text("payload")) {
      case "host" -> MemoryKind.HOST;
      case "managed" -> MemoryKind.MANAGED;
      // A real GPU's memory is out of a software HCA's reach, and the rank's payload in the host's.
      default -> rank.payload();
    };
  }

  private Set<AccessRight> rights() {
    Set<AccessRight> rights = EnumSet.copyOf(Endpoint.ALL_RIGHTS);
    if (point.flag("relaxed")) {
      rights.add(AccessRight.RELAXED_ORDERING);
    }
    return rights;
  }

  /**
   * A block for each queue pair where a protocol of Doorbell's own streams: its block b posts to
   * queue pair b. What others do with several is their descriptor's affair.
   */
  int blocks(Protocol protocol) {
    int asked = protocol.descriptor().launch().blocks();
    boolean streams = protocol.descriptor().measures() == KernelDescriptor.Measures.GOODPUT;
    return protocol.own() && streams ? asked * queuePairs() : asked;
  }

  LaunchConfig launch(Protocol protocol) {
    KernelDescriptor.Launch launch = protocol.descriptor().launch();
    return new LaunchConfig(
        blocks(protocol),
        1,
        1,
        launch.threads() == 0 ? threads() : launch.threads(),
        1,
        1,
        launch.sharedBytes(),
        launch.cooperative(),
        kernelNanos);
  }

  JobView job(Protocol protocol, int role, long iterations, long warmup) {
    JobView job = new JobView();
    job.role = role;
    job.iterations = iterations;
    job.warmup = warmup;
    job.path = path.jobPath();
    job.scope = byWarp(point) ? JobView.SCOPE_WARP : JobView.SCOPE_BLOCK;
    job.chunkBytes = slotBytes(point);
    boolean streams = protocol.descriptor().measures() == KernelDescriptor.Measures.GOODPUT;
    job.window = streams ? (int) point.whole("window") : 1;
    return job;
  }

  /**
   * Bytes of a slot of the staging area: no more than a message has, so that as many messages as
   * there is room for are under way; whole cache lines.
   */
  static int slotBytes(Point point) {
    long lines = (point.whole("size") + LINE - 1) / LINE * LINE;
    return (int) Math.min(lines, point.whole("chunk"));
  }

  /** One thread posts; more help where the kernel copies, as many as are asked for or of use. */
  private int threads() {
    if (byWarp(point)) {
      return WARP;
    }
    if (point.whole("threads") > 1) {
      return (int) point.whole("threads");
    }
    int copied = Math.min(bytes, slotBytes(point));
    if (path.jobPath() != JobView.PATH_STAGE || copied <= COPY_BYTES) {
      return 1;
    }
    int useful = (copied + COPY_BYTES - 1) / COPY_BYTES;
    int warps = (useful + WARP - 1) / WARP;
    return Math.min(MAX_COPY_THREADS, warps * WARP);
  }

  /** Messages of a block: enough for a steady state, few enough to stay short, every slot used. */
  int messages(Protocol protocol) {
    long window = point.whole("window");
    long budget = GOODPUT_BYTES / bytes / blocks(protocol);
    long least =
        Math.max(FEWEST_MESSAGES, protocol.descriptor().launch().windowSlots() ? window : 0);
    return (int) Math.max(least, Math.min(4 * window, budget));
  }
}
