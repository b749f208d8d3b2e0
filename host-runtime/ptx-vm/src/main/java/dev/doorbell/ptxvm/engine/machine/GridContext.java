package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.ForwardProgress;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** State that the blocks and threads of a grid share, and requests to their grid. */
public abstract class GridContext {
  private static final int MOST_SKIPPED_POLLS = 64;
  private static final int STEPS_BETWEEN_CLOCK_READS = 256;

  /** Fewer in virtual time, of which a step may take much. */
  private static final int STEPS_IN_VIRTUAL_TIME = 16;

  /**
   * Settings of a grid.
   *
   * @param residentBlocks at most this many blocks at once
   * @param multiprocessors for {@code %nsmid}
   * @param pollNanos how long the fabric may park a thread that polls and watches the clock
   * @param compileAfter instructions that a kernel executes before it is compiled; the largest
   *     value means never
   * @param progress which threads go on while others wait
   */
  public record Settings(
      int residentBlocks,
      int multiprocessors,
      long pollNanos,
      long compileAfter,
      ForwardProgress progress) {}

  public final KernelImage image;
  public final Fabric fabric;
  public final AddressSpace memory;
  public final GridShape shape;

  /** The launch's number on its GPU. */
  public final long number;

  final Locus locus;
  final Settings settings;

  /** Nanoseconds, for threads. */
  final LongSupplier clock;

  final int clockMask;
  private final boolean emulated;
  private final StringBuilder output = new StringBuilder();

  long parameterBase;

  /**
   * The address of memory that the blocks of a cooperative grid share, all zero at first; 0 for
   * other grids. Cooperative groups keep the barrier of the grid there.
   */
  long workspace;

  /** When the kernel has to have ended, in nanoseconds of the fabric. */
  long deadline;

  long executed;

  GridContext(
      KernelImage image,
      Fabric fabric,
      Locus locus,
      LaunchConfig config,
      Settings settings,
      long number) {
    this.image = image;
    this.fabric = fabric;
    this.memory = fabric.memory();
    this.locus = locus;
    this.shape = new GridShape(config);
    this.settings = settings;
    this.clock = fabric.clock(locus);
    this.number = number;
    this.emulated = fabric.basis() == Basis.EMULATED;
    this.clockMask = (emulated ? STEPS_BETWEEN_CLOCK_READS : STEPS_IN_VIRTUAL_TIME) - 1;
  }

  /** Executions of each operation, by place, while they are counted; else null. */
  abstract int @Nullable [] counts();

  /** Threads have executed {@code instructions} more while they are counted. */
  abstract void executed(int instructions);

  /** Stops the kernel for an error of a thread. */
  abstract void threadFailed(String message);

  /** Stops the kernel, whose threads cannot go on. */
  abstract void stuck(String message);

  /** Stops the kernel if its time is over. */
  abstract void watchClock();

  /** Describes where threads are: how many at which place, and one of them by name. */
  abstract String waits();

  /** Runs {@code task}, which changes the grid, when no thread is stepped beside it. */
  final void exclusively(Runnable task) {
    fabric.exclusively(locus, task);
  }

  /** Static and dynamic shared memory of a block. */
  long sharedBytes() {
    return image.sharedBytes() + shape.config().dynamicSharedBytes();
  }

  /** Returns how long a thread that polls may be parked; never beyond the kernel's end. */
  public long pollNanos(int doublings) {
    if (isEmulated()) {
      return settings.pollNanos; // real time passes by itself; looking at it costs more than a poll
    }
    long left = Math.max(1, deadline - clock.getAsLong());
    return Math.min(settings.pollNanos << doublings, left);
  }

  /**
   * Returns how many steps a thread may skip while the cells that it polls stay as they are. None
   * in virtual time, where the fabric parks the thread.
   */
  public int skippedPolls() {
    return isEmulated() ? MOST_SKIPPED_POLLS : 0;
  }

  /** True when real time passes by itself, and waiting costs none of a modelled GPU's. */
  public boolean isEmulated() {
    return emulated;
  }

  /** Appends to what {@code printf} wrote. */
  public void print(String text) {
    synchronized (output) {
      output.append(text);
    }
  }

  /** Returns what {@code printf} wrote. */
  public String output() {
    synchronized (output) {
      return output.toString();
    }
  }

  /** The shape of a launch, and how linear indices map to it: x runs fastest. */
  public record GridShape(LaunchConfig config) {
    static final int LANES = 32;

    public int threads() {
      return config.threadsPerBlock();
    }

    int threadX(int index) {
      return index % config.blockX();
    }

    int threadY(int index) {
      return index / config.blockX() % config.blockY();
    }

    int threadZ(int index) {
      return index / config.blockX() / config.blockY();
    }

    int blockX(int index) {
      return index % config.gridX();
    }

    int blockY(int index) {
      return index / config.gridX() % config.gridY();
    }

    int blockZ(int index) {
      return index / config.gridX() / config.gridY();
    }

    String threadName(int index) {
      return "(%d,%d,%d)".formatted(threadX(index), threadY(index), threadZ(index));
    }

    String blockName(int index) {
      return "(%d,%d,%d)".formatted(blockX(index), blockY(index), blockZ(index));
    }
  }
}
