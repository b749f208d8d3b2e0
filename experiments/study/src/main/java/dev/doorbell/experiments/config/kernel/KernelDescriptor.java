package dev.doorbell.experiments.config.kernel;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The data that Doorbell needs to launch a kernel in an experiment and to check what it did: a file
 * {@code NAME.kernel.yaml}, checked, with every default filled in.
 *
 * @param ptx file of the PTX, relative to the descriptor
 * @param linked files that are linked with it, in order
 * @param source file that it was compiled from, or empty
 * @param isa the oldest PTX ISA that has its instructions, or empty when the descriptor is silent
 * @param parameters what each parameter of the entry gets: {@code queue_pairs}, {@code job}, or a
 *     field of {@code struct doorbell_job}
 * @param paths words of the paths that it can take; empty for all
 * @param structures that it gets as parameters or finds in variables of its module: {@code args}
 * @param extension what it brings of its own: settings, metrics, buffers
 * @param worlds that are worth exploring: numbers and settings by name
 * @param text of the file
 * @param places where a key stands, by JSON pointer: {@code my.kernel.yaml:4:3}
 */
public record KernelDescriptor(
    String name,
    String description,
    String ptx,
    List<String> linked,
    String source,
    String entry,
    Optional<String> isa,
    List<String> parameters,
    Launch launch,
    Set<String> paths,
    Measures measures,
    Verify verify,
    List<KernelStructure> structures,
    KernelExtension extension,
    List<Map<String, String>> worlds,
    String text,
    UnaryOperator<String> places) {

  /** Ending of descriptor files. */
  public static final String ENDING = ".kernel.yaml";

  /** Returns whether each GPU addresses the memory of its peers, over NVLink. */
  public boolean reachesPeers() {
    return launch.nvlink() || !extension.multicasts().isEmpty();
  }

  /** The samples that an experiment records. */
  public enum Measures {
    /** {@code job.samples}: nanoseconds, one an iteration. */
    LATENCY,
    /** {@code job.stamps}: start and end of all messages. */
    GOODPUT,
    NOTHING
  }

  /** Ranks that a kernel runs at. */
  public enum Ranks {
    /** At both ranks at once. */
    BOTH,
    /** At rank 0 of two alone. */
    SENDER,
    /** At all ranks at once, however many there are. */
    ALL
  }

  /**
   * Messages that must have arrived. Between two ranks a whole inbox is compared with the peer's
   * payload; among all ranks message j of an inbox is what rank j sent, and zeros where it sends
   * nothing.
   */
  public enum Verify {
    RECEIVER,
    BOTH,
    ALLTOALL,
    ALLGATHER,
    GATHER,
    SHIFT,
    /** The kernel's own buffers, not its inboxes. */
    OWN;

    public boolean ofAll() {
      return this != RECEIVER && this != BOTH && this != OWN;
    }

    /** Returns whether a message of one rank arrives at another one. */
    public boolean arrives(int from, int to, int ranks) {
      return from != to
          && switch (this) {
            case RECEIVER, GATHER -> to == (this == GATHER ? 0 : 1);
            case BOTH, ALLTOALL, ALLGATHER -> true;
            case SHIFT -> to == (from + 1) % ranks;
            case OWN -> false;
          };
    }

    /** Returns which message of its payload a rank sends to another one. */
    public int message(int from, int to) {
      return this == ALLTOALL ? to : from;
    }

    /** Returns how many messages arrive in a turn. */
    public int messages(int ranks) {
      return switch (this) {
        case RECEIVER -> 1;
        case BOTH -> 2;
        case ALLTOALL, ALLGATHER -> ranks * (ranks - 1);
        case GATHER -> ranks - 1;
        case SHIFT -> ranks;
        case OWN -> 0;
      };
    }
  }

  /** Number of messages side by side in payload and inbox. */
  public enum Slots {
    /** One message for each block. */
    BLOCKS,
    /** One message for each thread of the grid. */
    THREADS,
    WINDOW
  }

  /**
   * Launch of a kernel.
   *
   * @param ranks where it runs
   * @param threads of a block; 0 for as many as the copying of the path needs
   * @param sharedBytes of dynamic shared memory
   * @param slots messages side by side
   * @param shared several threads post to one queue pair
   * @param signals words at each rank that peers add to
   * @param nvlink GPUs reach each other's memory
   */
  public record Launch(
      Ranks ranks,
      int blocks,
      int threads,
      int sharedBytes,
      boolean cooperative,
      Slots slots,
      boolean shared,
      int signals,
      boolean nvlink) {
    public boolean allRanks() {
      return ranks == Ranks.ALL;
    }

    /** Returns whether payload and inbox hold a window of messages. */
    public boolean windowSlots() {
      return slots == Slots.WINDOW;
    }
  }

  public KernelDescriptor {
    linked = List.copyOf(linked);
    parameters = List.copyOf(parameters);
    structures = List.copyOf(structures);
    worlds = List.copyOf(worlds);
    paths = Set.copyOf(paths);
  }

  public boolean takes(String path) {
    return paths.isEmpty() || paths.contains(path);
  }

  /** Returns where the value at a JSON pointer stands in the file. */
  public String place(String pointer) {
    return places.apply(pointer);
  }
}
