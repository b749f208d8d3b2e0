package dev.doorbell.core.fabric.explore.litmus;

import dev.doorbell.core.fabric.explore.model.Chooser;
import java.util.Arrays;

/**
 * Goes through all combinations of answers: each run repeats the answers of the one before, but for
 * the last that can be counted up.
 */
final class CountingChooser implements Chooser {
  private int[] answers = new int[64];
  private int[] alternatives = new int[64];
  private int known;
  private int asked;

  @Override
  public int choose(int count, Kind what) {
    if (count == 1) {
      return 0;
    }
    if (asked == known) {
      if (known == answers.length) {
        answers = Arrays.copyOf(answers, 2 * known);
        alternatives = Arrays.copyOf(alternatives, 2 * known);
      }
      answers[known] = 0;
      alternatives[known++] = count;
    }
    return answers[asked++];
  }

  /** Prepares the next run; false when all have been. */
  boolean next() {
    asked = 0;
    while (known > 0) {
      if (++answers[known - 1] < alternatives[known - 1]) {
        return true;
      }
      known--;
    }
    return false;
  }
}
