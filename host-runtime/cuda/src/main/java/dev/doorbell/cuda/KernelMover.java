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
 * carries them out in order, and counts them. On any {@link Gpu}.
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
    // One slot stays free: carriedOut() still looks at that of the last command carried out.
    while (transfer < to && posted - done < COMMANDS - 1) {
      long start = transfer;
      boolean write = isWrite(start);
      long bytes = size(transfer++);
      // Writes stay apart: each has a last word that is to come last.
      while (!write && transfer < to && goesOn(transfer)) {
        bytes += size(transfer++);
      }
      int slot = (int) posted & (COMMANDS - 1);
      long command = control + LIST_OFFSET + (long) slot * COMMAND_BYTES;
      RawMemory.putLong(command, write ? stage(start) : far(start));
      RawMemory.putLong(command + 8, write ? far(start) : stage(start));
      RawMemory.putLong(command + 16, write ? bytes | ORDERED : bytes);
      lastTransfer[slot] = transfer;
      posted++;
    }
    RawMemory.putLongRelease(control, posted);
    keepRunning(done);
    return transfer;
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
