package dev.doorbell.core.fabric.explore.model;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Explores at random but for some stretches in which it does what a simple machine would: newest
 * values, nothing late or torn, and everybody goes for long before somebody else does. A run that
 * still shows a race with most of its choices calm is one that a person can follow.
 */
public final class CalmChooser implements Chooser {
  private static final int TURNS_OF_ONE = 8;

  /** Short runs choose each turn anew, which finds most orders sooner. */
  private static final long FIRST_HOLDING = 21;

  private final Chooser random;
  private final List<Stretch> stretches;
  private long choices;
  private long calmTurns;

  /** Choices {@code from}, counted from 0, to {@code to}, exclusive. */
  public record Stretch(long from, long to) {
    public Stretch {
      if (from < 0 || to <= from) {
        throw new IllegalArgumentException("no stretch: " + from + " to " + to);
      }
    }
  }

  /**
   * Calm in {@code stretches}, elsewhere at random: from seed 21 on every third one holds agents
   * back, as {@link HoldingChooser} does, the others choose each turn anew.
   */
  public CalmChooser(long seed, List<Stretch> stretches) {
    random =
        seed >= FIRST_HOLDING && seed % 3 == 0 ? new HoldingChooser(seed) : new RandomChooser(seed);
    this.stretches = List.copyOf(stretches);
  }

  @Override
  public int choose(int alternatives, Kind what) {
    long choice = choices++;
    if (!isCalm(choice)) {
      return random.choose(alternatives, what);
    }
    return switch (what) {
      case AGENT -> (int) (calmTurns++ / TURNS_OF_ONE % alternatives);
      case QUANTUM -> alternatives - 1;
      default -> 0;
    };
  }

  @Override
  public int chooseAgent(List<?> agents) {
    if (isCalm(choices)) {
      return choose(agents.size(), Kind.AGENT);
    }
    choices++;
    return random.chooseAgent(agents);
  }

  private boolean isCalm(long choice) {
    for (int i = 0; i < stretches.size(); i++) {
      Stretch stretch = stretches.get(i);
      if (choice >= stretch.from && choice < stretch.to) {
        return true;
      }
    }
    return false;
  }

  /** Explores at random: the same seed, the same run. */
  public static final class RandomChooser implements Chooser {
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
}
