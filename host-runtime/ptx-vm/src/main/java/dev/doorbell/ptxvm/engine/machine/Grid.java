package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.agent.ForwardProgress;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.machine.Cta.Windows;
import dev.doorbell.ptxvm.engine.machine.VmThread.Stepper;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A kernel that runs: its resident blocks, the blocks that still wait for room, its end.
 *
 * <p>What changes a grid happens on the host thread that runs the fabric, between two steps of its
 * threads.
 */
public final class Grid extends GridContext {
  private static final int REPORTED_PLACES = 8;
  private static final int WORKSPACE_BYTES = 64;

  private final KernelCode code;
  private final ScratchPool pool;
  private final byte[] arguments;
  private final Runnable onEnd;
  private final List<Cta> resident = new ArrayList<>();
  private final Windows windows;
  private @Nullable Allocation scratch;
  private @Nullable Allocation gridBarrier;
  private int nextBlock;
  private boolean started;
  private boolean ended;
  private @Nullable String failure;
  private boolean stuck;
  private int leaving;
  private @Nullable Stepper stepper;

  /**
   * A grid that is not started yet.
   *
   * @param arguments the parameter block
   * @param pool where its windows come from
   * @param number the launch's number on its GPU
   * @param onEnd called once, when the last thread has ended or the kernel was stopped
   */
  public Grid(
      KernelCode code,
      Fabric fabric,
      Locus locus,
      LaunchConfig config,
      byte[] arguments,
      Settings settings,
      ScratchPool pool,
      long number,
      Runnable onEnd) {
    super(code.image(), fabric, locus, config, settings, number);
    this.code = code;
    this.arguments = arguments;
    this.pool = pool;
    this.onEnd = onEnd;
    this.windows = Windows.of(0, sharedBytes(), image.localBytes(), shape.threads());
  }

  /** Lets {@code other} step the threads; before {@link #start}. */
  public void stepBy(Stepper other) {
    stepper = other;
  }

  public void start() {
    int room = settings.progress().blocksApart() ? 1 : settings.residentBlocks();
    int slots = Math.min(room, shape.config().blocks());
    long parameterBytes = (arguments.length + 255L) & -256L;
    started = true;
    try {
      Allocation windowsAndParameters =
          pool.take(
              Math.max(1, parameterBytes + slots * windows.bytes()),
              "parameters, shared and local memory of " + image.name());
      scratch = windowsAndParameters;
      if (shape.config().cooperative()) {
        gridBarrier =
            memory.allocate(
                MemoryKind.DEVICE, locus, WORKSPACE_BYTES, "grid barrier of " + image.name());
        workspace = gridBarrier.address();
      }
      parameterBase = windowsAndParameters.address();
      RawMemory.copyIn(MemorySegment.ofArray(arguments), 0, parameterBase, arguments.length);
    } catch (IllegalStateException e) {
      throw new GpuException("kernel %s: %s".formatted(image.name(), e.getMessage()), e);
    }
    deadline = clock.getAsLong() + shape.config().timeoutNanos();
    if (stepper == null) {
      code.launching(fabric, locus, settings.compileAfter());
    } else if (code.isCompiled()) {
      throw new GpuException(
          "kernel %s is compiled; to observe its instructions, open the GPU with the interpreter"
              .formatted(image.name()));
    }
    for (int i = 0; i < slots; i++) {
      startBlock(windows.at(parameterBase + parameterBytes + i * windows.bytes()));
    }
  }

  private void startBlock(Windows at) {
    int block =
        settings.progress() == ForwardProgress.BLOCKS_DESCENDING
            ? shape.config().blocks() - 1 - nextBlock
            : nextBlock;
    resident.add(new Cta(this, block, at, code.first(), stepper, this::ended));
    nextBlock++;
  }

  /** All threads of {@code cta} have exited: its place is free for the next block. */
  private void ended(Cta cta) {
    resident.remove(cta);
    if (ended || leaving > 0) {
      return;
    }
    if (nextBlock < shape.config().blocks()) {
      startBlock(cta.windows);
    } else if (resident.isEmpty()) {
      end();
    }
  }

  /** True when every thread has ended, or the kernel was stopped. */
  public boolean done() {
    if (started && !ended && fabric.now() - deadline >= 0) {
      timeOut();
    }
    return ended;
  }

  /** Why the kernel was stopped, or null. */
  public @Nullable String failure() {
    return failure;
  }

  /** Instructions executed so far, all threads together. */
  public long instructions() {
    return executed;
  }

  public void fail(String message) {
    if (!ended && failure == null) {
      failure = "kernel %s was stopped: %s".formatted(image.name(), message);
      List<Cta> blocks = List.copyOf(resident);
      leaving = blocks.size();
      List<VmThread> stopped = new ArrayList<>();
      blocks.forEach(cta -> cta.stop(stopped));
      fabric.detachAll(stopped);
      blocks.forEach(cta -> exclusively(() -> left(cta)));
      if (blocks.isEmpty()) {
        end();
      }
    }
  }

  /** No thread of the block is stepped any more: its memory may go. */
  private void left(Cta cta) {
    resident.remove(cta);
    if (--leaving == 0) {
      end();
    }
  }

  @Override
  void threadFailed(String message) {
    exclusively(() -> fail(message));
  }

  @Override
  void stuck(String message) {
    exclusively(
        () -> {
          stuck |= !ended && failure == null;
          fail(message);
        });
  }

  /** True when it was stopped because its threads could not go on, or not in time. */
  public boolean stuck() {
    return stuck;
  }

  @Override
  int @Nullable [] counts() {
    return code.counts();
  }

  @Override
  void executed(int instructions) {
    code.executed(instructions, memory, locus);
  }

  private void end() {
    ended = true;
    if (scratch != null) {
      pool.give(scratch);
      scratch = null;
    }
    if (gridBarrier != null) {
      memory.free(gridBarrier);
      gridBarrier = null;
      workspace = 0;
    }
    onEnd.run();
  }

  @Override
  void watchClock() {
    if (clock.getAsLong() - deadline >= 0) {
      exclusively(
          () -> {
            if (!ended) {
              timeOut();
            }
          });
    }
  }

  private void timeOut() {
    stuck |= failure == null;
    fail(
        "it did not end within %s; %s".formatted(duration(shape.config().timeoutNanos()), waits()));
  }

  private static String duration(long nanos) {
    return nanos >= 1_000_000_000L
        ? "%.3g s".formatted(nanos / 1e9)
        : nanos >= 1_000_000L ? "%.3g ms".formatted(nanos / 1e6) : nanos + " ns";
  }

  @Override
  String waits() {
    Map<String, List<VmThread>> places = new LinkedHashMap<>();
    for (Cta cta : resident) {
      for (VmThread thread : cta.threads) {
        Op at = thread.op;
        if (!thread.exited && at != null) {
          String state =
              thread.waiting ? "waiting at " : thread.idle ? "polling at " : "running at ";
          places
              .computeIfAbsent(state + image.describe(at.place), key -> new ArrayList<>())
              .add(thread);
        }
      }
    }
    StringBuilder text = new StringBuilder("its threads are:");
    int shown = 0;
    for (Map.Entry<String, List<VmThread>> place : places.entrySet()) {
      if (shown++ == REPORTED_PLACES) {
        text.append("\n  and at %d more places".formatted(places.size() - REPORTED_PLACES));
        break;
      }
      List<VmThread> threads = place.getValue();
      text.append(
          "\n  %d %s, first %s"
              .formatted(threads.size(), place.getKey(), threads.getFirst().name()));
    }
    return text.toString();
  }
}
