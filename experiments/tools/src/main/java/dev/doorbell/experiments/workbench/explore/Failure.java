package dev.doorbell.experiments.workbench.explore;

import static java.util.stream.Collectors.joining;

import dev.doorbell.core.agent.SourcePlace;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The failure of a run: a hang, a stopped kernel, a bad status or wrong bytes.
 *
 * @param what the part of the message that is the same in every run
 * @param text the message with the thread, the byte and the value of this run
 */
public record Failure(Kind kind, String what, String text) {
  /** The status of a kernel that cannot do what it was asked for. */
  static final String NOT_EXPRESSIBLE = "operation cannot be expressed";

  /** The status of a thread whose queue pair failed at another thread's request. */
  private static final String AFTER_AN_ERROR = "queue pair had an error before";

  /** The status of a thread that has waited in vain. */
  private static final String AFTER_A_DEADLINE = "deadline passed";

  /** Lines of printf that the report of a stopped kernel shows. */
  private static final int LAST_LINES = 8;

  private static final Pattern PLACE = Pattern.compile("\\S+\\.ptx:\\d+");

  public enum Kind {
    /** All agents wait, and nothing is in flight: under any fair scheduler they do so for ever. */
    HANG("HANG"),
    /** A thread waits by weak loads, which PTX does not oblige to see any store. */
    WEAK_SPIN("WEAK SPIN"),
    /** A thread goes round a loop that changes nothing and loads nothing. */
    ENDLESS_LOOP("ENDLESS LOOP"),
    /** The kernel was stopped: a trap, a bad access. */
    KERNEL("FAILED"),
    /** A thread ended with a bad status, for example at its own deadline. */
    STATUS("FAILED"),
    /** Other bytes arrived than were sent. */
    DATA("FAILED");

    private final String verdict;

    Kind(String verdict) {
      this.verdict = verdict;
    }

    /** Returns the verdict in capitals. */
    public String verdict() {
      return verdict;
    }
  }

  /** Returns the failure of a run in which all agents wait. */
  public static Failure hang() {
    String text = "nothing can happen any more";
    return new Failure(Kind.HANG, text, text);
  }

  /**
   * Returns the failure of a kernel whose threads wait for ever; equal keys for the same place.
   *
   * @param text what they wait at
   */
  public static Failure hang(String text) {
    Matcher place = PLACE.matcher(text);
    return new Failure(
        Kind.HANG,
        place.find() ? place.group() : "",
        "it waits for ever, under any fair scheduler\n  " + text);
  }

  /**
   * Returns the failure of a kernel whose threads still wait at its deadline; equal keys for the
   * same place.
   *
   * @param text what they wait at
   */
  public static Failure late(String text) {
    return new Failure(Kind.HANG, hang(text).what, text);
  }

  /** Returns this failure with the completions in error that came before it. */
  public Failure withErrors(List<String> cqes) {
    String all = cqes.stream().map(cqe -> "\n  before   " + cqe).collect(joining());
    return new Failure(kind, what, text + all);
  }

  /**
   * Returns the failure of a thread that spins at {@code place}.
   *
   * @param loads its loop has weak loads
   */
  public static Failure spin(boolean loads, String who, SourcePlace place) {
    return new Failure(
        loads ? Kind.WEAK_SPIN : Kind.ENDLESS_LOOP,
        place.file() + ":" + place.line(),
        (loads
                ? "a loop waits by weak loads, which PTX does not oblige to see any store\n"
                : "a round of this loop loads nothing and leaves all registers as they were\n")
            + "  %s  %s%n  %s"
                .formatted(
                    who,
                    place,
                    loads
                        ? "fix      load by .volatile, .relaxed or .acquire (volatile,"
                            + " cuda::atomic)"
                        : "fix      load what it waits for in the loop, by .volatile or .relaxed:"
                            + " a compiler takes a weak load out of it"));
  }

  /**
   * Returns the failure of a kernel that was stopped; equal keys for the same place.
   *
   * @param output of its printf until then
   */
  public static Failure kernel(String text, String output) {
    Matcher place = PLACE.matcher(text);
    List<String> printed = output.lines().toList();
    int from = Math.max(0, printed.size() - LAST_LINES);
    StringBuilder all = new StringBuilder(text);
    printed.subList(from, printed.size()).forEach(line -> all.append("\n  printf   ").append(line));
    return new Failure(Kind.KERNEL, place.find() ? place.group() : "", all.toString());
  }

  /** Returns true if a thread ended at once, since the kernel cannot do what it was asked for. */
  public boolean isRefusal() {
    return kind == Kind.STATUS && what.equals(NOT_EXPRESSIBLE);
  }

  /** Returns true if another thread's failure is the cause of this one. */
  public boolean isConsequence() {
    return kind == Kind.STATUS && what.equals(AFTER_AN_ERROR);
  }

  /** Returns the one of two failures of a run that is the cause of the other. */
  public static @Nullable Failure cause(@Nullable Failure first, @Nullable Failure second) {
    return first == null || (second != null && first.isConsequence()) ? second : first;
  }

  /** Returns the failure of a thread that ended with a bad status. */
  public static Failure status(String status, String who) {
    return new Failure(Kind.STATUS, status, who + ": " + status);
  }

  /** Returns this failure with the places where threads have waited, if a deadline has passed. */
  public Failure waiting(Collection<SourcePlace> places) {
    String at = places.stream().map(place -> "\n  waited at " + place).collect(joining());
    return kind == Kind.STATUS && what.equals(AFTER_A_DEADLINE)
        ? new Failure(kind, what, text + at)
        : this;
  }

  public static Failure data(String text) {
    return new Failure(Kind.DATA, "", text);
  }

  /** Returns a key that is equal for the same failure in any thread and run. */
  public String key() {
    return kind + "|" + what;
  }
}
