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
import dev.doorbell.proxy.recovery.RecoveringPoster.Recovery;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The CPU posts what a kernel hands over: a command queue, its agent and a poster that recovers, so
 * that what the kernel has handed over is applied once whatever happens to queue pairs. Commands
 * end in the order in which they were accepted.
 */
final class CpuMode implements ProxyHandler, AutoCloseable {
  private static final int ENTRIES = 256;

  private final Fabric fabric;
  private final CommandQueue commands;
  private final ProxyAgent agent;
  private final RecoveringPoster poster;
  private final ArrayDeque<Long> tickets = new ArrayDeque<>();
  private final CommandEntry signal = new CommandEntry();
  private @Nullable CommandResults results;
  private boolean failed;
  private int ended;

  CpuMode(Fabric fabric, CpuPath path) {
    this.fabric = fabric;
    commands = new CommandQueue(path.memory(), ENTRIES, 0);
    agent = new ProxyAgent(fabric, path.locus(), path.prices());
    agent.serve(commands, this);
    poster =
        new RecoveringPoster(
            fabric,
            path.locus(),
            path.prices(),
            path.connections(),
            path.policy(),
            (_, bad, _) -> ended(bad));
  }

  /** Address of the descriptor for {@code doorbell_qp.commands}. */
  long descriptor() {
    return commands.descriptorAddress();
  }

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

  boolean hasFailed() {
    return commands.failed();
  }

  List<Recovery> recoveries() {
    return poster.recoveries();
  }

  @Override
  public void close() {
    poster.close();
    agent.close();
    commands.close();
  }

  @Override
  public boolean accept(
      CommandEntry command, long ticket, CommandResults results, StoreList stores) {
    this.results = results;
    switch (command.opcode) {
      case CommandEntry.OP_FLUSH, CommandEntry.OP_NOP -> results.finished(ticket, false);
      case CommandEntry.OP_PUT_SIGNAL -> {
        // Two messages; the command ends with the second.
        tickets.add(-1L);
        tickets.add(ticket);
        signal.set(command);
        signal.opcode = CommandEntry.OP_PUT;
        poster.post(signal);
        signal.set(command);
        signal.opcode = CommandEntry.OP_FETCH_ADD;
        signal.remoteAddress = command.compare;
        signal.remoteKey = command.signalKey();
        signal.localAddress = command.fetched;
        poster.post(signal);
      }
      default -> {
        tickets.add(ticket);
        poster.post(command);
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
    fabric.wake(agent);
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
