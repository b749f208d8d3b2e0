package dev.doorbell.experiments.fuzz;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Entry points of Jazzer, which looks for inputs that reach code that no other input reached. */
public final class CoverageTarget {
  private static FuzzTarget.@Nullable Session session;

  private CoverageTarget() {}

  /**
   * Opens the target.
   *
   * @param arguments its name
   * @throws Exception when the reader cannot be set up
   */
  public static void fuzzerInitialize(String[] arguments) throws Exception {
    session = Targets.named(arguments[0]).opener().open();
  }

  /**
   * Reads one input; what is thrown is a finding.
   *
   * @throws Exception when the reader fails with anything but a clear problem
   */
  public static void fuzzerTestOneInput(byte[] input) throws Exception {
    if (Objects.requireNonNull(session).read(input) == FuzzTarget.Outcome.MEMORY_CHANGED) {
      throw new IllegalStateException("memory changed");
    }
  }
}
