package dev.doorbell.experiments.workbench.calibration.run;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;

/** A CPU thread that raises its flag to whatever the GPU raised its own to. */
final class EchoAgent implements Agent, AutoCloseable {
  private static final long IDLE_NANOS = 1L << 50;

  private final Fabric fabric;
  private final ThreadPort port;
  private final long seen;
  private final long answer;
  private final long pollNanos;
  private long last;
  private long next;
  private boolean storing;

  /**
   * Adds the agent; in virtual time it takes {@code pollNanos} to see that the flag has changed.
   */
  EchoAgent(Fabric fabric, long seen, long answer, long pollNanos) {
    this.fabric = fabric;
    this.seen = seen;
    this.answer = answer;
    this.pollNanos = pollNanos;
    this.port = fabric.attachThread(Locus.cpu(0), this);
  }

  @Override
  public int step(int budget) {
    if (!storing) {
      long value = port.load64(seen, Access.ACQUIRE | Access.SYS);
      if (port.parked) {
        return 0;
      }
      if (value == last) {
        port.pollFailed(IDLE_NANOS);
        return 0;
      }
      next = value;
      storing = true;
      port.spend(pollNanos);
    }
    port.store64(answer, next, Access.RELEASE | Access.SYS);
    if (port.parked) {
      return 0;
    }
    storing = false;
    last = next;
    return 1;
  }

  @Override
  public void close() {
    fabric.detach(this);
  }

  @Override
  public String where() {
    return "echo of the CPU";
  }
}
