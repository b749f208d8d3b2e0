package dev.doorbell.proxy;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.generated.CommandQueueView;
import dev.doorbell.proxy.ProxyHandler.CommandResults;

/**
 * A command queue as its one consumer sees it, and which of its commands have ended. Commands end
 * in any order; the frontier below which all of them have moves in order, and is what kernels see.
 */
final class ServedQueue implements CommandResults {
  private static final int MIN_CAPACITY = 1024;

  enum Look {
    COMMAND,
    NOTHING,
    PARKED
  }

  private final CommandQueueView queue;
  private final CommandFormat format;
  final ProxyHandler handler;
  private final ProxyCounters counters;

  /** Commands from the frontier on that have ended. */
  private final boolean[] ended;

  /** Every command below has ended; commands below {@link #consumed} were taken. */
  private long frontier;

  private boolean failed;

  final CommandEntry command = new CommandEntry();

  private final long[] words;

  /** Words of the next entry that are there; they stay until it is consumed. */
  private int present;

  /** Words of the payload of an inline put that have been read. */
  private int gathered;

  private final long[] payload = new long[CommandEntry.INLINE_BYTES / Long.BYTES];

  /** True when a command was read that the handler had no room for. */
  boolean held;

  long ticket;

  private long consumed;
  private long published;

  ServedQueue(CommandQueue queue, ProxyHandler handler, long start, ProxyCounters counters) {
    this.queue = queue.view();
    this.format = queue.format();
    this.words = new long[format.words()];
    this.handler = handler;
    this.counters = counters;
    this.ended = new boolean[Math.max(this.queue.entries(), MIN_CAPACITY)];
    this.consumed = start;
    this.published = start;
    this.frontier = start;
  }

  /**
   * Cache lines that the last command brought into the CPU's cache: none where it shares one with
   * the command before it.
   *
   * @param first whether it is the first one that was taken at a time
   */
  int lines(boolean first) {
    long offset = ticket * format.words() * Long.BYTES;
    return first || offset % CommandFormat.LINE_BYTES == 0 ? format.lines() : 0;
  }

  boolean hasRoom() {
    return consumed - frontier < ended.length;
  }

  /** Reads the next entry; {@link Look#PARKED}: call again when stepped again. */
  Look read(ThreadPort port) {
    long phase = CommandEntry.phase(consumed, queue.entries());
    int all = format.words();
    long entry = queue.ring() + (consumed & (queue.entries() - 1)) * all * Long.BYTES;
    while (present < all) {
      long low = port.load128(entry + (long) present * Long.BYTES, Access.ACQUIRE | Access.SYS);
      if (port.parked) {
        return Look.PARKED;
      }
      long high = port.high;
      if (!CommandEntry.present(low, phase) || !CommandEntry.present(high, phase)) {
        return Look.NOTHING;
      }
      words[present] = low;
      words[present + 1] = high;
      present += 2;
    }
    if (!format.isFor(words, consumed)) {
      throw new IllegalStateException(
          "command queue %d: entry %d was written for another index (its last word is 0x%x); a producer overran the queue, or its head and the consumer did not start together. Commands are lost. Write only entries that credits cover, and make a new queue after a poisoned one."
              .formatted(queue.number(), consumed, words[all - 1]));
    }
    format.decode(words, command);
    if (!gather(port)) {
      return Look.PARKED;
    }
    present = 0;
    gathered = 0;
    ticket = consumed++;
    counters.commands++;
    held = true;
    return Look.COMMAND;
  }

  /**
   * Copies the payload of an inline put into the command; false when the port parked the thread.
   */
  private boolean gather(ThreadPort port) {
    long from = format.payload(command);
    if (from == 0 || command.length > CommandEntry.INLINE_BYTES) {
      return true;
    }
    int all = (command.length + Long.BYTES - 1) / Long.BYTES;
    while (gathered < all) {
      long word = port.load64(from + (long) gathered * Long.BYTES, Access.RELAXED | Access.SYS);
      if (port.parked) {
        return false;
      }
      payload[gathered++] = word;
    }
    command.localAddress = payload[0];
    command.operand = payload[1];
    command.compare = payload[2];
    return true;
  }

  private int slot(long number) {
    return (int) number & (ended.length - 1);
  }

  @Override
  public void finished(long number, boolean wrong) {
    if (number < frontier || number >= consumed || ended[slot(number)]) {
      throw new IllegalStateException(
          "command %d ended twice or was never taken (taken: below %d)"
              .formatted(number, consumed));
    }
    ended[slot(number)] = true;
    failed |= wrong;
    if (wrong) {
      counters.failed++;
    } else {
      counters.completed++;
    }
  }

  boolean offer(StoreList stores) {
    if (handler.accept(command, ticket, this, stores)) {
      held = false;
      return true;
    }
    return false;
  }

  /** Gives entries that were read back to the producers. */
  void publishConsumed(StoreList stores) {
    if (published != consumed) {
      stores.store64(queue.consumed(), consumed, Access.RELEASE | Access.SYS);
      published = consumed;
    }
  }

  /** Publishes how many commands have ended; returns true if that has changed. */
  boolean publishFinished(StoreList stores) {
    long before = frontier;
    while (frontier < consumed && ended[slot(frontier)]) {
      ended[slot(frontier++)] = false;
    }
    if (frontier == before) {
      return false;
    }
    long flag = failed ? CommandEntry.FINISHED_FAILED : 0;
    stores.store64(queue.finished(), frontier | flag, Access.RELEASE | Access.SYS);
    return true;
  }

  @Override
  public String toString() {
    return "command queue %d: next entry %d (%d of %d words there), %d finished%s; %s"
        .formatted(
            queue.number(),
            consumed,
            present,
            format.words(),
            frontier,
            held ? ", waiting for room for " + command : "",
            handler);
  }
}
