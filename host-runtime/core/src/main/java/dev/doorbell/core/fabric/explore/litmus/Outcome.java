package dev.doorbell.core.fabric.explore.litmus;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

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
