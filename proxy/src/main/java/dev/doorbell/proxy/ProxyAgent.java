package dev.doorbell.proxy;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.core.trace.TraceEvent;
import dev.doorbell.proxy.ProxyHandler.CommandResults;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The CPU thread that posts on behalf of kernels.
 *
 * <p>It goes round: takes the commands that are there from each queue, up to a batch; posts them
 * and rings once for each queue pair; gives the entries back; looks at completions; tells waiters
 * how far commands have ended. Each of the two counters that kernels read is one release store a
 * round. A command for which there is no room stays at the head of its queue until there is: none
 * is dropped, and {@code commands = completed + failed + inFlight} holds at any time.
 *
 * <p>Errors: when a queue pair fails, its error record is written, every command on it ends as
 * failed, and later ones fail without being posted; so all waits end. A command that cannot be
 * expressed, or names a queue pair that the queue does not serve, fails with {@code
 * DOORBELL_ERROR_ARGUMENT} in the error record.
 */
public final class ProxyAgent extends RoundAgent {
  /** The most commands taken from one queue before the other queues have their turn. */
  public static final int BATCH = 64;

  private enum Stage {
    COMMANDS,
    FLUSH,
    COMPLETIONS,
    FINISH,
    END
  }

  private final Chaining chaining;
  private final ProxyCounters counters = new ProxyCounters();
  private final List<SendQueuePoster> posters = new ArrayList<>();
  private ServedQueue[] queues = new ServedQueue[0];

  private Stage stage = Stage.COMMANDS;
  private int turn;
  private int batch;
  private int limit;

  /** The most commands of a queue in this round, and the most that any had in it. */
  private int chains;

  private int longest;
  private int roundCommands;
  private int roundWork;

  /**
   * Adds the agent to {@code fabric}.
   *
   * @param locus the CPU it runs on
   * @param prices what its own work costs in virtual time, beyond what the fabric charges
   */
  public ProxyAgent(Fabric fabric, Locus locus, ProxyPrices prices) {
    this(fabric, locus, prices, Chaining.BY_ROUND);
  }

  /**
   * Adds the agent to {@code fabric}.
   *
   * @param locus the CPU it runs on
   * @param prices what its own work costs in virtual time, beyond what the fabric charges
   * @param chaining of its WQEs; it takes no more commands from a queue than a chain has before the
   *     others have their turn
   */
  public ProxyAgent(Fabric fabric, Locus locus, ProxyPrices prices, Chaining chaining) {
    super(fabric, locus, prices);
    this.chaining = chaining;
    this.chains = chaining.first();
  }

  /**
   * Serves {@code queue}: its commands name {@code queuePairs} by their index.
   *
   * @throws IllegalArgumentException when two queue pairs have the same index, or one shares its
   *     completion ring with another
   * @throws IllegalStateException when commands of the queue were taken by somebody else and have
   *     not ended
   */
  public void serve(CommandQueue queue, SendQueueAccess... queuePairs) {
    serve(queue, startOf(queue), posting(queuePairs));
  }

  /** Serves {@code queue} for one queue pair, whose kernels see {@code view}. */
  public void serve(CommandQueue queue, QueuePair queuePair, QueuePairView view) {
    serve(queue, SendQueueAccess.of(queuePair, view));
  }

  /** Serves {@code queue} with another consumer. */
  public void serve(CommandQueue queue, ProxyHandler handler) {
    serve(queue, startOf(queue), handler);
  }

  private static long startOf(CommandQueue queue) {
    if (queue.consumed() != queue.finished()) {
      throw new IllegalStateException(
          queue
              + " has commands under way with another agent; close that one when they have ended");
    }
    return queue.consumed();
  }

  private void serve(CommandQueue queue, long start, ProxyHandler handler) {
    queues = Arrays.copyOf(queues, queues.length + 1);
    queues[queues.length - 1] = new ServedQueue(queue, handler, start, counters);
    fabric.wake(this);
  }

  private PostingHandler posting(SendQueueAccess[] queuePairs) {
    SendQueuePoster[] chosen = new SendQueuePoster[queuePairs.length];
    for (int i = 0; i < chosen.length; i++) {
      chosen[i] = poster(queuePairs[i]);
      for (int j = 0; j < i; j++) {
        if (queuePairs[j].index() == queuePairs[i].index()) {
          throw new IllegalArgumentException(
              "queue pairs 0x%x and 0x%x both have index %d; commands could not tell them apart"
                  .formatted(
                      queuePairs[j].number24(), queuePairs[i].number24(), queuePairs[i].index()));
        }
      }
    }
    return new PostingHandler(chosen, port);
  }

  /** The poster of a queue pair; queues that name the same queue pair share it. */
  private SendQueuePoster poster(SendQueueAccess access) {
    for (SendQueuePoster poster : posters) {
      if (poster.queue.equals(access)) {
        return poster;
      }
      if (poster.queue.ring() == access.ring()
          || poster.queue.completionRing() == access.completionRing()) {
        throw new IllegalArgumentException(
            "queue pairs 0x%x and 0x%x share a ring; give each queue pair a completion queue of its own and describe it in one way"
                .formatted(poster.queue.number24(), access.number24()));
      }
    }
    SendQueuePoster poster = new SendQueuePoster(access, prices, chaining, counters);
    posters.add(poster);
    return poster;
  }

  /** Counts what it has done so far. */
  public ProxyCounters counters() {
    return counters;
  }

