package dev.doorbell.proxy;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.proxy.ProxyHandler.CommandResults;

/**
 * A host thread that puts the same message again and again, with nothing between it and the queue
 * pair: as perftest's ib_write_lat and ib_write_bw do. Without an inbox it awaits CQEs; with one it
 * exchanges the message with a peer that runs the same, each put answering the one before.
 */
public final class HostPutLoop extends RoundAgent {
  /**
   * Task of the thread.
   *
   * @param put the message; an inline one of up to {@link CommandEntry#INLINE_BYTES}
   * @param turns puts
   * @param window puts in flight; with an inbox one
   * @param answers whether each put waits for one of the peer, rather than the other way round
   * @param inbox address of the last word of the peer's message in host memory, which counts its
   *     puts; 0: there is no peer
   * @param outgoing address of the last word of the own message in host memory, which counts the
   *     puts; 0: it is inline
   */
  public record Task(
      CommandEntry put, int turns, int window, boolean answers, long inbox, long outgoing) {
    /** Puts without a peer. */
    public static Task puts(CommandEntry put, int turns, int window) {
      return new Task(put, turns, window, false, 0, 0);
    }

    boolean pingPong() {
      return inbox != 0;
    }
  }

  private enum Stage {
    AWAIT,
    POST,
    RUNG,
    POLL,
    COMPLETED,
    ARRIVED,
    DONE
  }

  private final Chaining chaining;
  private final Task task;
  private final SendQueuePoster poster;
  private final CommandResults results = this::ended;
  private final CommandEntry command = new CommandEntry();
  private final long[] starts;
  private final long[] posts;
  private final long[] ends;

  private Stage stage;

  /** Nothing more can be posted before something has ended. */
  private boolean full;

  private int posted;
  private int ended;
  private int noted;
  private boolean failed;

  /**
   * Adds the thread to {@code fabric}.
   *
   * @param locus the CPU it runs on
   * @param prices what its own work costs in virtual time, beyond what the fabric charges
   * @param chaining of its WQEs
   */
  public HostPutLoop(
      Fabric fabric,
      Locus locus,
      ProxyPrices prices,
      SendQueueAccess queuePair,
      Chaining chaining,
      Task task) {
    super(fabric, locus, prices);
    this.chaining = chaining;
    this.task = task;
    this.poster = new SendQueuePoster(queuePair, prices, chaining, new ProxyCounters());
    this.starts = new long[task.turns];
    this.posts = new long[task.turns];
    this.ends = new long[task.turns];
    this.stage = task.answers ? Stage.AWAIT : Stage.POST;
    command.set(task.put);
  }

  /** Returns true if all puts have ended, or one has failed. */
  public boolean done() {
    return stage == Stage.DONE;
  }

  public boolean failed() {
    return failed;
  }

  /** Nanoseconds from before put {@code turn} was built until its doorbell was stored. */
  public long postNanos(int turn) {
    return posts[turn] - starts[turn];
  }

  /**
   * Nanoseconds from the doorbell of put {@code turn} until its CQE was seen; with a peer, from
   * before the put until the answer was seen, of the thread that begins.
   */
  public long awaitNanos(int turn) {
    return ends[turn] - (task.pingPong() ? starts[turn] : posts[turn]);
  }

  /** Nanoseconds from before put {@code first} until the CQE of the last put was seen. */
  public long nanosFrom(int first) {
    return ends[task.turns - 1] - starts[first];
  }

  @Override
  public int step(int budget) {
    int work = 0;
    while (mayContinue()) {
      switch (stage) {
        case POST -> {
          postSome();
          stage = Stage.RUNG;
        }
        case RUNG -> {
          for (long now = port.now(); noted < posted; noted++) {
            posts[noted] = now;
          }
          stage = full ? Stage.POLL : Stage.POST;
        }
        case POLL -> {
          int found = poster.poll(port, stores);
          loadParked = found == ProxyHandler.PARKED;
          if (loadParked) {
            return work;
          }
          if (found == 0) {
            port.pollFailed(IDLE_NANOS);
            return work;
          }
          stage = Stage.COMPLETED;
        }
        case COMPLETED -> completed();
        case AWAIT -> {
          long seen = port.load64(task.inbox, Access.ACQUIRE | Access.SYS);
          loadParked = port.parked;
          if (loadParked) {
            return work;
          }
          if (seen < (task.answers ? posted + 1 : posted)) {
            port.pollFailed(IDLE_NANOS);
            return work;
          }
          stores.spend(prices.lineNanos());
          stage = Stage.ARRIVED;
        }
        case ARRIVED -> {
          if (task.answers) {
            stage = Stage.POST;
          } else {
            ends[posted - 1] = port.now();
            stage = posted == task.turns ? Stage.DONE : Stage.POST;
          }
        }
        case DONE -> {
          return work;
        }
      }
      work++;
    }
    return work;
  }

  private void postSome() {
    long now = port.now();
    int room = Math.min(task.turns - posted, task.window - (posted - ended));
    int count = Math.min(room, chaining.most());
    int before = posted;
    for (int i = 0; i < count; i++) {
      number(posted + 1);
      if (poster.post(command, posted, results, stores) == SendQueuePoster.Outcome.BUSY) {
        break;
      }
      starts[posted++] = now;
    }
    poster.ring(stores);
    full = posted == before || posted == task.turns || posted - ended >= task.window;
  }

  private void number(int put) {
    if (task.outgoing != 0) {
      stores.store64(task.outgoing, put, Access.RELAXED | Access.SYS);
    } else if (task.pingPong()) {
      switch (command.length / Long.BYTES) {
        case 1 -> command.localAddress = put;
        case 2 -> command.operand = put;
        default -> command.compare = put;
      }
    }
  }

  private void completed() {
    if (!task.pingPong()) {
      long now = port.now();
      for (int put = ended - 1; put >= 0 && ends[put] == 0; put--) {
        ends[put] = now;
      }
    }
    if (failed) {
      stage = Stage.DONE;
    } else if (task.pingPong() && (!task.answers || posted < task.turns)) {
      stage = Stage.AWAIT;
    } else if (posted < task.turns) {
      stage = Stage.POST;
    } else {
      stage = ended == task.turns ? Stage.DONE : Stage.POLL;
    }
  }

  private void ended(long ticket, boolean bad) {
    ended++;
    failed |= bad;
  }

  @Override
  public String where() {
    return "host putter at %s, %s: %d of %d put, %s"
        .formatted(locus, stage, posted, task.turns, poster);
  }
}
