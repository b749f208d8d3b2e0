package dev.doorbell.core.agent;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * Steps agents on one host thread, in an order that its seed fixes: the same seed and the same
 * agents give the same interleaving.
 *
 * <p>Seed 0 is plain round robin with full budgets. Any other seed permutes every sweep and cuts
 * budgets at random, so that tests meet interleavings that round robin never shows. Every agent is
 * stepped once a sweep, so one that spins starves nobody.
 */
@SuppressWarnings("ReferenceEquality") // agents are compared by identity
public final class Scheduler {
  /** The budget of one step in round robin. */
  public static final int BUDGET = 512;

  private static final int SWEEPS_BETWEEN_CLOCK_READS = 64;

  private final long seed;
  private final SplittableRandom random;
  private Agent[] agents = new Agent[16];
  private int count;

  public Scheduler(long seed) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
  }

  /** Adds an agent; it is stepped from the next sweep on. */
  public void add(Agent agent) {
    if (count == agents.length) {
      agents = Arrays.copyOf(agents, count * 2);
    }
    agents[count++] = agent;
  }

  /** Removes an agent. An agent may remove itself or others while it is stepped. */
  public void remove(Agent agent) {
    for (int i = 0; i < count; i++) {
      if (agents[i] == agent) {
        System.arraycopy(agents, i + 1, agents, i, count - i - 1);
        agents[--count] = null;
        return;
      }
    }
  }

  /** The number of agents. */
  public int size() {
    return count;
  }

  /** The agent at {@code index}, for reports. */
  public Agent agent(int index) {
    return agents[index];
  }

  /**
   * Steps all agents until {@code done}, or until {@code deadline} ({@link System#nanoTime})
   * passes.
   *
   * @return true when done
   */
  public boolean run(BooleanSupplier done, long deadline) {
    int sweeps = 0;
    while (!done.getAsBoolean()) {
      int work = sweep();
      if ((++sweeps % SWEEPS_BETWEEN_CLOCK_READS == 0 || work == 0)
          && System.nanoTime() - deadline >= 0) {
        return done.getAsBoolean();
      }
      if (work == 0) {
        Thread.onSpinWait();
      }
    }
    return true;
  }

  /**
   * Steps every agent once.
   *
   * @return the work done by all of them
   */
  public int sweep() {
    if (seed != 0) {
      shuffle();
    }
    int work = 0;
    for (int i = 0; i < count; i++) {
      Agent agent = agents[i];
      work += agent.step(seed == 0 ? BUDGET : 1 + random.nextInt(BUDGET));
      if (i < count && agents[i] != agent) {
        i--;
      }
    }
    return work;
  }

  private void shuffle() {
    for (int i = count - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      Agent swapped = agents[i];
      agents[i] = agents[j];
      agents[j] = swapped;
    }
  }
}
