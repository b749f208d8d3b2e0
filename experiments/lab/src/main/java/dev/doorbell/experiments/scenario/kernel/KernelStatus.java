package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.generated.ErrorRecord;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** The status words of a kernel's threads: what {@code doorbell_job.status} points to. */
public final class KernelStatus implements AutoCloseable {
  private static final ValueLayout.OfInt WORD =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Memory words;

  /** A word for each thread, none of them written yet. */
  public KernelStatus(Gpu gpu, long threads) {
    words = gpu.allocate(MemoryKind.DEVICE, Integer.BYTES * threads, "status");
    reset();
  }

  /** Forgets what the threads have written. */
  public void reset() {
    words.fill(0, words.size(), (byte) 0xff);
  }

  /** Address of the first word. */
  public long address() {
    return words.address();
  }

  /**
   * The number of the first thread whose word is not ok, or -1. A thread that met an error of its
   * own comes before those that found a queue pair which another thread's error had poisoned.
   */
  private int firstThread(MemorySegment all) {
    int poisoned = -1;
    for (int thread = 0; thread < words.size() / Integer.BYTES; thread++) {
      int word = all.get(WORD, (long) thread * Integer.BYTES);
      if (word != Abi.OK && word != Abi.ERROR_POISONED) {
        return thread;
      }
      poisoned = poisoned < 0 && word != Abi.OK ? thread : poisoned;
    }
    return poisoned;
  }

  private MemorySegment read() {
    return MemorySegment.ofArray(words.getBytes(0, (int) words.size()));
  }

  /** The first word that is not ok, or {@link Abi#OK}. */
  public int first() {
    MemorySegment all = read();
    int thread = firstThread(all);
    return thread < 0 ? Abi.OK : all.get(WORD, (long) thread * Integer.BYTES);
  }

  /**
   * The first error in words, or null.
   *
   * @param owner of the threads, such as {@code rank 0}
   */
  public @Nullable String firstError(String owner) {
    MemorySegment all = read();
    int thread = firstThread(all);
    return thread < 0
        ? null
        : "thread %d of %s: %s"
            .formatted(thread, owner, Abi.statusText(all.get(WORD, (long) thread * Integer.BYTES)));
  }

  /** The first error record that a thread has left, in parentheses, or an empty text. */
  public static String errorText(Iterable<ErrorRecord> records) {
    for (ErrorRecord error : records) {
      if (error.status() != Abi.OK) {
        return " (queue pair 0x%x, syndrome 0x%02x, WQE %d, waited for %d, completed %d)"
            .formatted(
                error.number24(),
                error.syndrome(),
                error.wqeIndex(),
                error.awaited(),
                error.completed());
      }
    }
    return "";
  }

  @Override
  public void close() {
    words.close();
  }
}
