package dev.doorbell.proxy;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.proxy.ProxyHandler.CommandResults;
import java.util.ArrayDeque;

/**
 * A host thread that posts on its own account: the baseline in which no GPU thread takes part. It
 * posts the way {@link ProxyAgent} does, without a command queue between.
 *
 * <p>{@link #post} only writes the command down; the agent posts it when the fabric runs. As many
 * commands as are asked for wait in order; none is dropped.
 */
public final class HostPoster extends RoundAgent {
  /** Called when a command ends. */
  @FunctionalInterface
  public interface Listener {
    /**
     * Called on the thread that steps the agent, in the order in which commands end.
     *
     * @param nanos the fabric's clock when the thread saw it
     */
    void ended(long ticket, boolean failed, long nanos);
  }

  private enum Stage {
    POST,
    COMPLETIONS,
    END
  }

  private final ProxyCounters counters = new ProxyCounters();
  private final SendQueuePoster poster;
  private final Listener listener;
  private final CommandResults results = this::ended;

  private final ArrayDeque<CommandEntry> waiting = new ArrayDeque<>();
  private final ArrayDeque<CommandEntry> spare = new ArrayDeque<>();
  private long asked;
  private long waited = -1;
  private long ended;
  private Stage stage = Stage.POST;
  private int roundWork;

  /** A poster on {@code queuePair} without a listener. */
  public HostPoster(Fabric fabric, Locus locus, ProxyPrices prices, SendQueueAccess queuePair) {
    this(fabric, locus, prices, queuePair, (ticket, failed, nanos) -> {});
  }

  /** A poster on {@code queuePair}. */
  public HostPoster(
      Fabric fabric,
      Locus locus,
      ProxyPrices prices,
      SendQueueAccess queuePair,
      Listener listener) {
    super(fabric, locus, prices);
    this.listener = listener;
    this.poster = new SendQueuePoster(queuePair, prices, Chaining.BY_ROUND, counters);
  }

  /**
   * Asks for {@code command}, which is copied.
   *
   * @return its ticket: 0, 1, 2 ...
   */
  public long post(CommandEntry command) {
    if (command.opcode == CommandEntry.OP_FLUSH) {
      throw new IllegalArgumentException(
          "a flush is for command queues; here, await() what is posted");
    }
    CommandEntry copy = spare.isEmpty() ? new CommandEntry() : spare.pop();
    copy.set(command);
    waiting.addLast(copy);
    fabric.wake(this);
    return asked++;
  }

  /** Runs the fabric until all commands have ended, or for {@code nanos} of its clock. */
  public RunOutcome await(long nanos) {
    return fabric.run(() -> ended == asked, nanos);
  }

  /** Number of commands that have ended, well or not. */
  public long ended() {
    return ended;
  }

  /** Counts what it has done so far; {@code commands} counts those it has begun to post. */
  public ProxyCounters counters() {
    return counters;
  }

  @Override
  public int step(int budget) {
    int before = roundWork;
    while (mayContinue()) {
      switch (stage) {
        case POST -> {
          postSome(budget);
          stage = Stage.COMPLETIONS;
        }
        case COMPLETIONS -> {
          int found = poster.poll(port, stores);
          loadParked = found == ProxyHandler.PARKED;
          if (loadParked) {
            return roundWork - before;
          }
          roundWork += found;
          stage = Stage.END;
        }
        case END -> {
          // Of the whole round: 0 would say that there was nothing to do.
          int work = roundWork;
          stage = Stage.POST;
          if (roundWork == 0) {
            counters.spins++;
            port.pollFailed(IDLE_NANOS);
          }
          roundWork = 0;
          return work;
        }
      }
    }
    return roundWork - before;
  }

  private void postSome(int budget) {
    int posted = 0;
    while (!waiting.isEmpty() && posted < Math.max(1, budget)) {
      long ticket = counters.commands;
      SendQueuePoster.Outcome outcome = poster.post(waiting.getFirst(), ticket, results, stores);
      if (outcome == SendQueuePoster.Outcome.BUSY) {
        counters.waits += ticket == waited ? 0 : 1;
        waited = ticket;
        break;
      }
      spare.push(waiting.removeFirst());
      counters.commands++;
      posted++;
      if (outcome != SendQueuePoster.Outcome.POSTED) {
        ended(ticket, true);
      }
    }
    if (posted != 0) {
      counters.batches++;
      counters.largestBatch = Math.max(counters.largestBatch, posted);
      roundWork += posted;
    }
    poster.ring(stores);
  }

  private void ended(long ticket, boolean failed) {
    ended++;
    if (failed) {
      counters.failed++;
    } else {
      counters.completed++;
    }
    listener.ended(ticket, failed, port.now());
  }

  @Override
  public String where() {
    return "host poster at %s, %s: %d asked, %s".formatted(locus, stage, asked, poster);
  }
}
