package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.fabric.explore.model.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The input of an exploration: a kernel, its launch, how it posts, and the rules.
 *
 * @param program the kernel
 * @param load the amount of work
 * @param posting how its queue pairs are created
 * @param rules the reorderings that are allowed
 * @param nic what the HCAs promise
 */
public record Scenario(Program program, Load load, Posting posting, Rules rules, Nic nic) {
  /** Creates a scenario with HCAs that keep InfiniBand's order. */
  public Scenario(Program program, Load load, Posting posting, Rules rules) {
    this(program, load, posting, rules, Nic.DEFAULT);
  }

  /**
   * A kernel's PTX.
   *
   * @param file as reports name it
   * @param entry the kernel in it, which takes queue pair views and a job
   * @param shape where it runs, and what of its work is compared
   */
  public record Program(String file, String entry, String ptx, Shape shape) {
    /** Creates a program whose shape follows from its name. */
    public Program(String file, String entry, String ptx) {
      this(file, entry, ptx, Shape.named(entry));
    }

    /** Returns a program of the same shape with other instructions. */
    public Program with(String other) {
      return new Program(file, entry, other, shape);
    }
  }

  /** The number of messages that payload and inbox hold. */
  public enum Slots {
    /** One of each block. */
    BLOCKS,
    /** One of each rank: each rank has a queue pair to each other one. */
    RANKS,
    /** One of each thread. */
    THREADS,
    /** A window of them. */
    WINDOW
  }

  /**
   * A message, or all of them, that has to have arrived.
   *
   * @param from the rank that sends
   * @param to the rank whose inbox it is in
   * @param sent which message of the payload; {@link #ALL} for each
   * @param arrived which place of the inbox; {@link #ALL} for each
   */
  public record Arrival(int from, int to, int sent, int arrived) {
    public static final int ALL = -1;

    /** Returns the arrival of the whole payload of one rank. */
    public static Arrival ofAll(int from, int to) {
      return new Arrival(from, to, ALL, ALL);
    }
  }

  /**
   * The ranks and parameters of a kernel, and what is compared.
   *
   * @param ranks of the world
   * @param launched ranks that it runs at, from 0 on, all at once
   * @param slots messages side by side
   * @param compared what has to have arrived
   * @param signals words at each rank that peers add to
   * @param sharedBytes of dynamic shared memory
   * @param cooperative all blocks are resident at once
   * @param parameters what each parameter of the entry gets, as descriptors name it
   * @param descriptor text of its descriptor, where that brings settings, metrics, buffers or
   *     structures
   */
  public record Shape(
      int ranks,
      int launched,
      Slots slots,
      List<Arrival> compared,
      int signals,
      int sharedBytes,
      boolean cooperative,
      List<String> parameters,
      Optional<String> descriptor) {
    private static final Set<String> BY_BLOCK = Set.of("put_bandwidth", "put_latency", "post_once");

    /** Returns the shape of a kernel of the project; of no name, that of one sender. */
    public static Shape named(String entry) {
      boolean signals = entry.equals("signal_order");
      boolean answers = entry.equals("put_latency");
      boolean both = answers || signals;
      List<Arrival> compared = new ArrayList<>();
      if (entry.startsWith("put_") || signals) {
        compared.add(Arrival.ofAll(0, 1));
      }
      if (answers) {
        compared.add(Arrival.ofAll(1, 0));
      }
      return new Shape(
          2,
          both ? 2 : 1,
          signals ? Slots.WINDOW : BY_BLOCK.contains(entry) ? Slots.BLOCKS : Slots.THREADS,
          compared,
          signals ? 2 : 0,
          0,
          false,
          List.of("queue_pairs", "job"),
          Optional.empty());
    }

    /** Returns true if each rank has a queue pair to each other rank. */
    public boolean among() {
      return slots == Slots.RANKS;
    }
  }

