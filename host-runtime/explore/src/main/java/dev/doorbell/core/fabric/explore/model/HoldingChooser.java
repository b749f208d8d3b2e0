package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.fabric.explore.model.CalmChooser.RandomChooser;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Holds one agent back at a time: it has the lowest priority, and goes only where no other can, for
 * a number of turns that is drawn from all powers of two. Which agent that is changes at few turns,
 * drawn at random (probabilistic concurrency testing). All other choices are random.
 */
final class HoldingChooser implements Chooser {
  private static final int CHANGE_ONE_IN = 64;

  /** An agent is held back for 2 to this power turns at most. */
  private static final int POWERS = 12;

  private final RandomChooser others;
  private final SplittableRandom random;
  private @Nullable Object held;
  private long until;
  private long turns;

  HoldingChooser(long seed) {
    others = new RandomChooser(seed);
    random = new SplittableRandom(~seed);
  }

  @Override
  public int choose(int alternatives, Kind what) {
    return others.choose(alternatives, what);
  }

  @Override
  @SuppressWarnings("ReferenceEquality")
  public int chooseAgent(List<?> agents) {
    turns++;
    if (turns > until) {
      held = null;
      if (random.nextInt(CHANGE_ONE_IN) == 0) {
        held = agents.get(random.nextInt(agents.size()));
        until = turns + (1L << random.nextInt(POWERS + 1));
      }
    }
    int chosen = others.choose(agents.size(), Kind.AGENT);
    return agents.get(chosen) == held ? (chosen + 1) % agents.size() : chosen;
  }
}
