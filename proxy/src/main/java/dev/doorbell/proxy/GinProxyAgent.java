package dev.doorbell.proxy;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.proxy.ProxyHandler.CommandResults;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/**
 * The CPU thread behind NCCL's GIN, back end Proxy: it takes the descriptors that kernels write to
 * a queue for each peer, posts them, and counts what has ended.
 *
 * <p>A round takes one descriptor of each queue at most, zeroes it, posts its operations, rings,
 * looks at completions, raises the counters that descriptors name, and raises each queue's count of
 * ended descriptors, by a release: the order of src/gin/gin_host_proxy.cc of NCCL 2.30. Descriptors
 * of a queue end in order. A flush has ended when those before it have: what a READ brought is
 * visible before the completion that says so.
 *
 * <p>Behind a failed operation no descriptor of its queue ends; the error record says why.
 */
public final class GinProxyAgent extends RoundAgent {
  /** Keys of a window: of the own memory, and of that of the queue's peer. */
  public record Window(int localKey, int remoteKey) {}

  /**
   * A queue of descriptors.
   *
   * @param ring descriptors of {@link GinFormat}, zeroed
   * @param entries a power of two
   * @param ended the 32-bit word that counts ended descriptors
   * @param counters words of 64 bits that descriptors count in by number
   * @param signals the peer's signal words, by number
   * @param signalKey names them
   * @param sink a word that fetched values go to
   * @param sinkKey names it
   * @param windows the keys of a window's handle
   */
  public record Queue(
      long ring,
      int entries,
      long ended,
      long counters,
      long signals,
      int signalKey,
      long sink,
      int sinkKey,
      LongFunction<Window> windows) {}

  private enum Stage {
    TAKE,
    RING,
    POLL,
    COUNT,
    PUBLISH
  }

  private final List<Served> queues = new ArrayList<>();
  private final ProxyCounters counters = new ProxyCounters();

  private Stage stage = Stage.TAKE;
  private int turn;
  private int roundWork;

  /** Adds the agent to {@code fabric}, on the CPU at {@code locus}. */
  public GinProxyAgent(Fabric fabric, Locus locus, ProxyPrices prices) {
    super(fabric, locus, prices);
  }

  /**
   * Serves a queue from now on.
   *
   * @param format of its descriptors; this queue's alone
   * @param queuePair leads to the queue's peer, which may be the own rank
   */
  public void serve(Queue queue, GinFormat format, SendQueueAccess queuePair) {
    SendQueuePoster poster = new SendQueuePoster(queuePair, prices, Chaining.BY_ROUND, counters);
    queues.add(new Served(queue, format, poster));
    fabric.wake(this);
  }

  @Override
  public int step(int budget) {
    while (mayContinue()) {
      switch (stage) {
        case TAKE -> {
          if (parks(take())) {
            return 0;
          }
          stage = Stage.RING;
        }
        case RING -> {
          queues.forEach(Served::ring);
          stage = Stage.POLL;
        }
        case POLL -> {
          if (parks(poll())) {
            return 0;
          }
          stage = Stage.COUNT;
        }
        case COUNT -> {
          // One counter at a time: the next load may be of the same one.
          int raised = count();
          if (parks(raised != ProxyHandler.PARKED)) {
            return 0;
          }
          stage = raised != 0 ? Stage.COUNT : Stage.PUBLISH;
        }
        case PUBLISH -> {
          queues.forEach(Served::publish);
          stage = Stage.TAKE;
          int work = roundWork;
          roundWork = 0;
          if (work == 0) {
            port.pollFailed(IDLE_NANOS);
            return 0;
          }
          if (stores.drain(port)) {
            return work;
          }
          return 0;
        }
      }
    }
    return 0;
  }

  private boolean parks(boolean through) {
    loadParked = !through;
    return loadParked;
  }

  /** Takes a descriptor of each queue; false when the port parked the thread. */
  private boolean take() {
    while (turn < queues.size()) {
      Served queue = queues.get(turn);
      if (!queue.holds() && !queue.read()) {
        if (port.parked) {
          return false;
        }
        turn++;
        continue;
      }
      queue.post();
      turn++;
    }
    turn = 0;
    return true;
  }

  private boolean poll() {
    while (turn < queues.size()) {
      int found = queues.get(turn).poll();
      if (found == ProxyHandler.PARKED) {
        return false;
      }
      roundWork += found;
      turn++;
    }
    turn = 0;
    return true;
  }

  /** Raises the next counter: 1; 0 where there is none left; or {@link ProxyHandler#PARKED}. */
  private int count() {
    for (Served queue : queues) {
      int raised = queue.count();
      if (raised != 0) {
        return raised;
      }
    }
    return 0;
  }

  @Override
  public String where() {
    return "GIN proxy at %s, %s: %s".formatted(locus, stage, queues);
  }

  private final class Served implements CommandResults {
    private final Queue queue;
    private final GinFormat format;
    private final SendQueuePoster poster;
    private final boolean[] done;
    private final int[] counter;
    private final CommandEntry[] commands = {new CommandEntry(), new CommandEntry()};

    /** An operation whose end says nothing about its descriptor. */
    private final CommandResults part =
        (_, failed) -> {
          this.failed |= failed;
          roundWork++;
        };

    /** Operations of the descriptor that was read, and those of them that are posted. */
    private int all;

    private int posted;

    /** Words of the next descriptor that are read. */
    private int present;

    /** Descriptors that were read, that have been counted, and that are published as ended. */
    private long taken;

    private long counted;
    private long published;
    private boolean failed;

    Served(Queue queue, GinFormat format, SendQueuePoster poster) {
      this.queue = queue;
      this.format = format;
      this.poster = poster;
      this.done = new boolean[queue.entries];
      this.counter = new int[queue.entries];
    }

