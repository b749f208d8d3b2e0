package dev.doorbell.proxy.recovery;

import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.proxy.CommandResults;
import dev.doorbell.proxy.ProxyHandler;
import dev.doorbell.proxy.StoreList;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Posts a kernel's commands by a {@link RecoveringPoster}, so that what the kernel has handed over
 * is applied once whatever happens to queue pairs.
 *
 * <p>Commands of one queue alone: they end in the order in which they were accepted.
 */
final class RecoveringHandler implements ProxyHandler {
  private final ArrayDeque<Long> tickets = new ArrayDeque<>();
  private final CommandEntry signal = new CommandEntry();
  private @Nullable RecoveringPoster poster;
  private @Nullable CommandResults results;
  private Runnable wake = () -> {};
  private boolean failed;
  private int ended;

  /**
   * From now on commands go to {@code to}.
   *
   * @param whenEnded called when a command has ended, to wake the agent
   */
  void postBy(RecoveringPoster to, Runnable whenEnded) {
    poster = to;
    wake = whenEnded;
  }

  @Override
  public boolean accept(
      CommandEntry command, long ticket, CommandResults results, StoreList stores) {
    RecoveringPoster to = poster;
    this.results = results;
    if (to == null) {
      return false;
    }
    switch (command.opcode) {
      case CommandEntry.OP_FLUSH, CommandEntry.OP_NOP -> results.finished(ticket, false);
      case CommandEntry.OP_PUT_SIGNAL -> {
        // Two messages; the command ends with the second.
        tickets.add(-1L);
        tickets.add(ticket);
        signal.set(command);
        signal.opcode = CommandEntry.OP_PUT;
        to.post(signal);
        signal.set(command);
        signal.opcode = CommandEntry.OP_FETCH_ADD;
        signal.remoteAddress = command.compare;
        signal.remoteKey = command.signalKey();
        signal.localAddress = command.fetched;
        to.post(signal);
      }
      default -> {
        tickets.add(ticket);
        to.post(command);
      }
    }
    return true;
  }

  /** A message has ended; called once for each, in order. */
  void ended(boolean bad) {
    failed |= bad;
    long ticket = tickets.remove();
    CommandResults to = results;
    if (ticket >= 0 && to != null) {
      to.finished(ticket, failed);
      failed = false;
      ended++;
    }
    wake.run();
  }

  @Override
  public void flush(StoreList stores) {}

  @Override
  public int poll(ThreadPort port, StoreList stores) {
    int found = ended;
    ended = 0;
    return found;
  }

  @Override
  public String toString() {
    return "%d messages under way".formatted(tickets.size());
  }
}
