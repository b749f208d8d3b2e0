package dev.doorbell.experiments.workbench.experts;

import java.util.Optional;

/**
 * An exchange of tokens between ranks and experts by DeepEP's low-latency kernels.
 *
 * @param file of the PTX, for messages
 * @param tokens of each rank
 * @param hidden elements of a token
 * @param top experts of a token
 * @param experts of all ranks together
 * @param multiprocessors that launches are laid out for
 * @param fp8 tokens are dispatched as 8-bit floats
 * @param rounds of dispatch and combine, one behind the other
 * @param machine whose prices give virtual time; empty to run as fast as it can
 * @param timeoutNanos of a kernel, on the fabric's clock
 */
public record ExpertRun(
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
    long seed,
    long timeoutNanos) {}
