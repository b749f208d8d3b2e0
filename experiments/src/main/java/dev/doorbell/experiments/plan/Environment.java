package dev.doorbell.experiments.plan;

import dev.doorbell.core.Basis;

/** What a run uses, and why; printed as its first line and kept in its manifest. */
public record Environment(Choice gpu, Choice hca, Choice clock, Basis basis) {
  private static final String CUDA = "cuda:";
  private static final String SOFT = "soft-hca";

  /**
   * How many points may run at once, where {@code wanted} were asked for. Kernels of two points
   * would wait for each other on one real GPU: what one of them allocates waits for the other's
   * kernel, which waits for its peer's. Points on a real HCA would share its link.
   */
  public int pointsAtOnce(int wanted) {
    return gpu.name().startsWith(CUDA) || !hca.name().equals(SOFT) ? 1 : wanted;
  }

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
   * @param hca {@code auto}, {@code soft}, {@code mlx5}, {@code verbs} or a filter of devices
   * @param clock {@code auto}, {@code virtual} or {@code wall}
   */
  public record Wish(String gpu, String hca, String clock) {}
}
