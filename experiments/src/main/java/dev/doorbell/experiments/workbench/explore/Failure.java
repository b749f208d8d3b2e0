package dev.doorbell.experiments.workbench.explore;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The failure of a run: a hang, a stopped kernel, a bad status or wrong bytes.
 *
 * @param what the part of the message that is the same in every run
 * @param text the message with the thread, the byte and the value of this run
 */
public record Failure(Kind kind, String what, String text) {
  private static final Pattern PLACE = Pattern.compile("\\S+\\.ptx:\\d+");

  /** The kind of failure. */
  public enum Kind {
    /** All agents wait, and nothing is in flight. */
    HANG,
    /** The kernel was stopped: a trap, a bad access, its deadline. */
    KERNEL,
    /** A thread ended with a bad status, for example at its own deadline. */
    STATUS,
    /** Other bytes arrived than were sent. */
    DATA
  }

  /** Returns the failure of a run in which all agents wait. */
  public static Failure hang() {
    String text = "nothing can happen any more";
    return new Failure(Kind.HANG, text, text);
  }

  /** Returns the failure of a kernel that was stopped; equal keys for the same place. */
  public static Failure kernel(String text) {
    Matcher place = PLACE.matcher(text);
    return new Failure(Kind.KERNEL, place.find() ? place.group() : "", text);
  }

  /** Returns the failure of a thread that ended with a bad status. */
  public static Failure status(String status, String who) {
    return new Failure(Kind.STATUS, status, who + ": " + status);
  }

  /** Returns the failure of a transfer. */
  public static Failure data(String text) {
    return new Failure(Kind.DATA, "", text);
  }

  /** Returns a key that is equal for the same failure in any thread and run. */
  public String key() {
    return kind + "|" + what;
  }
}
