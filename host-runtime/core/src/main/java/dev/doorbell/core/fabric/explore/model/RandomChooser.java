package dev.doorbell.core.fabric.explore.model;

import java.util.SplittableRandom;

/** Explores at random: the same seed, the same run. */
public final class RandomChooser implements Chooser {
  private static final int STALE_ONE_IN = 4;
  private static final int TEAR_ONE_IN = 4;

  private final SplittableRandom random;

  public RandomChooser(long seed) {
    random = new SplittableRandom(seed);
  }

  @Override
  public int choose(int alternatives, Kind what) {
    return switch (what) {
      case VALUE -> random.nextInt(STALE_ONE_IN) == 0 ? random.nextInt(alternatives) : 0;
      case TEAR -> random.nextInt(TEAR_ONE_IN) == 0 ? 1 : 0;
      default -> random.nextInt(alternatives);
    };
  }
}