  @Override
  public int step(int budget) {
    int before = roundWork;
    while (mayContinue()) {
      switch (stage) {
        case COMMANDS -> {
          if (!loadParked) {
            limit = Math.max(1, Math.min(budget, Math.min(BATCH, chains)));
          }
          loadParked = !takeCommands();
          if (loadParked) {
            return roundWork - before;
          }
          stage = Stage.FLUSH;
        }
        case FLUSH -> {
          flush();
          stage = Stage.COMPLETIONS;
        }
        case COMPLETIONS -> {
          loadParked = !pollCompletions();
          if (loadParked) {
            return roundWork - before;
          }
          stage = Stage.FINISH;
        }
        case FINISH -> {
          for (ServedQueue queue : queues) {
            if (queue.publishFinished(stores)) {
              roundWork++;
            }
          }
          stage = Stage.END;
        }
        case END -> {
          // Of the whole round: 0 would say that there was nothing to do.
          int work = roundWork;
          endRound();
          return work;
        }
      }
    }
    return roundWork - before;
  }

  /** Takes commands from every queue; false when the port parked the thread. */
  private boolean takeCommands() {
    while (turn < queues.length) {
      ServedQueue queue = queues[turn];
      boolean room = !queue.held;
      if (!room && queue.offer(stores)) {
        room = true;
        roundWork++;
      }
      while (room && batch < limit && queue.hasRoom()) {
        ServedQueue.Look look = queue.read(port);
        if (look == ServedQueue.Look.PARKED) {
          return false;
        }
        if (look == ServedQueue.Look.NOTHING) {
          break;
        }
        took(queue);
        room = queue.offer(stores);
        if (!room) {
          counters.waits++;
        }
      }
      turn++;
      longest = Math.max(longest, batch);
      batch = 0;
    }
    turn = 0;
    return true;
  }

  private void took(ServedQueue queue) {
    batch++;
    if (roundCommands++ == 0) {
      stores.spend(prices.pollNanos());
    }
    stores.spend(prices.lineNanos() * queue.lines(batch == 1));
    roundWork++;
    if (fabric.trace().enabled()) {
      fabric
          .trace()
          .record(
              new TraceEvent(
                  port.now(),
                  locus,
                  TraceEvent.Kind.COMMAND,
                  queue.command.queuePair,
                  queue.ticket,
                  queue.command.length,
                  queue.command.toString()));
    }
  }

  private void flush() {
    if (roundCommands != 0) {
      counters.batches++;
      counters.largestBatch = Math.max(counters.largestBatch, roundCommands);
    }
    for (ServedQueue queue : queues) {
      queue.handler.flush(stores);
    }
    for (ServedQueue queue : queues) {
      queue.publishConsumed(stores);
    }
  }

  private boolean pollCompletions() {
    while (turn < queues.length) {
      int found = queues[turn].handler.poll(port, stores);
      if (found == ProxyHandler.PARKED) {
        return false;
      }
      roundWork += found;
      turn++;
    }
    turn = 0;
    return true;
  }

  private void endRound() {
    boolean idle = roundWork == 0;
    roundWork = 0;
    roundCommands = 0;
    chains = chaining.next(chains, longest);
    longest = 0;
    stage = Stage.COMMANDS;
    if (idle) {
      counters.spins++;
      port.pollFailed(IDLE_NANOS);
    }
  }

  @Override
  public String where() {
    return "proxy at %s, %s: %s".formatted(locus, stage, Arrays.toString(queues));
  }

  /** Posts the commands of one queue as WQEs on the queue pairs that they name. */
  static final class PostingHandler implements ProxyHandler {
    private final SendQueuePoster[] posters;
    private final @Nullable SendQueuePoster[] byIndex;
    private final ThreadPort port;

    private int polled;
    private int found;

    PostingHandler(SendQueuePoster[] posters, ThreadPort port) {
      this.posters = posters;
      this.port = port;
      int highest = Arrays.stream(posters).mapToInt(poster -> poster.queue.index()).max().orElse(0);
      byIndex = new SendQueuePoster[highest + 1];
      for (SendQueuePoster poster : posters) {
        byIndex[poster.queue.index()] = poster;
      }
    }

    @Override
    public boolean accept(
        CommandEntry command, long ticket, CommandResults results, StoreList stores) {
      if (command.opcode == CommandEntry.OP_FLUSH) {
        results.finished(ticket, false);
        return true;
      }
      SendQueuePoster poster =
          command.queuePair < byIndex.length ? byIndex[command.queuePair] : null;
      if (poster == null) {
        // The queue pair is unknown, so the waits of all of them end.
        for (SendQueuePoster any : posters) {
          refuse(any, command, ticket, stores);
        }
        results.finished(ticket, true);
        return true;
      }
      switch (poster.post(command, ticket, results, stores)) {
        case POSTED -> {
          return true;
        }
        case BUSY -> {
          return false;
        }
        case REFUSED -> refuse(poster, command, ticket, stores);
        case DEAD -> {
          // The error record is written.
        }
      }
      results.finished(ticket, true);
      return true;
    }

    private void refuse(
        SendQueuePoster poster, CommandEntry command, long ticket, StoreList stores) {
      poster.report(Abi.ERROR_ARGUMENT, 0, 0, 0, command.opcode, ticket, port.now(), stores);
    }

    @Override
    public void flush(StoreList stores) {
      for (SendQueuePoster poster : posters) {
        poster.ring(stores);
      }
    }

    @Override
    public int poll(ThreadPort port, StoreList stores) {
      while (polled < posters.length) {
        int here = posters[polled].poll(port, stores);
        if (here == PARKED) {
          return PARKED;
        }
        found += here;
        polled++;
      }
      int sum = found;
      polled = 0;
      found = 0;
      return sum;
    }

    @Override
    public String toString() {
      return Arrays.toString(posters);
    }
  }
}
