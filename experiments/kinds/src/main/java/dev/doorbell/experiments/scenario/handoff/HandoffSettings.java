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

/** Settings of points whose puts a CPU thread posts. */
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

  /** Doorbells of the CPU. */
  enum Ringing {
    RECORD_FIRST,
    BLUEFLAME
  }

  /** Ways of a command to the CPU, by the kernel's numbers. */
  enum Handoff {
    BASELINE(0),
    TUNED(1),
    FULL(2),
    FIFO(3),
    WIDE(4);

    final int operand;

    Handoff(int operand) {
      this.operand = operand;
    }

    boolean ownsRing() {
      return this == TUNED;
    }

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

  enum Chains {
    FIXED,
    ADAPTIVE
  }

  enum Probe {
    OWN,
    SHARED
  }

  boolean inline() {
    return path == TransferPath.PUSH_INLINE;
  }

  int company() {
    return background * threads;
  }

  int producers() {
    return Math.multiplyExact(blocks, threads);
  }

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
        prices(run));
  }

  /** Prices of a CPU thread's own work on the point's clock. */
  static ProxyPrices prices(PointRun<?> run) {
    return run.backend() instanceof ExecutionBackend.Virtual
        ? VirtualTime.cpu(run.topology())
        : ProxyPrices.FREE;
  }
}
