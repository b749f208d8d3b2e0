package dev.doorbell.proxy.recovery;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.proxy.CommandQueue;
import dev.doorbell.proxy.ProxyAgent;
import java.util.List;
import java.util.function.BooleanSupplier;

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
}
