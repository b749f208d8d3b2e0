package dev.doorbell.proxy;

import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.generated.CommandQueueView;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one queue of commands from GPU threads to the CPU.
 *
 * <p>Entries and the consumer's two counters lie in host memory, where the CPU polls and writes
 * cheaply; the counters are two cache lines apart from the entries and from each other. The counter
 * of finished commands may lie in GPU memory instead, where kernels poll cheaply. The producers'
 * counter and the descriptor lie in GPU memory. Everything starts zeroed.
 */
public final class CommandQueue implements AutoCloseable {
  public static final int MIN_ENTRIES = 1;

  /** The most entries of a queue: what the index in an entry still tells apart by far. */
  public static final int MAX_ENTRIES = 1 << 20;

  private static final int CONSUMED_OFFSET = 0;
  private static final int FINISHED_OFFSET = 128;
  private static final int COUNTERS_BYTES = 256;

  private final Memory ring;
  private final Memory counters;
  private final @Nullable Memory finished;
  private final Memory producer;
  private final Memory descriptor;
  private final CommandQueueView view;
  private final CommandFormat format;

  /**
   * Allocates a queue of {@link CommandFormat#FULL} entries with its counters in host memory.
   *
   * @param memory a GPU, which also pins host memory
   * @param entries a power of two
   * @param number which queue this is, for messages
   */
  public CommandQueue(MemoryProvider memory, int entries, int number) {
    this(memory, entries, number, CommandFormat.FULL, MemoryKind.HOST);
  }

  /**
   * Allocates a queue.
   *
   * @param memory a GPU, which also pins host memory
   * @param entries a power of two
   * @param number which queue this is, for messages
   * @param format of the entries
   * @param finishedIn memory of the counter of finished commands, which kernels wait for
   */
  public CommandQueue(
      MemoryProvider memory, int entries, int number, CommandFormat format, MemoryKind finishedIn) {
    if (entries < MIN_ENTRIES || entries > MAX_ENTRIES || (entries & (entries - 1)) != 0) {
      throw new IllegalArgumentException(
          "a command queue has a power of two of entries from %d to %d, not %d"
              .formatted(MIN_ENTRIES, MAX_ENTRIES, entries));
    }
    String name = "command queue " + number;
    ring =
        memory.allocate(
            MemoryKind.HOST, (long) entries * format.words() * Long.BYTES, name + " entries");
    counters = memory.allocate(MemoryKind.HOST, COUNTERS_BYTES, name + " consumer counters");
    finished =
        finishedIn == MemoryKind.HOST
            ? null
            : memory.allocate(finishedIn, Long.BYTES, name + " finished commands");
    producer =
        memory.allocate(
            MemoryKind.DEVICE, CommandEntry.PRODUCER_BYTES, name + " producer counters");
    descriptor = memory.allocate(MemoryKind.DEVICE, CommandQueueView.BYTES, name + " descriptor");
    view =
        new CommandQueueView(
            ring.address(),
            producer.address() + CommandEntry.PRODUCER_HEAD,
            counters.address() + CONSUMED_OFFSET,
            finished == null ? counters.address() + FINISHED_OFFSET : finished.address(),
            entries,
            number);
    this.format = format;
    descriptor.putBytes(0, view.encode());
  }

  /** The queue as kernels and the proxy agent see it. */
  public CommandQueueView view() {
    return view;
  }

  /** Layout of its entries. */
  public CommandFormat format() {
    return format;
  }

  /** Address of the descriptor in GPU memory, for {@code doorbell_qp.commands}. */
  public long descriptorAddress() {
    return descriptor.address();
  }

  /** Number of commands that were asked for since the start; a snapshot. */
  public long submitted() {
    return producer.getLong(CommandEntry.PRODUCER_HEAD);
  }

  /** Number of commands that the CPU has taken; a snapshot. */
  public long consumed() {
    return counters.getLong(CONSUMED_OFFSET);
  }

  /** Number of commands that have ended, well or not, in order; a snapshot. */
  public long finished() {
    return finishedWord() & ~CommandEntry.FINISHED_FAILED;
  }

  /** True when one of the finished commands failed. */
  public boolean failed() {
    return (finishedWord() & CommandEntry.FINISHED_FAILED) != 0;
  }

  private long finishedWord() {
    return finished == null ? counters.getLong(FINISHED_OFFSET) : finished.getLong(0);
  }

  /** True when a kernel gave up on an entry that it had claimed: the queue is dead. */
  public boolean poisoned() {
    return producer.getLong(CommandEntry.PRODUCER_POISONED) != 0;
  }

  @Override
  public void close() {
    descriptor.close();
    producer.close();
    if (finished != null) {
      finished.close();
    }
    counters.close();
    ring.close();
  }

  @Override
  public String toString() {
    return "command queue %d (%d entries: %d submitted, %d consumed, %d finished%s)"
        .formatted(
            view.number(),
            view.entries(),
            submitted(),
            consumed(),
            finished(),
            poisoned() ? ", poisoned" : failed() ? ", with failures" : "");
  }
}
