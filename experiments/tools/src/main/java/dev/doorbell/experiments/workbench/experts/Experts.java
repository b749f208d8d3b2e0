package dev.doorbell.experiments.workbench.experts;

import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.workbench.explore.Race;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.BooleanSupplier;

/** Runs DeepEP's kernels, and holds what they leave against a plain computation. */
public interface Experts {
  /** Finds the one of this build. */
  static Experts find() {
    return ServiceLoader.load(Experts.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no Experts are on the class path"));
  }

  /**
   * Runs an exchange.
   *
   * @param interrupted polled during the run; stops it
   */
  ExpertOutcome run(ExpertRun run, BooleanSupplier interrupted);

  /** DeepEP's kernels for an exchange. */
  enum ExpertKernels {
    /** Dispatch and combine of {@code internode_ll.cu}. */
    LOW_LATENCY("low-latency"),
    /** Layout, notify, dispatch, combine and their cached forms of {@code intranode.cu}. */
    INTRANODE("intranode"),
    /** Layout, notify and cached notify of {@code internode.cu}, among nodes of 8 ranks. */
    INTERNODE("internode");

    private final String word;

    ExpertKernels(String word) {
      this.word = word;
    }

    /** Its word on the command line. */
    @Override
    public String toString() {
      return word;
    }
  }

  /**
   * The result of an {@link ExpertRun}.
   *
   * @param failure why it was stopped, or what was left otherwise than it should have been
   * @param phases that ended, in order
   * @param explored runs that came to their end; 0 without exploration
   * @param found explored runs that showed a race
   * @param races in the order of their first occurrence
   */
  record ExpertOutcome(
      Optional<String> failure, List<Phase> phases, int explored, int found, List<Found> races) {
    public ExpertOutcome {
      phases = List.copyOf(phases);
      races = List.copyOf(races);
    }

    /** An outcome of a run that explores nothing. */
    public ExpertOutcome(Optional<String> failure, List<Phase> phases) {
      this(failure, phases, 0, 0, List.of());
    }

    /** A race, and the number of explored runs that showed it. */
    public record Found(Race race, int runs) {}

    /**
     * A kernel at all ranks.
     *
     * @param nanos on the fabric's clock
     * @param wallNanos of the run, verification included
     * @param instructions of all ranks
     */
    public record Phase(String name, long nanos, long wallNanos, long instructions) {}
  }

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
  record ExpertRun(
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
}
