package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.Access;
import org.jspecify.annotations.Nullable;

/** A fence of a program, and how often it was executed. */
public final class ExecutedFence {
  private final Agent agent;
  private final Object at;
  private final int access;
  private long count;

  ExecutedFence(Agent agent, Object at, int access) {
    this.agent = agent;
    this.at = at;
    this.access = access;
  }

  /** Where it stands. */
  public @Nullable SourcePlace place() {
    return agent.describe(at);
  }

  /** {@link Access} bits. */
  public int access() {
    return access;
  }

  /** Times that it was executed, by all threads. */
  public long count() {
    return count;
  }

  void executed() {
    count++;
  }
}
