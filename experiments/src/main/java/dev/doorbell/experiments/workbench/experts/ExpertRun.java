package dev.doorbell.experiments.workbench.experts;

import dev.doorbell.core.fabric.explore.model.Policy;
import java.util.Optional;

/**
 * An exchange of tokens between ranks and experts by DeepEP's kernels.
 *
 * @param kernels which of them
 * @param file of the PTX, for messages
 * @param tokens of each rank
 * @param hidden elements of a token
 * @param top experts of a token
 * @param experts of all ranks together
 * @param multiprocessors that launches are laid out for
 * @param fp8 tokens are dispatched as 8-bit floats
 * @param rounds of all kernels, one behind the other
 * @param machine whose prices give virtual time; empty to run as fast as it can
 * @param exploration of the order in which threads and HCAs go on; not with a machine
 * @param timeoutNanos of a kernel, on the fabric's clock
 */
public record ExpertRun(
    ExpertKernels kernels,
    String file,
    String ptx,
    int ranks,
    int tokens,
    int hidden,
    int top,
    int experts,
    int multiprocessors,
    boolean fp8,
    int rounds,
    Optional<String> machine,
    Optional<Exploration> exploration,
    long seed,
    long timeoutNanos) {
  /**
   * Explored runs in place of one that goes straight on.
   *
   * @param runs schedules, the first by the seed of the tokens
   * @param nanos wall time of a run; one that takes longer is not finished
   */
  public record Exploration(int runs, Policy policy, long nanos) {}
}
