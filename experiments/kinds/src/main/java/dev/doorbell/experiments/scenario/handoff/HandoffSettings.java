package dev.doorbell.experiments.scenario.handoff;

import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.handoff.HandoffBench.HandoffRings;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.ExperimentKind.SettingName;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings.Dma;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.VirtualTime;
import dev.doorbell.proxy.Chaining;
import dev.doorbell.proxy.CommandFormat;
import dev.doorbell.proxy.CommandFormat.OffsetCommandFormat;
import dev.doorbell.proxy.ProxyPrices;

/**
 * Settings of points whose puts a CPU thread posts.
 *
 * @param size bytes of a message
 * @param qps queue pairs; ring r is served by posts to queue pair r modulo their number
 * @param proxies CPU threads
 * @param batch puts of a chain: behind one doorbell, with one CQE
 * @param chains whether they are shorter while fewer commands are there
 * @param window puts of a producer in flight when the rate is measured
 * @param rings of commands
 * @param slots entries of a ring
 * @param counter memory of the CPU's counters
 * @param cpuMhz clock of the CPU threads, 0: the topology's
 * @param background blocks that put bulk messages beside the probe
 * @param bulk bytes of such a message
 */
record HandoffSettings(
    Point point,
    int size,
    QueueSettings queues,
    int threads,
    int blocks,
    int qps,
    MemoryKind payload,
    Dma dma,
    TransferPath path,
    Ringing ringing,
    int proxies,
    int batch,
    Chains chains,
    int window,
    Handoff handoff,
    int rings,
    int slots,
    MemoryKind counter,
    @SettingName("cpu_mhz") int cpuMhz,
    int background,
    int bulk,
    Probe probe) {
  /** A kernel is stopped after that, and each of its waits ends after half of it. */
  static final long KERNEL_NANOS = 20_000_000_000L;

  private static final double MHZ_PER_GHZ = 1000;

  /** How the CPU makes the HCA look. */
  enum Ringing {
    RECORD_FIRST,
    BLUEFLAME
  }

  /** How a command reaches the CPU, as the kernel counts the ways. */
  enum Handoff {
    BASELINE(0),
    TUNED(1),
    FULL(2),
    FIFO(3),
    WIDE(4);

    /** The kernel's number of it, {@code job.operand}. */
    final int operand;

    Handoff(int operand) {
      this.operand = operand;
    }

    /** Whether a ring takes one producer. */
    boolean ownsRing() {
      return this == TUNED;
    }

    /** How the CPU reads entries between the two regions. */
    CommandFormat format(long local, int localKey, long remote, int remoteKey) {
      return this == FULL
          ? CommandFormat.FULL
          : new OffsetCommandFormat(
              this == WIDE ? OffsetCommandFormat.Layout.WIDE : OffsetCommandFormat.Layout.SHORT,
              local,
              localKey,
              remote,
              remoteKey);
    }
  }

  /** How long chains are. */
  enum Chains {
    FIXED,
    ADAPTIVE
  }

  /** Whose the probe's ring is. */
  enum Probe {
    OWN,
    SHARED
  }

  boolean inline() {
    return path == TransferPath.PUSH_INLINE;
  }

  /** Threads that put bulk messages. */
  int company() {
    return background * threads;
  }

  /** Threads that put when the rate is measured. */
  int producers() {
    return Math.multiplyExact(blocks, threads);
  }

  /** Bytes from one producer's message to the next one's. */
  int stride() {
    return HandoffBench.stride(background > 0 ? Math.max(size, bulk) : size);
  }

  Endpoint.Shape endpoint() {
    return queues.endpoint(KERNEL_NANOS / 2).build();
  }

  HandoffRings.Shape rings(PointRun<?> run) {
    return new HandoffRings.Shape(
        rings,
        slots,
        counter,
        proxies,
        chains == Chains.ADAPTIVE ? Chaining.adaptive(batch) : Chaining.of(batch),
        background > 0 && probe == Probe.OWN,
        ringing == Ringing.BLUEFLAME,
        prices(run, cpuMhz));
  }

  /**
   * What a CPU thread's own work costs on the point's clock.
   *
   * @param mhz clock of the thread, 0: the topology's
   */
  static ProxyPrices prices(PointRun<?> run, int mhz) {
    if (!(run.backend() instanceof ExecutionBackend.Virtual)) {
      return ProxyPrices.FREE;
    }
    return mhz == 0
        ? VirtualTime.cpu(run.topology())
        : VirtualTime.cpu(run.topology(), mhz / MHZ_PER_GHZ);
  }
}
