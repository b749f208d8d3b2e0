package dev.doorbell.experiments.cli.command;

import dev.doorbell.experiments.results.print.Units;
import java.util.Locale;

/** Numbers as people read them. */
public final class Show {
  private Show() {}

  /** Minutes and seconds. */
  public static String minutes(long nanos) {
    long seconds = Math.max(0, Math.round(nanos / 1e9));
    return String.format(Locale.ROOT, "%02d:%02d", seconds / 60, seconds % 60);
  }

  /** Returns a number with its noun: 1 race, 2 races. */
  public static String count(long number, String one) {
    return Units.count(number, one);
  }
}
