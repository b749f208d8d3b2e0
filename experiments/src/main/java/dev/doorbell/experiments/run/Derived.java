package dev.doorbell.experiments.run;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What was found in a run, so that tables, files and figures seek it once between them. It follows
 * from the rest of the run, and so is equal to any other.
 */
final class Derived {
  private @Nullable List<Crossings.Found> crossings;
  private @Nullable List<Expectations.Found> expectations;

  synchronized List<Crossings.Found> crossings(Supplier<List<Crossings.Found>> seek) {
    List<Crossings.Found> found = crossings == null ? seek.get() : crossings;
    crossings = found;
    return found;
  }

  synchronized List<Expectations.Found> expectations(Supplier<List<Expectations.Found>> seek) {
    List<Expectations.Found> found = expectations == null ? seek.get() : expectations;
    expectations = found;
    return found;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Derived;
  }

  @Override
  public int hashCode() {
    return 0;
  }

  @Override
  public String toString() {
    return "";
  }
}
