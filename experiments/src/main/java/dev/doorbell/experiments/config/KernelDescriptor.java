package dev.doorbell.experiments.config;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * What Doorbell has to know of a kernel to launch it in an experiment and to check what it did: a
 * file {@code NAME.kernel.yaml}, checked, with every default filled in.
 *
 * @param ptx file of the PTX, relative to the descriptor
 * @param source file that it was compiled from, or empty
 * @param isa the oldest PTX ISA that has its instructions, or empty when the descriptor is silent
 * @param parameters what each parameter of the entry gets: {@code queue_pairs}, {@code job}, or a
 *     field of {@code struct doorbell_job}
 * @param paths words of the paths that it can take; empty for all
 * @param comparison of what it leaves on two GPUs
 * @param text of the file
 * @param places where a key stands, by JSON pointer: {@code my.kernel.yaml:4:3}
 */
public record KernelDescriptor(
    String name,
    String description,
    String ptx,
    String source,
    String entry,
    Optional<String> isa,
    List<String> parameters,
    Launch launch,
    Set<String> paths,
    Measures measures,
    Verify verify,
    KernelComparison comparison,
    String text,
    UnaryOperator<String> places) {

  /** Ending of descriptor files. */
  public static final String ENDING = ".kernel.yaml";

  /** What an experiment records of it. */
  public enum Measures {
    /** {@code job.samples}: nanoseconds, one an iteration. */
    LATENCY,
    /** {@code job.stamps}: start and end of all messages. */
    GOODPUT,
    NOTHING
  }

  /** Whose inbox is compared with its peer's payload. */
  public enum Verify {
    RECEIVER,
    BOTH
  }

  /** How many messages payload and inbox hold side by side. */
  public enum Slots {
    /** One of each block. */
    BLOCKS,
    /** One of each thread of the grid. */
    THREADS,
    /** A window of them. */
    WINDOW
  }

  /**
   * How it is launched.
   *
   * @param bothRanks at both ranks at once; otherwise at rank 0 alone
   * @param threads of a block; 0 for as many as the copying of the path needs
   * @param sharedBytes of dynamic shared memory
   * @param slots messages side by side
   * @param shared several threads post to one queue pair
   * @param signals words at each rank that peers add to
   */
  public record Launch(
      boolean bothRanks,
      int blocks,
      int threads,
      int sharedBytes,
      boolean cooperative,
      Slots slots,
      boolean shared,
      int signals) {
    /** Whether payload and inbox hold a window of messages. */
    public boolean windowSlots() {
      return slots == Slots.WINDOW;
    }
  }

  public KernelDescriptor {
    parameters = List.copyOf(parameters);
    paths = Set.copyOf(paths);
  }

  /** Whether it can take a path. */
  public boolean takes(String path) {
    return paths.isEmpty() || paths.contains(path);
  }

  /** Where the value at a JSON pointer stands in the file. */
  public String place(String pointer) {
    return places.apply(pointer);
  }
}
