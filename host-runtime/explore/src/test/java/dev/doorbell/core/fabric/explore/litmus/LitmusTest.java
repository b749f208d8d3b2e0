package dev.doorbell.core.fabric.explore.litmus;

import dev.doorbell.core.fabric.Access;
import java.util.List;
import java.util.Map;

/**
 * A litmus test as read from a file.
 *
 * @param name the file's own name for it
 * @param description one line; empty when there is none
 * @param threads the columns
 * @param locations names of the locations, by index; each a 32-bit word
 * @param initial their values before the first instruction, by index
 * @param filter executions that do not meet it are not looked at
 * @param quantifier what is claimed
 * @param condition of what
 * @param claim quantifier and condition as written
 */
public record LitmusTest(
    String name,
    String description,
    List<LitmusThread> threads,
    List<String> locations,
    List<Integer> initial,
    Condition filter,
    Quantifier quantifier,
    Condition condition,
    String claim) {

  /**
   * A column.
   *
   * @param registers values before the first instruction; others begin as 0
   */
  public record LitmusThread(
      String name, ThreadPlace place, List<Instruction> code, Map<String, Integer> registers) {}

  public int threadsOfCta(int thread) {
    ThreadPlace place = threads.get(thread).place();
    return (int) threads.stream().filter(other -> other.place().sameCta(place)).count();
  }

  /** The claim of a litmus test about its condition. */
  public enum Quantifier {
    /** Some execution ends so. */
    EXISTS("exists"),
    /** No execution ends so. */
    NOT_EXISTS("~exists"),
    /** Every execution ends so. */
    FORALL("forall");

    private final String text;

    Quantifier(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }

  /** The place of a litmus test's thread, as scopes see it. A CTA is a cluster of its own. */
  public record ThreadPlace(int cta, int gpu) {
    /**
     * Returns true if a thread at {@code other} is inside {@code scope}, an {@link Access} scope,
     * of this.
     */
    public boolean reaches(int scope, ThreadPlace other) {
      return switch (scope) {
        case Access.CTA, Access.CLUSTER -> sameCta(other);
        case Access.GPU -> gpu == other.gpu;
        default -> true;
      };
    }

    public boolean sameCta(ThreadPlace other) {
      return gpu == other.gpu && cta == other.cta;
    }
  }

  /**
   * The bounds of a search.
   *
   * @param rounds how often a backward branch is taken in one trace of a thread
   * @param candidates how many candidate executions (traces, reads-from, barriers) are judged
   * @param end value of {@link System#nanoTime} at which the search stops; {@link #NEVER} for none
   */
  public record Bounds(int rounds, long candidates, long end) {
    /** The end of a search that no wall time limits. */
    public static final long NEVER = Long.MAX_VALUE;

    /** Creates bounds without a limit of wall time. */
    public Bounds(int rounds, long candidates) {
      this(rounds, candidates, NEVER);
    }

    /** Returns true if the wall time of the search has passed. */
    public boolean isOver() {
      return end != NEVER && System.nanoTime() - end >= 0;
    }
  }
}
