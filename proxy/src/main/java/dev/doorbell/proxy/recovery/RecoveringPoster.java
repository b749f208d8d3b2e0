package dev.doorbell.proxy.recovery;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.proxy.HostPoster;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.proxy.SendQueueAccess;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A host thread that posts in order over connections that may fail, and has each command applied
 * exactly once.
 *
 * <p>Every command is kept until it has ended. When a connection fails - an error CQE, or silence -
 * both of its ends are stopped, so that nothing of it can be executed later; the peer then tells
 * how many messages it has executed. A reliable connection executes in order, so that this count
 * splits what has no completion in two. What was executed is not posted again: a put is done, an
 * atomic's result comes from those that the peer's HCA stores for repetitions anyway, as many as
 * may be outstanding. What was not executed is posted on the next connection, in its order. A put
 * that was executed in part is posted as a whole: it writes the same bytes to the same place, and
 * no completion, flag or immediate of it was seen.
 *
 * <p>A get that was executed and whose data was lost is posted again, unless something behind it
 * was executed, too, which it might then read instead of what it should have: it ends as failed.
 */
public final class RecoveringPoster implements AutoCloseable {
  private static final class Item {
    final long ticket;
    final CommandEntry command = new CommandEntry();

    Item(long ticket, CommandEntry model) {
      this.ticket = ticket;
      command.set(model);
    }
  }

  private final Fabric fabric;
  private final Locus locus;
  private final ProxyPrices prices;
  private final PeerConnection.Source source;
  private final RecoveryPolicy policy;
  private final HostPoster.Listener listener;
  private final List<Recovery> recoveries = new ArrayList<>();

  /** Not ended, in order; the first {@link #ended} of them have, on the connection in use. */
  private List<Item> items = new ArrayList<>();

  private int ended;
  private boolean failed;
  private long asked;
  private long lastProgress;
  private int connectionsMade;
  private int fruitless;
  private @Nullable PeerConnection connection;
  private @Nullable HostPoster poster;

  /**
   * Makes a poster and its first connection.
   *
   * @param listener called at each command's end, once, in order
   */
  public RecoveringPoster(
      Fabric fabric,
      Locus locus,
      ProxyPrices prices,
      PeerConnection.Source source,
      RecoveryPolicy policy,
      HostPoster.Listener listener) {
    this.fabric = fabric;
    this.locus = locus;
    this.prices = prices;
    this.source = source;
    this.policy = policy;
    this.listener = listener;
    this.lastProgress = fabric.now();
    open();
  }

  /**
   * Asks for {@code command}, which is copied; its keys are those that {@link PeerConnection#adapt}
   * replaces.
   *
   * @return its ticket: 0, 1, 2 ...
   * @throws IllegalArgumentException for what is not one message of the transport
   */
  public long post(CommandEntry command) {
    switch (command.opcode) {
      case CommandEntry.OP_PUT,
          CommandEntry.OP_PUT_IMM,
          CommandEntry.OP_PUT_INLINE,
          CommandEntry.OP_GET,
          CommandEntry.OP_FETCH_ADD,
          CommandEntry.OP_COMPARE_SWAP -> {}
      default ->
          throw new IllegalArgumentException(
              "%s is not one message; post its parts one by one".formatted(command));
    }
    if (command.length == 0
        && command.opcode != CommandEntry.OP_PUT_IMM
        && command.opcode != CommandEntry.OP_FETCH_ADD
        && command.opcode != CommandEntry.OP_COMPARE_SWAP) {
      throw new IllegalArgumentException(
          "%s has no bytes and sends no message; leave it out".formatted(command));
    }
    if (items.size() == ended) {
      lastProgress = fabric.now();
    }
    Item item = new Item(asked++, command);
    items.add(item);
    hand(item);
    return item.ticket;
  }

  /** Failures so far. */
  public List<Recovery> recoveries() {
    return List.copyOf(recoveries);
  }

  /** Commands that have not ended. */
  public int outstanding() {
    return items.size() - ended;
  }

