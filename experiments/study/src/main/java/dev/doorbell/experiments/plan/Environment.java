package dev.doorbell.experiments.plan;

import dev.doorbell.core.Basis;

/** The devices and the clock of a run, each with the reason; the first line of its output. */
public record Environment(Choice gpu, Choice hca, Choice clock, Basis basis) {
  private static final String CUDA = "cuda:";
  private static final String SOFT = "soft-hca";

  /** Returns true if every device is emulated: the VM's GPUs and the software HCA. */
  public boolean emulated() {
    return !gpu.name().startsWith(CUDA) && hca.name().equals(SOFT);
  }

  /**
   * Returns how many points may run at once, where {@code requested} were asked for. Kernels of two
   * points would wait for each other on one real GPU: what one of them allocates waits for the
   * other's kernel, which waits for its peer's. Points on a real HCA would share its link.
   */
  public int pointsAtOnce(int requested) {
    return emulated() ? requested : 1;
  }

  /**
   * A device or a clock.
   *
   * @param name of the device or clock, such as {@code ptx-vm}
   * @param reason such as {@code no CUDA driver}
   */
  public record Choice(String name, String reason) {}

  /**
   * The devices and the clock that a config requests.
   *
   * @param gpu {@code auto}, {@code vm} or {@code cuda:N}
   * @param hca {@code auto}, {@code soft}, {@code mlx5}, {@code verbs} or a filter of devices
   * @param clock {@code auto}, {@code virtual} or {@code wall}
   */
  public record Request(String gpu, String hca, String clock) {}
}
