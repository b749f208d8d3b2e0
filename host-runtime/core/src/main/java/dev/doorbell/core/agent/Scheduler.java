package dev.doorbell.core.agent;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Steps agents on one host thread, in an order that its seed fixes: the same seed and the same
 * agents give the same interleaving.
 *
 * <p>Seed 0 is plain round robin with full budgets. Any other seed permutes every sweep and cuts
 * budgets at random, so that tests meet interleavings that round robin never shows. Every agent is
 * stepped once a sweep, so one that spins starves no other.
 *
 * <p>In round robin, {@linkplain #addDevice devices} are stepped several times a sweep: a thousand
 * threads that wait for a device should not each look once in vain for every step that it makes.
 */
@SuppressWarnings("ReferenceEquality") // agents are compared by identity
public final class Scheduler {
  /** The budget of one step in round robin. */
  public static final int BUDGET = 512;

  /** Reading the clock costs as much as a few instructions: do it now and then. */
  private static final int WORK_BETWEEN_CLOCK_READS = 64 * BUDGET;

  /** Work of others between two steps of the devices; a step that did nothing counts a little. */
  private static final int WORK_BETWEEN_DEVICES = 8 * BUDGET;

  private static final int IDLE_STEP = BUDGET / 8;
  private static final int NOBODY = -1;
  private static final int A_DEVICE = -2;

  private final long seed;
  private final SplittableRandom random;

  /** In the order of stepping; null where one was removed in this sweep. */
  private @Nullable Agent[] agents = new Agent[16];

  private final List<Agent> devices = new ArrayList<>();
  private int count;
  private int holes;
  private int stepping = NOBODY;

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

  /** Adds one that others wait for; stepped more often than they are, where no seed says when. */
  public void addDevice(Agent agent) {
    if (seed != 0) {
      add(agent);
    } else {
      devices.add(agent);
    }
  }

  /**
   * Removes an agent; it is not stepped again. An agent may remove itself, which is quick, or
   * others while it is stepped. Removing one that is not there does nothing.
   */
  public void remove(Agent agent) {
    int at = stepping >= 0 && agents[stepping] == agent ? stepping : indexOf(agent);
    if (at == NOBODY) {
      devices.remove(agent);
      return;
    }
    agents[at] = null;
    holes++;
    if (stepping == NOBODY) {
      closeHoles();
    }
  }

  /** Removes many in one pass. */
  public void removeAll(Collection<? extends Agent> gone) {
    Set<Agent> set = new HashSet<>(gone);
    for (int i = 0; i < count; i++) {
      if (set.contains(agents[i])) {
        agents[i] = null;
        holes++;
      }
    }
    devices.removeAll(set);
    if (stepping == NOBODY) {
      closeHoles();
    }
  }

  public int size() {
    return count - holes + devices.size();
  }

  /**
   * Steps all agents until {@code done}, or until {@code deadline} ({@link System#nanoTime})
   * passes.
   *
   * @return true when done
   */
  @SuppressWarnings("ThreadPriorityCheck") // nothing depends on whom it yields to
  public boolean run(BooleanSupplier done, long deadline) {
    int sinceClock = 0;
    while (!done.getAsBoolean()) {
      int work = sweep();
      sinceClock += work + 1;
      if (work == 0 || sinceClock >= WORK_BETWEEN_CLOCK_READS) {
        sinceClock = 0;
        if (System.nanoTime() - deadline >= 0) {
          return done.getAsBoolean();
        }
      }
      if (work == 0) {
        Thread.yield(); // only another host thread or process can change anything now
      }
    }
    return true;
  }

  /**
   * Steps every agent once, in order; those added meanwhile wait for the next sweep.
   *
   * @return the work done by all of them
   */
  public int sweep() {
    if (seed != 0) {
      shuffle();
    }
    int work = 0;
    int untilDevices = WORK_BETWEEN_DEVICES;
    int end = count;
    try {
      for (int i = 0; i < end; i++) {
        Agent agent = agents[i];
        if (agent != null) {
          stepping = i;
          int done = agent.step(seed == 0 ? BUDGET : 1 + random.nextInt(BUDGET));
          work += done;
          untilDevices -= done + IDLE_STEP;
          if (untilDevices <= 0) {
            untilDevices = WORK_BETWEEN_DEVICES;
            work += stepDevices();
          }
        }
      }
      work += stepDevices();
    } finally {
      stepping = NOBODY;
      if (holes != 0) {
        closeHoles();
      }
    }
    return work;
  }

  private int stepDevices() {
    int work = 0;
    stepping = A_DEVICE;
    for (int i = 0; i < devices.size(); i++) {
      work += devices.get(i).step(BUDGET);
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

  private int indexOf(Agent agent) {
    for (int i = 0; i < count; i++) {
      if (agents[i] == agent) {
        return i;
      }
    }
    return NOBODY;
  }

  private void closeHoles() {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      Agent agent = agents[i];
      if (agent != null) {
        agents[kept++] = agent;
      }
    }
    Arrays.fill(agents, kept, count, null);
    count = kept;
    holes = 0;
  }
}