  /**
   * Runs the fabric until all commands have ended, or for {@code nanos} of its clock, and gets over
   * what fails meanwhile.
   *
   * @return true when all have ended; false after the time, or when there is no connection left,
   *     and then everything that is outstanding has ended as failed
   */
  public boolean await(long nanos) {
    long deadline = fabric.now() + nanos;
    while (outstanding() > 0) {
      if (connection == null) {
        return false;
      }
      long now = fabric.now();
      long silenceLeft = lastProgress + policy.silenceNanos() - now;
      RunOutcome outcome =
          fabric.run(
              () -> failed || items.size() == ended,
              Math.max(0, Math.min(silenceLeft, deadline - now)));
      now = fabric.now();
      boolean silent = outcome == RunOutcome.STALLED || now - lastProgress >= policy.silenceNanos();
      if (failed || (silent && outstanding() > 0)) {
        recover(failed ? Recovery.Cause.ERROR : Recovery.Cause.SILENCE);
      } else if (now >= deadline) {
        break;
      }
    }
    return outstanding() == 0;
  }

  private void hand(Item item) {
    PeerConnection to = connection;
    HostPoster by = poster;
    if (to == null || by == null) {
      return;
    }
    CommandEntry copy = new CommandEntry();
    copy.set(item.command);
    to.adapt(copy);
    by.post(copy);
  }

  private void open() {
    PeerConnection next = source.open(connectionsMade++);
    connection = next;
    poster =
        next == null
            ? null
            : new HostPoster(fabric, locus, prices, next.access(), this::commandEnded);
    ended = 0;
    failed = false;
  }

  private void commandEnded(long ticket, boolean bad, long nanos) {
    if (bad || failed) {
      failed = true;
      return;
    }
    fruitless = 0;
    lastProgress = nanos;
    listener.ended(items.get(ended++).ticket, false, nanos);
  }

  private void recover(Recovery.Cause cause) {
    PeerConnection old = connection;
    HostPoster by = poster;
    if (old == null || by == null) {
      return;
    }
    long noticed = fabric.now();
    long before = lastProgress;
    old.stop();
    fabric.run(() -> false, policy.settleNanos());
    ExecutedRequests executed = old.executed();
    by.close();
    List<Item> left = new ArrayList<>(items.subList(ended, items.size()));
    long known = ended;
    int outstanding = left.size();
    // What a listener posts meanwhile waits behind what is posted again.
    items = new ArrayList<>();
    ended = 0;
    connection = null;
    poster = null;
    List<Item> again = new ArrayList<>();
    int lost = split(old, left, known, executed, again);
    int replayed = again.size();
    if (++fruitless <= policy.attempts()) {
      open();
    }
    // Not before: the new queue pair must not have the number of the old one, whose packets may
    // still be under way.
    old.close();
    again.addAll(items);
    items = again;
    PeerConnection now = connection;
    if (now == null) {
      giveUp();
    } else {
      items.forEach(this::hand);
    }
    lastProgress = fabric.now();
    recoveries.add(
        new Recovery(
            cause,
            old.name(),
            now == null ? "none" : now.name(),
            before,
            noticed,
            fabric.now(),
            outstanding,
            outstanding - replayed - lost,
            replayed,
            lost));
  }

  /**
   * Ends what was executed, and finds what has to be posted again.
   *
   * @param known messages of the connection before the first that is left
   * @param executed null when it cannot be told: then nothing may be posted again
   * @return how many ended as failed
   */
  private int split(
      PeerConnection old,
      List<Item> left,
      long known,
      @Nullable ExecutedRequests executed,
      List<Item> again) {
    long done = executed == null ? Long.MAX_VALUE : executed.since(known);
    int lost = 0;
    for (int i = 0; i < left.size(); i++) {
      Item item = left.get(i);
      long message = known + i;
      if (message >= done) {
        again.add(item);
        continue;
      }
      boolean good =
          executed != null
              && switch (item.command.opcode) {
                case CommandEntry.OP_GET -> false;
                case CommandEntry.OP_FETCH_ADD, CommandEntry.OP_COMPARE_SWAP ->
                    restore(old, item.command, executed.result(message));
                default -> true;
              };
      boolean newest = executed != null && message == done - 1;
      if (!good && newest && item.command.opcode == CommandEntry.OP_GET) {
        again.add(item);
        continue;
      }
      lost += good ? 0 : 1;
      listener.ended(item.ticket, !good, fabric.now());
    }
    return lost;
  }

