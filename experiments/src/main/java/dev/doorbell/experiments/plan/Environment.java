package dev.doorbell.experiments.plan;

import dev.doorbell.core.Basis;

/** What a run uses, and why; printed as its first line and kept in its manifest. */
public record Environment(Choice gpu, Choice hca, Choice clock, Basis basis) {

  /**
   * One choice.
   *
   * @param name what was chosen, such as {@code ptx-vm}
   * @param reason why, such as {@code no CUDA driver}
   */
  public record Choice(String name, String reason) {}

  /**
   * What the config asked for.
   *
   * @param gpu {@code auto}, {@code vm} or {@code cuda:N}
   * @param hca {@code auto}, {@code soft} or {@code mlx5}
   * @param clock {@code auto}, {@code virtual} or {@code wall}
   */
  public record Wish(String gpu, String hca, String clock) {}
}
