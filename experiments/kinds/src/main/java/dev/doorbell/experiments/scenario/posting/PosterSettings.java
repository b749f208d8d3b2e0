package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings.Dma;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;

/** Settings of points whose threads put messages of their own. */
record PosterSettings(
    int size,
    QueueSettings queues,
    int threads,
    int blocks,
    int qps,
    Posting posting,
    Ringing ringing,
    Fence fence,
    MemoryKind payload,
    Dma dma,
    int proxies) {
  /** A kernel is stopped after that, and each of its waits ends after half of it. */
  static final long KERNEL_NANOS = 20_000_000_000L;

  private static final int PUTS_IN_VIRTUAL_TIME = 768;
  private static final int PUTS_IN_WALL_TIME = 1 << 12;
  private static final int PUTS_ON_GPU = 1 << 17;

  /** For HCAs that reach queues through a mover: microseconds per access. */
  private static final int PUTS_THROUGH_A_MOVER = 1 << 15;

  private static final long MOST_BYTES_OF_A_LAUNCH = 128L << 20;
  private static final int FEWEST_OF_A_THREAD = 2;

  enum Posting {
    DIRECT(Connection.Ringing.GPU),
    CPU_RUNG(Connection.Ringing.CPU),
    PROXY(Connection.Ringing.PROXY);

    final Connection.Ringing ringing;

    Posting(Connection.Ringing ringing) {
      this.ringing = ringing;
    }
  }

  enum Ringing {
    RECORD_FIRST,
    RECORD_LAST,
    NO_RECORD,
    BLUEFLAME
  }

  enum Fence {
    NEEDED,
    SYSTEM
  }

  LaunchConfig grid() {
    return grid(blocks);
  }

  LaunchConfig grid(int some) {
    return LaunchConfig.of(some, threads).withTimeout(KERNEL_NANOS);
  }

  int allThreads() {
    return Math.multiplyExact(blocks, threads);
  }

  Endpoint.Shape endpoint(boolean exclusive, int batch) {
    return queues
        .endpoint(KERNEL_NANOS / 2)
        .collapsed(true)
        .blueFlame(ringing == Ringing.BLUEFLAME)
        .recordLast(ringing == Ringing.RECORD_LAST)
        .flag(QueuePairView.FLAG_NO_RECORD, ringing == Ringing.NO_RECORD)
        .flag(QueuePairView.FLAG_SCOPE_SYSTEM, fence == Fence.SYSTEM)
        .exclusive(exclusive)
        .batch(batch)
        .build();
  }

  boolean touchesGpu() {
    return queues.placement().touchesGpu() || payload != MemoryKind.HOST;
  }

  long putsOfThread(int posters, ExecutionBackend backend) {
    int all =
        switch (backend) {
          case ExecutionBackend.Virtual() -> PUTS_IN_VIRTUAL_TIME;
          case ExecutionBackend.Wall() -> PUTS_IN_WALL_TIME;
          case ExecutionBackend.Cuda(int _) ->
              queues.placement().touchesGpu() ? PUTS_THROUGH_A_MOVER : PUTS_ON_GPU;
          case ExecutionBackend.Verbs verbs ->
              verbs.ordinal() == ExecutionBackend.Verbs.VM ? PUTS_IN_WALL_TIME : PUTS_ON_GPU;
        };
    long most = Math.min(all, MOST_BYTES_OF_A_LAUNCH / size);
    return Math.max(FEWEST_OF_A_THREAD, most / posters);
  }
}
