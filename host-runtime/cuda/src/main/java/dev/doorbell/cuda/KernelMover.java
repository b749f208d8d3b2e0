package dev.doorbell.cuda;

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
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes by a kernel that one multiprocessor runs: it polls a list of copies in pinned memory,
 * carries them out, several at a time, and counts them. On any {@link Gpu}.
 *
 * <p>Copies are cut into pieces, a warp's work each. The kernel carries out at the same time what
 * the list does not tell apart: a copy that touches what an earlier one writes, or writes what an
 * earlier one reads, and one whose last bytes cannot be held back, has to wait for those before it.
 *
 * <p>The kernel ends by itself when nothing has come for a while, because calls of the driver that
 * wait for the device would wait for it too; the next transfer starts it again.
 */
public final class KernelMover extends StagedMover {
  /** Entries of the list, as {@code mover.ptx} knows. */
  private static final int COMMANDS = 1024;

  private static final int COMMAND_BYTES = 32;
  private static final int DONE_OFFSET = 64;
  private static final int LIST_OFFSET = 128;
  private static final int STAGING_OFFSET = LIST_OFFSET + COMMANDS * COMMAND_BYTES;

  /** In the word that holds a command's size: its last 8 bytes come last. */
  private static final long ORDERED = 1L << 63;

  /** There, too: not at the same time as those before it. */
  private static final long APART = 1L << 62;

  /** What one warp copies in one trip. */
  private static final int PIECE = 4096;

  /** Reads that follow each other are put together up to this. */
  private static final int LONGEST_RUN = 64 << 10;

  /** Most commands that the kernel carries out at the same time. */
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

  // Where on the GPU the commands since the last that was told apart go: the newest of them.
  private final long[] groupStart = new long[GROUP];
  private final long[] groupEnd = new long[GROUP];
  private final boolean[] groupWrites = new boolean[GROUP];
  private long group;
  private boolean apartNext;
  private @Nullable Launch launch;
  private long launches;

  /**
   * Makes a mover; its kernel starts with the first transfer.
   *
   * @param threads of the one block; a multiple of 32
   * @param stagingBytes pinned memory that transfers pass through
   * @param idleNanos after which the kernel ends, on the GPU's clock
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
    try (InputStream in = KernelMover.class.getResourceAsStream("mover.ptx")) {
      if (in == null) {
        throw new IllegalStateException("mover.ptx is not in this build");
      }
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  long hand(long from, long to) {
    long done = RawMemory.getLongAcquire(control + DONE_OFFSET);
    long transfer = from;
    while (transfer < to) {
      long start = transfer;
      boolean write = isWrite(start);
      long bytes = size(transfer++);
      // Writes stay apart: each has a last word that is to come last.
      while (!write && transfer < to && bytes < LONGEST_RUN && goesOn(transfer)) {
        bytes += size(transfer++);
      }
      // One slot stays free: carriedOut() still looks at that of the last command carried out.
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

  /** Puts transfers into the list that are one copy, in pieces. */
  private void post(long start, long end, long bytes, boolean write) {
    long here = stage(start);
    long there = far(start);
    boolean heldBack = write && bytes >= Long.BYTES && (there + bytes & Long.BYTES - 1) == 0;
    for (long at = 0; at < bytes; at += PIECE) {
      long piece = Math.min(PIECE, bytes - at);
      boolean last = at + piece == bytes;
      boolean apart = tellApart(there + at, piece, write, write && !heldBack);
      int slot = (int) posted & (COMMANDS - 1);
      long command = control + LIST_OFFSET + (long) slot * COMMAND_BYTES;
      RawMemory.putLong(command, (write ? here : there) + at);
      RawMemory.putLong(command + 8, (write ? there : here) + at);
      RawMemory.putLong(
          command + 16, piece | (heldBack && last ? ORDERED : 0) | (apart ? APART : 0));
      lastTransfer[slot] = last ? end : start;
      posted++;
    }
  }

  /**
   * Whether a command must not be carried out at the same time as those before it.
   *
   * @param alone nor those after it at the same time as it
   */
  private boolean tellApart(long address, long bytes, boolean write, boolean alone) {
    boolean apart = apartNext || alone;
    int known = (int) Math.min(group, GROUP);
    for (int i = 0; i < known && !apart; i++) {
      apart = (write || groupWrites[i]) && address < groupEnd[i] && groupStart[i] < address + bytes;
    }
    if (apart) {
      group = 0;
    }
    int place = (int) group++ & (GROUP - 1);
    groupStart[place] = address;
    groupEnd[place] = address + bytes;
    groupWrites[place] = write;
    apartNext = alone;
    return apart;
  }

  @Override
  long carriedOut() {
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
      // It may have got further while it was asked about.
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
    launches++;
    launch =
        gpu.launch(
            kernel,
            config,
            new KernelArguments().add(control).add(control + LIST_OFFSET).add(done).add(idleNanos),
            stream);
  }

  /** How often the kernel was started. */
  public long launches() {
    return launches;
  }

  /**
   * Waits for the kernel and gives back its memory.
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