  private static boolean restore(PeerConnection old, CommandEntry command, OptionalLong result) {
    result.ifPresent(value -> old.deliver(command, value));
    return result.isPresent();
  }

  /** There is no connection left. */
  private void giveUp() {
    for (Item item : items) {
      listener.ended(item.ticket, true, fabric.now());
    }
    items = new ArrayList<>();
  }

  @Override
  public void close() {
    HostPoster by = poster;
    PeerConnection old = connection;
    if (by != null) {
      by.close();
    }
    if (old != null) {
      old.close();
    }
    poster = null;
    connection = null;
  }

  /**
   * When to give a connection up, and how often.
   *
   * @param silenceNanos without any command ending while some wait
   * @param settleNanos that a stopped connection gets to end what its DMA engines have begun
   * @param attempts connections that may fail with no command ending on them, before the channel
   *     gives up
   */
  public record RecoveryPolicy(long silenceNanos, long settleNanos, int attempts) {
    /** 10 ms of silence, 100 us to settle, three connections in a row. */
    public static final RecoveryPolicy DEFAULT = new RecoveryPolicy(10_000_000, 100_000, 3);

    public RecoveryPolicy {
      if (silenceNanos <= 0 || settleNanos < 0 || attempts < 1) {
        throw new IllegalArgumentException(
            "an impossible policy: silence %d ns, settle %d ns, %d attempts"
                .formatted(silenceNanos, settleNanos, attempts));
      }
    }
  }

  /**
   * One connected queue pair to the peer, used until it fails: its queues are fresh, and nothing
   * else posts on it. The control calls reach the peer out of band.
   */
  public interface PeerConnection extends AutoCloseable {
    String name();

    /** Queues to post to; with a completion queue of its own. */
    SendQueueAccess access();

    /** Puts the keys of this connection's regions into a command that is about to be posted. */
    void adapt(CommandEntry command);

    /** Puts both ends in error: after this call the peer executes no further request. */
    void stop();

    /**
     * Requests that the peer has executed; null when it cannot tell. Called after {@link #stop}.
     */
    @Nullable ExecutedRequests executed();

    /** Writes the result of an atomic to the command's destination. */
    void deliver(CommandEntry command, long result);

    @Override
    void close();

    @FunctionalInterface
    interface Source {
      /**
       * Connects a new connection; the peer's memory is the same.
       *
       * @param attempt 0 for the first, then counting up: a source with several ports takes the
       *     next
       * @return null when there is no path left
       */
      @Nullable PeerConnection open(int attempt);
    }
  }

  /**
   * One failure and how it was got over. Times are on the fabric's clock.
   *
   * @param cause what gave the failure away
   * @param from connection that failed
   * @param to connection that went on
   * @param lastProgressNanos when the last command had ended before, or the oldest was posted
   * @param detectedNanos when the failure was noticed
   * @param resumedNanos when the new connection had its work
   * @param outstanding commands without a completion
   * @param executed of those, had been executed all the same, and were not posted again
   * @param replayed of those, were posted again
   * @param lost of those, whose result cannot be had any more; they ended as failed
   */
  public record Recovery(
      Cause cause,
      String from,
      String to,
      long lastProgressNanos,
      long detectedNanos,
      long resumedNanos,
      int outstanding,
      int executed,
      int replayed,
      int lost) {

    /** Sign of a failure. */
    public enum Cause {
      /** An error CQE. */
      ERROR,
      /** No command ended for as long as the policy waits. */
      SILENCE
    }

    /** From the last sign of life to the notice. */
    public long detectNanos() {
      return detectedNanos - lastProgressNanos;
    }

    /** From the notice until work went on. */
    public long recoverNanos() {
      return resumedNanos - detectedNanos;
    }
  }
}