    /** Returns true if operations of the last descriptor wait for room. */
    boolean holds() {
      return posted < all;
    }

    /** Reads the next descriptor; false where it is not there, or the port parked the thread. */
    boolean read() {
      int slot = (int) taken & (queue.entries - 1);
      long at = queue.ring + (long) slot * GinFormat.WORDS * Long.BYTES;
      while (present < GinFormat.WORDS) {
        long low = port.load128(at + (long) present * Long.BYTES, Access.ACQUIRE | Access.SYS);
        if (port.parked) {
          return false;
        }
        long high = port.high;
        if (!GinFormat.isThere(low) || !GinFormat.isThere(high)) {
          return false;
        }
        format.set(present, low);
        format.set(present + 1, high);
        present += 2;
      }
      present = 0;
      if (format.unknownVersion() != 0) {
        throw new IllegalStateException(
            "a descriptor of GIN's proxy has version %d, and %s are known"
                .formatted(format.unknownVersion(), "1 and 2"));
      }
      if (roundWork++ == 0) {
        stores.spend(prices.pollNanos());
      }
      stores.spend(2 * prices.lineNanos());
      for (int word = 0; word < GinFormat.WORDS; word += 2) {
        stores.store128(at + (long) word * Long.BYTES, 0, 0, Access.RELAXED | Access.SYS);
      }
      counter[slot] = format.has(GinFormat.Bit.COUNTER) ? format.counter() : -1;
      done[slot] = false;
      posted = 0;
      all = decode();
      if (all == 0) {
        done[slot] = true;
      }
      taken++;
      return true;
    }

    /** Writes the operations of the descriptor to {@link #commands}; returns how many. */
    private int decode() {
      if (format.has(GinFormat.Bit.FLUSH)) {
        return 0;
      }
      if (format.has(GinFormat.Bit.SIGNAL_ALONE)) {
        signal(
            commands[0],
            format.number(GinFormat.Word.SIGNAL),
            queue.windows.apply(format.number(GinFormat.Word.SIGNAL_WINDOW)).remoteKey());
        return 1;
      }
      transfer(commands[0]);
      if (!format.has(GinFormat.Bit.INCREMENT) && !format.has(GinFormat.Bit.ADD)) {
        return 1;
      }
      signal(commands[1], queue.signals + (long) format.signal() * Long.BYTES, queue.signalKey);
      return 2;
    }

    private void transfer(CommandEntry into) {
      Window target = queue.windows.apply(format.number(GinFormat.Word.TARGET_WINDOW));
      long to = format.number(GinFormat.Word.TARGET);
      into.length = format.bytes();
      if (format.has(GinFormat.Bit.INLINE)) {
        into.opcode = CommandEntry.OP_PUT_INLINE;
        into.localAddress = format.inline();
        into.remoteAddress = to;
        into.remoteKey = target.remoteKey();
        return;
      }
      long from = format.number(GinFormat.Word.SOURCE);
      if (into.length == 0) {
        into.opcode = CommandEntry.OP_NOP;
        return;
      }
      Window source = queue.windows.apply(format.number(GinFormat.Word.SOURCE_WINDOW));
      boolean get = format.has(GinFormat.Bit.GET);
      into.opcode = get ? CommandEntry.OP_GET : CommandEntry.OP_PUT;
      into.localAddress = get ? to : from;
      into.localKey = get ? target.localKey() : source.localKey();
      into.remoteAddress = get ? from : to;
      into.remoteKey = get ? source.remoteKey() : target.remoteKey();
    }

    private void signal(CommandEntry into, long address, int key) {
      into.opcode = CommandEntry.OP_FETCH_ADD;
      into.length = Long.BYTES;
      into.remoteAddress = address;
      into.remoteKey = key;
      into.localAddress = queue.sink;
      into.localKey = queue.sinkKey;
      into.operand = format.value();
    }

    void post() {
      while (posted < all) {
        long ticket = taken - 1;
        CommandResults to = posted == all - 1 ? this : part;
        SendQueuePoster.Outcome outcome = poster.post(commands[posted], ticket, to, stores);
        if (outcome == SendQueuePoster.Outcome.BUSY) {
          return;
        }
        failed |= outcome != SendQueuePoster.Outcome.POSTED;
        posted++;
        roundWork++;
      }
    }

    void ring() {
      poster.ring(stores);
    }

    int poll() {
      return poster.poll(port, stores);
    }

    @Override
    public void finished(long ticket, boolean wrong) {
      failed |= wrong;
      done[(int) ticket & (queue.entries - 1)] = true;
    }

    /** Acts as {@link GinProxyAgent#count}, for this queue. */
    int count() {
      while (counted < taken && done[(int) counted & (queue.entries - 1)] && !failed) {
        int number = counter[(int) counted & (queue.entries - 1)];
        if (number >= 0) {
          long at = queue.counters + (long) number * Long.BYTES;
          long before = port.load64(at, Access.RELAXED | Access.SYS);
          if (port.parked) {
            return ProxyHandler.PARKED;
          }
          stores.store64(at, before + 1, Access.RELAXED | Access.SYS);
        }
        counted++;
        roundWork++;
        if (number >= 0) {
          return 1;
        }
      }
      return 0;
    }

    void publish() {
      if (published != counted) {
        stores.store32(queue.ended, (int) counted, Access.RELEASE | Access.SYS);
        published = counted;
      }
    }

    @Override
    public String toString() {
      return "%d descriptors taken, %d ended%s"
          .formatted(taken, published, failed ? ", then one failed" : "");
    }
  }
}
