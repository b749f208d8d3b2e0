package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.SignalOrder;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Placement;

/**
 * Settings of queue pairs, for every kind of points that has some.
 *
 * @param sq memory of the send ring
 * @param cq memory of the completion ring
 * @param record memory of the doorbell record
 * @param depth of the send ring in 64-byte blocks
 * @param mtu path MTU in bytes
 * @param nic what the HCAs promise
 */
public record QueueSettings(
    MemoryKind sq, MemoryKind cq, MemoryKind record, int depth, int mtu, AdapterName nic) {
  public Placement placement() {
    return new Placement(sq, cq, record);
  }

  /**
   * Starts the shape of queue pairs whose device-side waits end after {@code deadlineNanos}: their
   * depth, and where they lie.
   */
  public Endpoint.Builder endpoint(long deadlineNanos) {
    return Endpoint.Shape.builder(depth, deadlineNanos).placement(placement());
  }

  /** The adapters that differ where memory is memory: those of {@code nic}. */
  public enum AdapterName {
    CX7,
    CX7_AR,
    CX8_OOO_RW,
    CX8_OOO_ALL,
    RELAXED_PCIE,
    NO_ATOMICS,
    EFA;

    private static final String SETTING = "nic";

    /** Returns the adapter of a point; the default where its kind has no HCA in software. */
    public static Adapter of(Point point) {
      return point.has(SETTING) ? Adapters.named(point.text(SETTING)) : Adapter.DEFAULT;
    }

    public Adapter adapter() {
      return Adapters.named(Promise.word(this));
    }
  }

  /** Ways of a software HCA to the memory of a real GPU: the values of {@code dma}. */
  public enum Dma {
    COPY(CudaGpu.Mover.COPY, "the GPU's copy engines"),
    KERNEL(CudaGpu.Mover.KERNEL, "a kernel on one multiprocessor");

    private final CudaGpu.Mover mover;
    private final String means;

    Dma(CudaGpu.Mover mover, String means) {
      this.mover = mover;
      this.means = means;
    }

    /**
     * The mover of a point's GPUs, which a real GPU's result notes.
     *
     * @param needed whether the HCA has to reach GPU memory at all
     */
    public CudaGpu.Mover mover(PointRun<?> run, boolean needed) {
      if (!needed) {
        return CudaGpu.Mover.NONE;
      }
      if (run.onGpu()) {
        run.note("the software HCA reaches GPU memory by " + means);
      }
      return mover;
    }
  }

  /** Who posts a message together: the values of {@code scope}. */
  public enum Scope {
    THREAD,
    WARP,
    BLOCK
  }

  /** Means that order signals behind their data: {@code signal}. */
  public enum SignalName {
    AUTO,
    NONE,
    STRICT_KEY,
    PACKED,
    ATOMIC,
    READ_FLUSH,
    FENCE_BIT,
    ACKNOWLEDGED;

    /** Returns what it is on HCAs with these promises. */
    public SignalOrder on(Promises promises) {
      return this == AUTO ? SignalOrder.of(promises) : SignalOrder.valueOf(name());
    }

    /** Refuses what does not order signals on an adapter. */
    public void check(AdapterName nic, Checks checks) {
      Promises promises = nic.adapter().promises();
      SignalOrder order = on(promises);
      checks
          .code("DB-P051")
          .refuseIf(
              !order.suffices(promises),
              "signal %s on nic %s".formatted(order.word(), nic.adapter()),
              "a signal could be seen before its data",
              "use signal: auto, which is %s here".formatted(SignalOrder.of(promises).word()));
    }
  }
}
