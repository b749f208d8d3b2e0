package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.explore.Coverage.Order;
import dev.doorbell.core.fabric.explore.Coverage.Read;
import dev.doorbell.core.fabric.explore.Coverage.Side;
import dev.doorbell.core.fabric.explore.model.SeenOrders;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;

/** The places that the threads of a run have executed, and the ways that they took from each. */
final class ExecutedCode {
  /** Stands for all devices where a line of the program is asked for. */
  private static final int DEVICE = -1;

  private final IdentityHashMap<Object, Step> steps = new IdentityHashMap<>();
  private final List<Step> entries = new ArrayList<>();

  /** A place that was executed, and those that were executed right after it. */
  static final class Step {
    private final Object place;
    private final Agent agent;
    private Step[] next = new Step[2];
    private int count;

    private Step(Object place, Agent agent) {
      this.place = place;
      this.agent = agent;
    }

    private int line() {
      return agent.following(place).line();
    }
  }

  Step begin(Agent agent, Object place) {
    Step step = steps.get(place);
    if (step == null) {
      step = new Step(place, agent);
      steps.put(place, step);
      entries.add(step);
    }
    return step;
  }

  /** Returns the step of a thread that has gone on from {@code from} to {@code place}. */
  @SuppressWarnings("ReferenceEquality")
  Step follow(Step from, Object place) {
    for (int i = 0; i < from.count; i++) {
      if (from.next[i].place == place) {
        return from.next[i];
      }
    }
    Step step = steps.computeIfAbsent(place, key -> new Step(key, from.agent));
    if (from.count == from.next.length) {
      from.next = Arrays.copyOf(from.next, 2 * from.count);
    }
    from.next[from.count++] = step;
    return step;
  }

  /**
   * Returns what was covered, of all that can be reached from where threads began.
   *
   * @param known gets what is found out about a program: the same for all runs of one
   */
  Coverage coverage(SeenOrders orders, ReachableCode known) {
    Coverage coverage = new Coverage();
    for (Step entry : entries) {
      known.find(entry.agent, entry.place);
    }
    known.addTo(coverage);
    for (Step step : steps.values()) {
      int line = step.line();
      if (known.mayBeReached(line)) {
        coverage.add(line, true);
      }
      for (int i = 0; i < step.count; i++) {
        coverage.took(line, step.next[i].line());
      }
      coverage.reached(line);
    }
    orders.each((first, second) -> order(coverage, first, second));
    orders.reads(
        (read, old) -> {
          if (read.who() instanceof Agent agent && read.at() != null) {
            SourcePlace place = agent.describe(read.at());
            if (place != null) {
              coverage.add(agent.following(read.at()).line(), new Read(place, old));
            }
          }
        });
    return coverage;
  }

  private static void order(Coverage coverage, SeenOrders.Side first, SeenOrders.Side second) {
    int from = line(first);
    int to = line(second);
    if (from != to) {
      coverage.add(from, to, new Order(side(first), side(second)));
    }
  }

  private static int line(SeenOrders.Side side) {
    return side.at() != null && side.who() instanceof Agent agent
        ? agent.following(side.at()).line()
        : DEVICE;
  }

  private static Side side(SeenOrders.Side side) {
    if (!(side.who() instanceof Agent agent)) {
      return new Side(String.valueOf(side.who()), null);
    }
    return new Side(agent.name(), side.at() == null ? null : agent.describe(side.at()));
  }
}
