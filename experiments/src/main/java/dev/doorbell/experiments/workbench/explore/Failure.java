package dev.doorbell.experiments.workbench.explore;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A run that came to no good end.
 *
 * @param what went wrong, the same in every run in which it does
 * @param text the same with the thread, the byte and the value of this run
 */
public record Failure(Kind kind, String what, String text) {
  private static final Pattern PLACE = Pattern.compile("\\S+\\.ptx:\\d+");

  /** How it ended. */
  public enum Kind {
    /** Everybody waits, and nothing is under way. */
    HANG,
    /** The kernel was stopped: a trap, a bad access, its deadline. */
    KERNEL,
    /** A thread ended with a bad status, as it does when its own deadline passes. */
    STATUS,
    /** Other bytes arrived than were sent. */
    DATA
  }

  /** Nothing can happen any more. */
  public static Failure hang() {
    String text = "nothing can happen any more";
    return new Failure(Kind.HANG, text, text);
  }

  /** The kernel was stopped; the same when it was at the same place. */
  public static Failure kernel(String text) {
    Matcher place = PLACE.matcher(text);
    return new Failure(Kind.KERNEL, place.find() ? place.group() : "", text);
  }

  /** A thread's status. */
  public static Failure status(String status, String who) {
    return new Failure(Kind.STATUS, status, who + ": " + status);
  }

  /** Wrong bytes. */
  public static Failure data(String text) {
    return new Failure(Kind.DATA, "", text);
  }

  /** Equal for the same failure, whatever thread and run it came up in. */
  public String key() {
    return kind + "|" + what;
  }
}
