package dev.doorbell.proxy.recovery;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.proxy.CommandQueue;
import dev.doorbell.proxy.ProxyAgent;
import dev.doorbell.proxy.ProxyHandler;
import dev.doorbell.proxy.ProxyHandler.CommandResults;
import dev.doorbell.proxy.StoreList;
import dev.doorbell.proxy.recovery.PostingSupervisor.CpuPath;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The CPU posts what a kernel hands over: a command queue, its agent and a poster that recovers.
 */
final class CpuMode implements AutoCloseable {
  private static final int ENTRIES = 256;

  private final Fabric fabric;
  private final CommandQueue commands;
  private final ProxyAgent agent;
  private final RecoveringPoster poster;

  CpuMode(Fabric fabric, CpuPath path) {
    this.fabric = fabric;
    RecoveringHandler handler = new RecoveringHandler();
    commands = new CommandQueue(path.memory(), ENTRIES, 0);
    agent = new ProxyAgent(fabric, path.locus(), path.prices());
    agent.serve(commands, handler);
    poster =
        new RecoveringPoster(
            fabric,
            path.locus(),
            path.prices(),
            path.connections(),
            path.policy(),
            (ticket, failed, nanos) -> handler.ended(failed));
    handler.postBy(poster, () -> fabric.wake(agent));
  }

  /** Address of the descriptor for {@code doorbell_qp.commands}. */
  long descriptor() {
    return commands.descriptorAddress();
  }

  /** Runs the fabric, and gets over what fails meanwhile. */
  RunOutcome run(BooleanSupplier done, long nanos) {
    long deadline = fabric.now() + nanos;
    if (poster.outstanding() > 0) {
      poster.await(nanos);
    }
    return fabric.run(
        () -> done.getAsBoolean() || poster.outstanding() > 0,
        Math.max(0, deadline - fabric.now()));
  }

  /** True when every command that was handed over has ended and kernels can see it. */
  boolean isIdle() {
    return poster.outstanding() == 0 && commands.submitted() == commands.finished();
  }

  /** True when a command has failed for good. */
  boolean hasFailed() {
    return commands.failed();
  }

  /** Failures of its connections. */
  List<Recovery> recoveries() {
    return poster.recoveries();
  }

  @Override
  public void close() {
    poster.close();
    agent.close();
    commands.close();
  }

  /**
   * Posts a kernel's commands by a {@link RecoveringPoster}, so that what the kernel has handed
   * over is applied once whatever happens to queue pairs.
   *
   * <p>Commands of one queue alone: they end in the order in which they were accepted.
   */
  static final class RecoveringHandler implements ProxyHandler {
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
}
