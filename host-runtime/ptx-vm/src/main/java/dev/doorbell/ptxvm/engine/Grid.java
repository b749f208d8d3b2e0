package dev.doorbell.ptxvm.engine;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A kernel that runs: its resident blocks, the blocks that still wait for room, its end.
 *
 * <p>What changes a grid happens on the host thread that runs the fabric; blocks live where their
 * {@link Home} is and tell it.
 */
public final class Grid {
  private static final int REPORTED_PLACES = 8;
  private static final int MOST_DOZES = 64;
  private static final int WORKSPACE_BYTES = 64;
  private static final int STEPS_BETWEEN_CLOCK_READS = 256;

  final KernelCode code;
  final Fabric fabric;
  final AddressSpace memory;
  final Locus locus;
  final GridShape shape;
  private final Settings settings;
  private final ScratchPool pool;
  private final long number;
  private final byte[] arguments;
  private final Runnable onEnd;
  private final List<Cta> resident = new ArrayList<>();
  private final StringBuilder output = new StringBuilder();
  final int clockMask;
  private @Nullable Allocation scratch;
  private @Nullable Allocation workspace;
  private long parameterBase;
  private Windows windows;
  private int nextBlock;
  private boolean started;
  private boolean ended;
  private @Nullable String failure;
  private long deadline;
  private final List<Home> homes = new ArrayList<>();
  private int leaving;
  private @Nullable Instrument instrument;

  /**
   * What a grid runs with.
   *
   * @param residentBlocks at most this many blocks at once
   * @param multiprocessors for {@code %nsmid}
   * @param pollNanos how long the fabric may park a thread that polls and watches the clock
   * @param compileAfter instructions that a kernel executes before it is compiled; the largest
   *     value means never
   * @param wide whether lanes that meet go on together, once compiled
   * @param workers host threads that may run blocks
   */
  public record Settings(
      int residentBlocks,
      int multiprocessors,
      long pollNanos,
      long compileAfter,
      boolean wide,
      int workers) {}

  /**
   * A grid that is not started yet.
   *
   * @param arguments the parameter block
   * @param pool where its windows come from
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
    this.code = code;
    this.fabric = fabric;
    this.memory = fabric.memory();
    this.locus = locus;
    this.shape = new GridShape(config);
    this.arguments = arguments;
    this.settings = settings;
    this.pool = pool;
    this.number = number;
    this.onEnd = onEnd;
    this.clockMask = fabric.basis() == Basis.EMULATED ? STEPS_BETWEEN_CLOCK_READS - 1 : 0;
    this.windows =
        Windows.of(
            0,
            code.sharedBytes() + config.dynamicSharedBytes(),
            code.localBytes(),
            shape.threads());
  }

  /** Tells {@code probe} of every instruction; before {@link #start}. */
  public void observe(Probe probe) {
    instrument = new Instrument(probe);
  }

  @Nullable Instrument instrument() {
    return instrument;
  }

  /** Starts the first blocks. */
  public void start() {
    int slots = Math.min(settings.residentBlocks, shape.config().blocks());
    long parameterBytes = (arguments.length + 255L) & -256L;
    started = true;
    try {
      Allocation windowsAndParameters =
          pool.take(
              Math.max(1, parameterBytes + slots * windows.bytes()),
              "parameters, shared and local memory of " + code.name());
      scratch = windowsAndParameters;
      if (shape.config().cooperative()) {
        workspace =
            memory.allocate(
                MemoryKind.DEVICE, locus, WORKSPACE_BYTES, "grid barrier of " + code.name());
      }
      parameterBase = windowsAndParameters.address();
      RawMemory.copyIn(MemorySegment.ofArray(arguments), 0, parameterBase, arguments.length);
    } catch (IllegalStateException e) {
      throw new GpuException("kernel %s: %s".formatted(code.name(), e.getMessage()), e);
    }
    deadline = fabric.now() + shape.config().timeoutNanos();
    if (instrument == null) {
      code.launching(fabric, settings.compileAfter, settings.wide);
    } else if (code.isCompiled()) {
      throw new GpuException(
          "kernel %s is compiled; to observe its instructions, open the GPU with the interpreter"
              .formatted(code.name()));
    }
    int workers = 1;
    // One thread counts what runs how often, or tells a probe.
    if (settings.workers > 1
        && code.counts == null
        && instrument == null
        && fabric instanceof DirectFabric direct) {
      workers = direct.workers(settings.workers);
    }
    for (int worker = 0; worker < workers; worker++) {
      homes.add(new Home(fabric, worker));
    }
    for (int i = 0; i < slots; i++) {
      startBlock(windows.at(parameterBase + parameterBytes + i * windows.bytes()));
    }
  }

