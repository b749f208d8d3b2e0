package dev.doorbell.core.fabric.explore.litmus;

import dev.doorbell.core.fabric.explore.litmus.LitmusTest.Quantifier;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The verdict of the axioms on a test.
 *
 * @param allowed outcomes, and in how many executions each
 * @param forbidden outcomes whose values fit together, but which no execution may have, and the
 *     axioms that forbid them
 * @param deadlocks executions in which threads wait at a barrier for ever, by who waits where
 * @param spinning executions in which threads go round a loop for ever although every thread is
 *     scheduled again and again and every write reaches strong reads in the end, by who stays where
 * @param races pairs of accesses that are in a data race in some allowed execution
 * @param candidates how many candidate executions were judged
 * @param cut loops go round more often than was followed
 * @param complete everything within that was judged
 * @param holds whether the claim does, for what was judged
 */
public record LitmusResult(
    LitmusTest test,
    SortedMap<Outcome, Long> allowed,
    SortedMap<Outcome, Set<Axiom>> forbidden,
    SortedMap<String, Long> deadlocks,
    SortedMap<String, Long> spinning,
    SortedSet<String> races,
    long candidates,
    boolean cut,
    boolean complete,
    boolean holds) {

  /** Returns the number of allowed executions. */
  public long executions() {
    return allowed.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Returns true if more searching could not change the verdict: a search that stopped early has
   * still found what it found. Without a candidate there is no verdict where loops were left out.
   */
  public boolean conclusive() {
    boolean judged = complete && (candidates > 0 || !cut);
    return judged || (test.quantifier() == Quantifier.EXISTS) == holds;
  }

  /**
   * Final values of the registers and locations that a test's condition and filter mention.
   *
   * @param names as the condition writes them: {@code P0:r1}, {@code x}
   * @param values in the same order
   */
  public record Outcome(List<String> names, List<Integer> values) implements Comparable<Outcome> {
    /** The value of an observable, named as the condition names it. */
    public int value(String name) {
      return values.get(names.indexOf(name));
    }

    /** Numerically, first name first. */
    @Override
    public int compareTo(Outcome other) {
      return IntStream.range(0, values.size())
          .map(i -> Integer.compare(values.get(i), other.values.get(i)))
          .filter(order -> order != 0)
          .findFirst()
          .orElse(Comparator.<Integer>naturalOrder().compare(values.size(), other.values.size()));
    }

    @Override
    public String toString() {
      return IntStream.range(0, names.size())
          .mapToObj(i -> names.get(i) + "=" + values.get(i))
          .collect(Collectors.joining(" "));
    }
  }

  /** The axioms of the PTX ISA, chapter "Memory Consistency Model", section "Axioms". */
  public enum Axiom {
    /** Writes that causality orders are in that order in coherence, too. */
    COHERENCE("coherence"),
    /** The order of {@code fence.sc} does not contradict causality. */
    FENCE_SC("fence-sc"),
    /** No write comes between the read and the write of an atomic. */
    ATOMICITY("atomicity"),
    /** No value is its own reason. */
    NO_THIN_AIR("no-thin-air"),
    /** Each location by itself is sequentially consistent for morally strong accesses. */
    SC_PER_LOCATION("sc-per-location"),
    /** Nobody reads what causality puts later, or what it has overwritten. */
    CAUSALITY("causality");

    private final String text;

    Axiom(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }
}
