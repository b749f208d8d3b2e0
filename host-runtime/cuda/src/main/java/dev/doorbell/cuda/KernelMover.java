package dev.doorbell.cuda;

import dev.doorbell.core.Resources;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes by a kernel on one multiprocessor of any {@link Gpu}: it polls a list of copies in
 * pinned memory, executes several of them concurrently, and counts them.
 *
 * <p>Copies are cut into pieces, one for a warp. The kernel executes pieces concurrently unless one
 * is marked as isolated, which waits for those before it: a copy that overlaps an earlier write, a
 * write that overlaps an earlier read, and a write whose last bytes cannot be held back.
 *
 * <p>The kernel ends by itself when it has been idle for a while, because calls of the driver that
 * wait for the device would wait for it too; the next transfer starts it again.
 */
public final class KernelMover extends StagedMover {
  /** Entries of the list; {@code mover.ptx} has the same constant. */
  private static final int COMMANDS = 1024;

  private static final int COMMAND_BYTES = 32;
  private static final int DONE_OFFSET = 64;
  private static final int LIST_OFFSET = 128;
  private static final int STAGING_OFFSET = LIST_OFFSET + COMMANDS * COMMAND_BYTES;

  /** Flag in the word with a command's size: its last 8 bytes are written last. */
  private static final long ORDERED = 1L << 63;

  /** Flag in the same word: not concurrent with the commands before it. */
  private static final long ISOLATED = 1L << 62;

  /** Bytes that one warp copies per command. */
  private static final int PIECE = 4096;

  /** Contiguous reads are merged up to this many bytes. */
  private static final int LONGEST_RUN = 64 << 10;

  /** Most commands that the kernel executes concurrently. */
  private static final int GROUP = 32;

  private static final long RUNS_NANOS = 600_000_000_000L;

  private final Gpu gpu;
  private final Memory memory;
  private final long control;
  private final GpuModule module;
  private final Kernel kernel;
  private final GpuStream stream;
  private final LaunchConfig config;
  private final long idleNanos;
  private final long[] lastTransfer = new long[COMMANDS];
  private long posted;

  // GPU ranges of the newest commands since the last isolated one.
  private final long[] groupStart = new long[GROUP];
  private final long[] groupEnd = new long[GROUP];
  private final boolean[] groupWrites = new boolean[GROUP];
  private long group;
  private boolean isolateNext;
  private @Nullable Launch launch;

  /**
   * Creates a mover, whose kernel starts with the first transfer.
   *
   * @param threads size of the block; a multiple of 32
   * @param stagingBytes pinned memory that transfers pass through
   * @param idleNanos idle time after which the kernel ends, on the GPU's clock
   */
  public KernelMover(Gpu gpu, int threads, int stagingBytes, long idleNanos) {
    this(
        gpu,
        gpu.allocate(MemoryKind.HOST, STAGING_OFFSET + (long) stagingBytes, "mover"),
        threads,
        stagingBytes,
        idleNanos);
  }

  private KernelMover(Gpu gpu, Memory memory, int threads, int stagingBytes, long idleNanos) {
    super(memory.address() + STAGING_OFFSET, stagingBytes);
    this.gpu = gpu;
    this.memory = memory;
    this.control = memory.address();
    this.idleNanos = idleNanos;
    this.module = gpu.load("mover.ptx", ptx());
    this.kernel = module.kernel("doorbell_mover");
    this.stream = gpu.createStream();
    this.config = LaunchConfig.of(1, threads).withTimeout(RUNS_NANOS);
  }

  private static String ptx() {
    return Resources.text(KernelMover.class, "mover.ptx");
  }

  @Override
  long submit(long from, long to) {
    long done = RawMemory.getLongAcquire(control + DONE_OFFSET);
    long transfer = from;
    while (transfer < to) {
      long start = transfer;
      boolean write = isWrite(start);
      long bytes = size(transfer++);
      // Writes are not merged: each has a last word that is written last.
      while (!write && transfer < to && bytes < LONGEST_RUN && isContiguous(transfer)) {
        bytes += size(transfer++);
      }
      // One slot stays free: executed() reads that of the last executed command.
      if (posted - done + (bytes + PIECE - 1) / PIECE >= COMMANDS) {
        transfer = start;
        break;
      }
      post(start, transfer, bytes, write);
    }
    RawMemory.putLongRelease(control, posted);
    keepRunning(done);
    return transfer;
  }

  /** Adds contiguous transfers to the list as one copy, in pieces. */
  private void post(long start, long end, long bytes, boolean write) {
    long here = stage(start);
    long there = far(start);
    boolean heldBack = write && bytes >= Long.BYTES && (there + bytes & Long.BYTES - 1) == 0;
    for (long at = 0; at < bytes; at += PIECE) {
      long piece = Math.min(PIECE, bytes - at);
      boolean last = at + piece == bytes;
      boolean isolated = isolates(there + at, piece, write, write && !heldBack);
      int slot = (int) posted & (COMMANDS - 1);
      long command = control + LIST_OFFSET + (long) slot * COMMAND_BYTES;
      RawMemory.putLong(command, (write ? here : there) + at);
      RawMemory.putLong(command + 8, (write ? there : here) + at);
      RawMemory.putLong(
          command + 16, piece | (heldBack && last ? ORDERED : 0) | (isolated ? ISOLATED : 0));
      lastTransfer[slot] = last ? end : start;
      posted++;
    }
  }

  /**
   * Returns true if a command must not run concurrently with those before it.
   *
   * @param alone nor those after it concurrently with it
   */
  private boolean isolates(long address, long bytes, boolean write, boolean alone) {
    boolean isolated = isolateNext || alone;
    int known = (int) Math.min(group, GROUP);
    for (int i = 0; i < known && !isolated; i++) {
      isolated =
          (write || groupWrites[i]) && address < groupEnd[i] && groupStart[i] < address + bytes;
    }
    if (isolated) {
      group = 0;
    }
    int place = (int) group++ & (GROUP - 1);
    groupStart[place] = address;
    groupEnd[place] = address + bytes;
    groupWrites[place] = write;
    isolateNext = alone;
    return isolated;
  }

  @Override
  long executed() {
    long done = RawMemory.getLongAcquire(control + DONE_OFFSET);
    if (done < posted) {
      keepRunning(done);
    }
    return done == 0 ? 0 : lastTransfer[(int) (done - 1) & (COMMANDS - 1)];
  }

  private void keepRunning(long done) {
    Launch running = launch;
    if (running != null && !running.done()) {
      return;
    }
    if (running != null) {
      running.check();
      // It may have made progress before it ended.
      long since = RawMemory.getLongAcquire(control + DONE_OFFSET);
      if (since == posted) {
        launch = null;
        return;
      }
      start(since);
    } else {
      start(done);
    }
  }

  private void start(long done) {
    launch =
        gpu.launch(
            kernel,
            config,
            new KernelArguments().add(control).add(control + LIST_OFFSET).add(done).add(idleNanos),
            stream);
  }

  /**
   * Waits for the kernel and frees its memory.
   *
   * @throws GpuException when the kernel does not end
   */
  @Override
  public void close() {
    Launch running = launch;
    if (running != null) {
      long deadline = System.nanoTime() + 10 * idleNanos + 1_000_000_000L;
      while (!running.done() && System.nanoTime() - deadline < 0) {
        Thread.onSpinWait();
      }
      if (!running.done()) {
        running.cancel("its GPU is closed");
      }
    }
    stream.close();
    if (running == null || running.done()) {
      module.close();
    }
    memory.close();
  }

  @Override
  public String where() {
    return "mover kernel of " + gpu.locus();
  }
}
