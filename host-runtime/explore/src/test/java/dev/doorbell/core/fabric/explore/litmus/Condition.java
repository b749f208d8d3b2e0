package dev.doorbell.core.fabric.explore.litmus;

import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;

/** A condition on final values: registers ({@code P0:r1}) and locations ({@code x}). */
public sealed interface Condition {
  /** A comparison of two values, signed. */
  enum Comparison {
    EQ("="),
    NE("!="),
    LT("<"),
    LE("<="),
    GT(">"),
    GE(">=");

    final String symbol;

    Comparison(String symbol) {
      this.symbol = symbol;
    }
  }

  /** A value of the final state, or a constant. */
  sealed interface Term {
    /** {@code P0:r1} or {@code x}. */
    record Observable(String name) implements Term {}

    record Constant(int value) implements Term {}
  }

  record Compare(Term left, Comparison comparison, Term right) implements Condition {}

  record And(List<Condition> parts) implements Condition {}

  record Or(List<Condition> parts) implements Condition {}

  record Not(Condition part) implements Condition {}

  record True() implements Condition {}

  /** Returns true if it holds for the values that {@code values} gives to observables. */
  default boolean holds(ToIntFunction<String> values) {
    return switch (this) {
      case True ignored -> true;
      case And and -> and.parts.stream().allMatch(part -> part.holds(values));
      case Or or -> or.parts.stream().anyMatch(part -> part.holds(values));
      case Not not -> !not.part.holds(values);
      case Compare compare -> {
        int order = Integer.compare(value(compare.left, values), value(compare.right, values));
        yield switch (compare.comparison) {
          case EQ -> order == 0;
          case NE -> order != 0;
          case LT -> order < 0;
          case LE -> order <= 0;
          case GT -> order > 0;
          case GE -> order >= 0;
        };
      }
    };
  }

  private static int value(Term term, ToIntFunction<String> values) {
    return switch (term) {
      case Term.Constant constant -> constant.value;
      case Term.Observable observable -> values.applyAsInt(observable.name);
    };
  }

  /** Adds the observables that it mentions, in the order of the text. */
  default void observables(Set<String> names) {
    switch (this) {
      case True ignored -> {}
      case And and -> and.parts.forEach(part -> part.observables(names));
      case Or or -> or.parts.forEach(part -> part.observables(names));
      case Not not -> not.part.observables(names);
      case Compare compare -> {
        for (Term term : List.of(compare.left, compare.right)) {
          if (term instanceof Term.Observable observable) {
            names.add(observable.name);
          }
        }
      }
    }
  }
}