  private void startBlock(Windows at) {
    resident.add(
        new Cta(this, nextBlock, at, homes.get((int) ((number + nextBlock) % homes.size()))));
    nextBlock++;
  }

  /** All threads of {@code cta} have exited: its place is free for the next block. */
  void ended(Cta cta) {
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

  /** What {@code printf} wrote. */
  public String output() {
    synchronized (output) {
      return output.toString();
    }
  }

  /** Instructions executed so far, all threads together. */
  public long instructions() {
    return homes.stream().mapToLong(home -> home.executed).sum();
  }

  /** Stops the kernel. */
  public void fail(String message) {
    if (!ended && failure == null) {
      failure = "kernel %s was stopped: %s".formatted(code.name(), message);
      List<Cta> blocks = List.copyOf(resident);
      leaving = blocks.size();
      for (Cta cta : blocks) {
        cta.home.tellBlock(
            () -> {
              cta.detach();
              cta.home.tellGrid(() -> left(cta));
            });
      }
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

  /** As {@link #fail(String)}, from where a block lives. */
  void fail(Home from, String message) {
    from.tellGrid(() -> fail(message));
  }

  void fail(VmThread thread, Op at, String what) {
    thread.waiting = true; // should its block live elsewhere, it takes no further step until told
    fail(thread.cta.home, "%s\n  at %s, %s".formatted(what, code.describe(at), thread.name()));
  }

  private void end() {
    ended = true;
    if (scratch != null) {
      pool.give(scratch);
      scratch = null;
    }
    if (workspace != null) {
      fabric.memory().free(workspace);
      workspace = null;
    }
    onEnd.run();
  }

  /** Stops the kernel when its time is over. */
  void watchClock(Home from) {
    if (fabric.now() - deadline >= 0) {
      from.tellGrid(
          () -> {
            if (!ended) {
              timeOut();
            }
          });
    }
  }

  private void timeOut() {
    fail(
        "it did not end within %s; %s".formatted(duration(shape.config().timeoutNanos()), waits()));
  }

  private static String duration(long nanos) {
    return nanos >= 1_000_000_000L
        ? "%.3g s".formatted(nanos / 1e9)
        : nanos >= 1_000_000L ? "%.3g ms".formatted(nanos / 1e6) : nanos + " ns";
  }

  /** What the threads are at: how many at which place, and one of them by name. */
  String waits() {
    Map<String, List<VmThread>> places = new LinkedHashMap<>();
    for (Cta cta : resident) {
      for (VmThread thread : cta.threads) {
        Op at = thread.op;
        if (!thread.exited && at != null) {
          String state =
              thread.waiting ? "waiting at " : thread.idle ? "polling at " : "running at ";
          places.computeIfAbsent(state + code.describe(at), key -> new ArrayList<>()).add(thread);
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

  void print(String text) {
    synchronized (output) {
      output.append(text);
    }
  }

  /**
   * The address of memory that the blocks of a cooperative grid share, all zero at first; 0 for
   * other grids. Cooperative groups keep the barrier of the grid there.
   */
  long workspace() {
    return workspace == null ? 0 : workspace.address();
  }

  long parameterBase() {
    return parameterBase;
  }

  /** How long a thread that polls may be parked; never beyond the kernel's end. */
  long pollNanos(int doublings) {
    if (isEmulated()) {
      return settings.pollNanos; // real time passes by itself; looking at it costs more than a poll
    }
    long left = Math.max(1, deadline - fabric.now());
    return Math.min(settings.pollNanos << doublings, left);
  }

  /**
   * How many steps a thread may sit out while the cells that it polls stay as they are. In virtual
   * time the fabric knows better.
   */
  int dozes() {
    return isEmulated() ? MOST_DOZES : 0;
  }

  /** True when real time passes by itself, and waiting costs none of a modelled GPU's. */
  boolean isEmulated() {
    return clockMask != 0;
  }

  int multiprocessors() {
    return settings.multiprocessors;
  }

  long number() {
    return number;
  }
}
