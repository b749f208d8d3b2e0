package dev.doorbell.experiments.workbench.diff;

import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What a kernel takes in virtual time.
 *
 * @param issueNanos median of its metric {@code my_issue}; empty where it has none
 * @param doneNanos median of its metric {@code my_done}, or of its samples, or what its stamps say
 *     of an iteration; empty where it has none of them, or did not end well
 * @param failure what went wrong, in words
 */
public record KernelTiming(
    OptionalDouble issueNanos, OptionalDouble doneNanos, Optional<String> failure) {
  /** Of a kernel that did not end well. */
  public static KernelTiming failed(String what) {
    return new KernelTiming(OptionalDouble.empty(), OptionalDouble.empty(), Optional.of(what));
  }
}
