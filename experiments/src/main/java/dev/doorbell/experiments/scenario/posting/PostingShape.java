package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.QueuePairView;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.Placement;

/** What the settings of a point ask for: grid, queue pairs, buffers, and how many puts. */
final class PostingShape {
  /** Who posts and who rings: the values of {@code posting}. */
  enum Posting {
    DIRECT,
    CPU_RUNG,
    PROXY
  }

  private static final int PUTS_IN_VIRTUAL_TIME = 768;
  private static final int PUTS_ON_THE_WALL = 1 << 12;
  private static final int PUTS_ON_GPU = 1 << 17;

  /** Where the HCA reaches queues through a mover, which takes microseconds for each access. */
  private static final int PUTS_THROUGH_A_MOVER = 1 << 15;

  private static final long MOST_BYTES_OF_A_LAUNCH = 128L << 20;
  private static final int FEWEST_OF_A_THREAD = 2;

  private final Point point;

  PostingShape(Point point) {
    this.point = point;
  }

  LaunchConfig grid() {
    return LaunchConfig.of((int) point.whole("blocks"), (int) point.whole("threads"));
  }

  int threads() {
    return Math.toIntExact(point.whole("blocks") * point.whole("threads"));
  }

  int bytes() {
    return (int) point.whole("size");
  }

  int queuePairs() {
    return (int) point.whole("qps");
  }

  int proxies() {
    return (int) point.whole("proxies");
  }

  Posting posting() {
    return switch (point.text("posting")) {
      case "cpu-rung" -> Posting.CPU_RUNG;
      case "proxy" -> Posting.PROXY;
      default -> Posting.DIRECT;
    };
  }

  MemoryKind payload() {
    return Placement.payload(point.text("payload"));
  }

  Placement placement() {
    return new Placement(
        Placement.kind(point.text("sq")),
        Placement.kind(point.text("cq")),
        Placement.kind(point.text("record")));
  }

  Endpoint.Shape endpoint() {
    int depth = (int) point.whole("depth");
    return new Endpoint.Shape(
        depth,
        depth,
        true,
        placement(),
        point.text("ringing").equals("blueflame"),
        point.text("ringing").equals("record-last"),
        point.flag("exclusive"),
        (int) point.whole("batch"),
        KernelRun.KERNEL_NANOS / 2);
  }

  /** Flags of queue pairs beyond those of {@link #endpoint}. */
  int moreFlags() {
    return (point.text("ringing").equals("no-record") ? QueuePairView.FLAG_NO_RECORD : 0)
        | (point.text("fence").equals("system") ? QueuePairView.FLAG_SCOPE_SYSTEM : 0);
  }

  /** A job without addresses. */
  JobView job(long iterations, long warmup) {
    JobView job = new JobView();
    job.bytes = bytes();
    job.stride = bytes();
    job.iterations = iterations;
    job.warmup = warmup;
    job.opcode = point.text("path").equals("push.inline") ? JobView.OP_PUT_INLINE : JobView.OP_PUT;
    job.scope = point.text("scope").equals("warp") ? JobView.SCOPE_WARP : JobView.SCOPE_THREAD;
    job.qpCount = queuePairs();
    return job;
  }

  /** Measured puts of each thread when the rate is asked for. */
  long putsOfThread(ExecutionBackend backend) {
    return putsOf(threads(), backend);
  }

  /** The same where so many threads put. */
  long putsOf(int posters, ExecutionBackend backend) {
    int all =
        switch (backend) {
          case ExecutionBackend.Virtual() -> PUTS_IN_VIRTUAL_TIME;
          case ExecutionBackend.Wall() -> PUTS_ON_THE_WALL;
          case ExecutionBackend.Cuda(int _) ->
              placement().touchesGpu() ? PUTS_THROUGH_A_MOVER : PUTS_ON_GPU;
          case ExecutionBackend.Verbs verbs ->
              verbs.ordinal() == ExecutionBackend.Verbs.VM ? PUTS_ON_THE_WALL : PUTS_ON_GPU;
        };
    long most = Math.min(all, MOST_BYTES_OF_A_LAUNCH / bytes());
    return Math.max(FEWEST_OF_A_THREAD, most / posters);
  }
}
