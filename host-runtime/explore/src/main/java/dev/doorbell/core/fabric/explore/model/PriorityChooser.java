package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.fabric.explore.model.CalmChooser.RandomChooser;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Lets the agent with the highest priority go, so that others are held back for long: random
 * priorities, and a few turns at which the agent that goes falls behind all others (probabilistic
 * concurrency testing). All other choices are random. Once in a while any agent goes, so that one
 * that waits without sleeping holds nobody up for ever.
 */
final class PriorityChooser implements Chooser {
  private static final int CHANGES = 3;

  /** Change points lie before turn 2 to this power, each power as likely as the next. */
  private static final int POWERS = 14;

  private static final int ANYBODY_ONE_IN = 256;

  private final RandomChooser others;
  private final SplittableRandom random;
  private final Map<Object, Integer> priorities = new IdentityHashMap<>();
  private final long[] changes = new long[CHANGES];
  private long turns;
  private int lowest;

  PriorityChooser(long seed) {
    others = new RandomChooser(seed);
    random = new SplittableRandom(~seed);
    for (int i = 0; i < CHANGES; i++) {
      changes[i] = random.nextLong(1L << (1 + random.nextInt(POWERS)));
    }
  }

  @Override
  public int choose(int alternatives, Kind what) {
    return others.choose(alternatives, what);
  }

  @Override
  public int chooseAgent(List<?> agents) {
    turns++;
    if (random.nextInt(ANYBODY_ONE_IN) == 0) {
      return random.nextInt(agents.size());
    }
    int first = first(agents);
    for (long change : changes) {
      if (change == turns) {
        priorities.put(agents.get(first), --lowest);
        first = first(agents);
      }
    }
    return first;
  }

  private int first(List<?> agents) {
    int first = 0;
    for (int i = 0; i < agents.size(); i++) {
      if (priority(agents.get(i)) > priority(agents.get(first))) {
        first = i;
      }
    }
    return first;
  }

  private int priority(Object agent) {
    return priorities.computeIfAbsent(agent, key -> random.nextInt(Integer.MAX_VALUE));
  }
}