  /**
   * The amount of work.
   *
   * @param blocks of the grid
   * @param threads of a block
   * @param iterations of each poster
   * @param bytes of a message, a multiple of 8
   * @param queuePairs between the two ranks
   * @param ring send ring in 64-byte blocks
   * @param window operations in flight, 0 for as many as the ring holds
   * @param scope "thread", "warp" or "block": who posts together
   * @param path {@code pull}, {@code inline} or {@code stage}
   */
  public record Load(
      int blocks,
      int threads,
      int iterations,
      int bytes,
      int queuePairs,
      int ring,
      int window,
      String scope,
      String path) {
    /** Returns the number of threads in the grid. */
    public int posters() {
      return blocks * threads;
    }
  }

  /**
   * The kernel's way of posting.
   *
   * @param queues {@code gpu} or {@code host}: where rings and records lie
   * @param ringer {@code gpu}, {@code cpu} or {@code proxy}: who rings
   * @param blueFlame through the BlueFlame register where a WQE fits
   * @param recordLast the doorbell goes out before the record, and once more after it
   * @param exclusive one thread posts to a queue pair
   * @param collapsed one completion entry, always overwritten, in place of a ring of them
   * @param batch ring at the latest when this many blocks wait
   * @param order of put_minimal: what stands between WQE, record and doorbell, as configs name it
   */
  public record Posting(
      String queues,
      String ringer,
      boolean blueFlame,
      boolean recordLast,
      boolean exclusive,
      boolean collapsed,
      int batch,
      String order) {
    /** The order that the library has where queues lie in GPU memory. */
    public static final String DEFAULT_ORDER = "fenced-record";

    /** Creates posting in the default order, with a ring of completion entries. */
    public Posting(
        String queues,
        String ringer,
        boolean blueFlame,
        boolean recordLast,
        boolean exclusive,
        int batch) {
      this(queues, ringer, blueFlame, recordLast, exclusive, false, batch, DEFAULT_ORDER);
    }

    public Posting inOrder(String other) {
      return new Posting(queues, ringer, blueFlame, recordLast, exclusive, collapsed, batch, other);
    }

    /** Returns everything, of which {@link Schedule} keeps a checksum; the default is left out. */
    @Override
    public String toString() {
      String text =
          "Posting[queues=%s, ringer=%s, blueFlame=%s, recordLast=%s, exclusive=%s, collapsed=%s, batch=%s"
              .formatted(queues, ringer, blueFlame, recordLast, exclusive, collapsed, batch);
      return order.equals(DEFAULT_ORDER) ? text + "]" : text + ", order=" + order + "]";
    }
  }

  /**
   * The reorderings that are allowed.
   *
   * @param tears pieces of a BlueFlame write may arrive apart
   * @param relaxed payload is registered for relaxed ordering: its parts may arrive in any order
   */
  public record Rules(Policy policy, boolean tears, boolean relaxed) {
    /** Creates rules under which payload is written in order. */
    public Rules(Policy policy, boolean tears) {
      this(policy, tears, false);
    }
  }

  public Scenario with(Program other) {
    return new Scenario(other, load, posting, rules, nic);
  }

  public Scenario with(Load other) {
    return new Scenario(program, other, posting, rules, nic);
  }

  public Scenario with(Posting other) {
    return new Scenario(program, load, other, rules, nic);
  }

  public Scenario with(Rules other) {
    return new Scenario(program, load, posting, other, nic);
  }

  public Scenario with(Nic other) {
    return new Scenario(program, load, posting, rules, other);
  }

  /** Returns everything, of which {@link Schedule} keeps a checksum; default HCAs are left out. */
  @Override
  public String toString() {
    String text =
        "Scenario[program="
            + program
            + ", load="
            + load
            + ", posting="
            + posting
            + ", rules="
            + rules;
    return nic.equals(Nic.DEFAULT) ? text + "]" : text + ", nic=" + nic + "]";
  }

  /** A scenario that cannot run: PTX that does not load, an entry that is not there. */
  public static final class ScenarioException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String fix;

    public ScenarioException(String message, Throwable cause) {
      super(message, cause);
      this.fix = "";
    }

    public ScenarioException(String message) {
      this(message, "");
    }

    /**
     * Creates an exception.
     *
     * @param fix what the user can do; may be empty
     */
    public ScenarioException(String message, String fix) {
      super(message);
      this.fix = fix;
    }

    /** Returns what the user can do; may be empty. */
    public String fix() {
      return fix;
    }
  }
}
