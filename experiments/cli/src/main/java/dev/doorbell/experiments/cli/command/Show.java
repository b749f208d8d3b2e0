package dev.doorbell.experiments.cli.command;

import java.util.Locale;

/** Numbers as people read them. */
public final class Show {
  private Show() {}

  /** Minutes and seconds. */
  public static String minutes(long nanos) {
    long seconds = Math.max(0, Math.round(nanos / 1e9));
    return String.format(Locale.ROOT, "%02d:%02d", seconds / 60, seconds % 60);
  }
}
