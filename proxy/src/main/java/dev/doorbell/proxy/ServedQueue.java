package dev.doorbell.proxy;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.CommandQueueView;
import dev.doorbell.proxy.ProxyHandler.CommandResults;

/** A command queue as its one consumer sees it. */
final class ServedQueue {
  /** What {@link #read} found. */
  enum Look {
    COMMAND,
    NOTHING,
    PARKED
  }

  private final CommandQueueView queue;
  private final CommandFormat format;
  private final ProxyHandler handler;
  private final CommandProgress progress;
  private final CommandEntry command = new CommandEntry();
  private final long[] words;

  /** Words of the next entry that are there; they stay until it is consumed. */
  private int present;

  /** Words of the payload of an inline put that have been read. */
  private int gathered;

  private final long[] payload = new long[CommandEntry.INLINE_BYTES / Long.BYTES];

  private boolean held;
  private long ticket;
  private long consumed;
  private long published;

  ServedQueue(CommandQueue queue, ProxyHandler handler, CommandProgress progress) {
    this.queue = queue.view();
    this.format = queue.format();
    this.words = new long[format.words()];
    this.handler = handler;
    this.progress = progress;
    this.consumed = progress.taken();
    this.published = consumed;
  }

  ProxyHandler handler() {
    return handler;
  }

  /** True when a command was read that the handler had no room for. */
  boolean holdsCommand() {
    return held;
  }

  /** The command that was read last. */
  CommandEntry command() {
    return command;
  }

  /** Cache lines of an entry. */
  int lines() {
    return format.lines();
  }

  /** The ticket of the command that was read last. */
  long ticket() {
    return ticket;
  }

  /** Returns true if another command can be taken. */
  boolean hasRoom() {
    return progress.hasRoom();
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
    consumed++;
    ticket = progress.take();
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

  /** Offers the command that was read to the handler. */
  boolean offer(StoreList stores) {
    if (handler.accept(command, ticket, progress, stores)) {
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
    if (!progress.advance()) {
      return false;
    }
    long failed = progress.failed() ? CommandEntry.FINISHED_FAILED : 0;
    stores.store64(queue.finished(), progress.frontier() | failed, Access.RELEASE | Access.SYS);
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
            progress.frontier(),
            held ? ", waiting for room for " + command : "",
            handler);
  }

  /**
   * Which commands of one queue have been taken and have ended. Commands end in any order; the
   * frontier below which all of them have moves in order, and is what kernels see.
   */
  static final class CommandProgress implements CommandResults {
    private static final int MIN_CAPACITY = 1024;

    private final boolean[] ended;
    private final int mask;
    private final ProxyCounters counters;
    private long taken;
    private long frontier;
    private boolean failed;

    /**
     * @param entries of the queue, a power of two
     * @param start tickets below it have ended
     */
    CommandProgress(int entries, long start, ProxyCounters counters) {
      this.ended = new boolean[Math.max(entries, MIN_CAPACITY)];
      this.mask = ended.length - 1;
      this.taken = start;
      this.frontier = start;
      this.counters = counters;
    }

    /** Returns true if another command can be taken. */
    boolean hasRoom() {
      return taken - frontier < ended.length;
    }

    /** Takes the next command. */
    long take() {
      counters.commands++;
      long ticket = taken++;
      counters.highestOccupancy = Math.max(counters.highestOccupancy, taken - frontier);
      return ticket;
    }

    @Override
    public void finished(long ticket, boolean failed) {
      if (ticket < frontier || ticket >= taken || ended[(int) ticket & mask]) {
        throw new IllegalStateException(
            "command %d ended twice or was never taken (taken: below %d)".formatted(ticket, taken));
      }
      ended[(int) ticket & mask] = true;
      if (failed) {
        this.failed = true;
        counters.failed++;
      } else {
        counters.completed++;
      }
    }

    /** Moves the frontier on; true when it moved. */
    boolean advance() {
      long before = frontier;
      while (frontier < taken && ended[(int) frontier & mask]) {
        ended[(int) frontier & mask] = false;
        frontier++;
      }
      return frontier != before;
    }

    /** Every command below has ended. */
    long frontier() {
      return frontier;
    }

    /** True when a command failed. */
    boolean failed() {
      return failed;
    }

    /** Tickets below were taken. */
    long taken() {
      return taken;
    }
  }
}
