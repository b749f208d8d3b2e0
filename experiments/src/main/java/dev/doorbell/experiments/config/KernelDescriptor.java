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

  /**
   * How it is launched.
   *
   * @param bothRanks at both ranks at once; otherwise at rank 0 alone
   * @param threads of a block; 0 for as many as the copying of the path needs
   * @param sharedBytes of dynamic shared memory
   * @param windowSlots payload and inbox hold a window of messages; otherwise one
   */
  public record Launch(
      boolean bothRanks,
      int blocks,
      int threads,
      int sharedBytes,
      boolean cooperative,
      boolean windowSlots) {}

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
