package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.fabric.explore.model.Policy;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Ordering bugs of GPU-initiated communication that were reported in public, and one of Doorbell's
 * own recovery protocol. Some are bugs on certain adapters only. Each is a broken and a fixed
 * kernel in {@code kernels/cases/NAME.cu}.
 */
public enum BugCase {
  SHARED_QUEUE_PAIR(
      "two posters on one queue pair, each rings for itself",
      "an HCA that fetches a WQE nobody has written, lost or doubled messages, hangs under load",
      "pass a baton: ring when everything before is written, then hand on with release",
      "DeepEP#181",
      new Shape(2, 1, 16, 32, 1)),
  READY_INDEX(
      "the ready index is raised without a release",
      "CQEs with syndrome 0x02 or 0x04: the HCA fetched a half-written WQE",
      "raise the index with release, take it with acquire",
      "DeepEP#703, UCX#10900",
      new Shape(2, 1, 3, 32, 1)),
  TWO_FENCES(
      "one of the two fences of a doorbell removed, as one too many",
      "a doorbell in front of its record: the HCA finds nothing new, and a message is late for"
          + " ever",
      "one fence before the record, one before the doorbell; a third is of no use",
      "UCX#11539",
      new Shape(1, 1, 3, 32, 1)),
  PER_THREAD_WQE(
      "every lane writes a WQE, one rings after a vote",
      "now and then one message of a warp carries the bytes of the one before",
      "__syncwarp: votes and shuffles make lanes meet, and order no memory",
      "nccl#2313",
      new Shape(1, 32, 1, 32, 1)),
  DOORBELL_LOCK(
      "a lock around the doorbell that excludes without acquire and release",
      "two messages in one slot, one of them lost, only under contention",
      "take the lock with acquire, leave it with release",
      "ROCm/mori#14",
      new Shape(2, 1, 3, 32, 1)),
  NO_FENCE(
      "WQE, record and doorbell without any fence",
      "stale WQEs on weakly ordered machines, where x86 never showed any",
      "fence before the record and before the doorbell",
      "rdma-core#1062",
      new Shape(1, 1, 3, 32, 1)),
  TWO_QUEUE_PAIRS(
      "data on one queue pair, the flag behind it on another",
      "a receiver that finds the flag and reads old data",
      "wait for the data's completion before the flag is posted, or use one queue pair",
      "nccl#2302",
      new Shape(1, 1, 6, 2048, 2)),
  FIFO_TAIL(
      "the CPU gives a FIFO's slot back before it has read it",
      "commands that are overwritten while the proxy reads them",
      "read the slot, then move the tail on with release",
      "mscclpp#549",
      new Shape(1, 1, 8, 32, 1)),
  WRITE_COMBINED_RING(
      "a command ring in write-combined memory, filled without a fence",
      "a flag in front of its command: the GPU executes what was there before",
      "fence (sfence) between the command and its flag",
      "mscclpp#557",
      new Shape(1, 1, 6, 32, 1)),
  WRONG_COUNTER(
      "a CPU that rings polls the counter of reserved WQEs, not of written ones",
      "doorbells for slots that hold no WQE yet",
      "agree on one word: the counter that is released behind the WQE",
      "DeepEP#677, DeepEP#509",
      new Shape(1, 1, 3, 32, 1)),
  ERASED_FLAG(
      "the CPU erases a flag that the kernel has just set again",
      "kernel and proxy wait for each other for ever",
      "clear the flag before the answer, or count instead of clearing",
      "nccl#2389",
      new Shape(1, 1, 300, 32, 1)),
  STALE_CREDIT(
      "a credit of the round before arrives when the next round has begun",
      "slots that are filled while the receiver still reads them, wrong data, then a hang",
      "wait for the completions of the credits before the round is said to be over",
      "DeepEP#310",
      new Shape(1, 1, 5, 32, 1)),
  SAFE_POINT(
      "the host changes what a kernel posts to before the kernel is at its safe point",
      "posts to a queue pair that is being reset, operations lost or done twice",
      "wait, with acquire, until each poster says that it is there or has ended; then grant",
      "none: Doorbell's own protocol of docs/recovery.md",
      new Shape(1, 1, 9, 32, 2)),
  ADAPTIVE_FLAG(
      "a put and a WRITE of its flag on one queue pair, with adaptive routing",
      "now and then a flag in front of its data, only on fabrics with adaptive routing",
      "the strong-ordering fence bit on the flag, an atomic, or a wait for the data's completion",
      "torchcomms#840, DeepEP#20, uccl#374",
      new Shape(1, 1, 4, 1024, 1),
      "cx7-ar"),
  LAST_WORD(
      "the receiver polls the last word of a message of several packets",
      "a message whose end is there and whose beginning is not, on ConnectX-8",
      "an atomic behind the message, or a flag by a key for strict ordering",
      "ucx#10658, nixl#1917",
      new Shape(1, 1, 4, 1024, 1),
      "cx8-ooo-rw"),
  REWRITTEN_COUNTER(
      "a counter written again by WRITEs before the last one is complete",
      "a counter that falls back and stays there, a receiver that waits for ever",
      "wait for each completion, fence each WRITE, or add by atomics",
      "uccl#387, ucx#10658",
      new Shape(1, 1, 8, 64, 1),
      "cx8-ooo-all"),
  RELAXED_FLAG(
      "a put and a fenced WRITE of its flag, both to memory with relaxed ordering",
      "a flag in front of its data on some machines, with or without a fence bit",
      "an atomic, or a key for strict ordering for the flag",
      "nccl#2210, DeepEP#661",
      new Shape(1, 1, 4, 1024, 1),
      "relaxed-pcie"),
  REFUSED_ATOMIC(
      "an atomic signal on an HCA without atomics, and nobody looks at the error CQE",
      "a receiver that waits for ever, and a sender that says nothing",
      "look at completions; count by a fenced WRITE where the word has one writer",
      "mori#588, nccl#2383",
      new Shape(1, 1, 3, 64, 1),
      "no-atomics"),
  TWO_RAILS(
      "data over one HCA, its flag over another when the data is complete",
      "stale data behind a flag on machines with several HCAs a GPU, as GB200",
      "a READ behind the data on its own queue pair before the flag is sent",
      "torchcomms#2373, torchcomms#2396, nccl#2092",
      new Shape(1, 1, 4, 64, 2),
      "split-visibility"),
  WEAK_SIGNAL(
      "the last message carries its own signal, and the receiver reads those before it, too",
      "the newest message is there, an older one is not, where writes are placed in any order",
      "the strong-ordering fence bit on the message that carries the signal",
      "aws-ofi-nccl#1229, torchcomms#3881",
      new Shape(1, 1, 4, 192, 1),
      "cx8-ooo-all"),
  FLUSH_ELSEWHERE(
      "a READ flushes on another HCA than the one that wrote the data",
      "stale data behind a flag although it was flushed, on machines with several HCAs a GPU",
      "a READ on the queue pair of the data; one for each HCA that wrote",
      "rccl#1570, nccl#2092",
      new Shape(1, 1, 4, 64, 2),
      "split-visibility"),
  SRD_FLAG(
      "a put and a WRITE of its flag on an adapter that orders no messages",
      "8 bytes of a flag that arrive before their megabyte, on EFA",
      "wait for the data's completion before the flag is posted",
      "uccl#374",
      new Shape(1, 1, 4, 1024, 1),
      "efa"),
  COUNTED_COMPLETIONS(
      "a slot is filled again when as many messages are complete as were posted up to its own",
      "now and then a message that carries the bytes of a later one, on EFA",
      "wait for the completion of the slot's own message; a count says how many, not which",
      "aws-ofi-nccl#1250",
      new Shape(1, 1, 32, 512, 1),
      "efa"),
  COUNTER_WRAP(
      "a hardware completion counter is compared with what it held and what was posted",
      "a sender that waits for ever once the counter has wrapped",
      "compare the distance from what it held, modulo its range",
      "aws-ofi-nccl#1250",
      new Shape(1, 1, 4, 64, 1),
      "efa"),
  LONG_BATCH(
      "one doorbell for more work requests than the adapter takes at once",
      "a queue pair in error after a burst, on adapters whose send queue lies in their memory",
      "a doorbell for each maximum batch",
      "rdma-core, efa_post_send (max_batch_wr)",
      new Shape(1, 1, 1, 256, 1),
      "efa"),
  DOORBELL_ORDER(
      "a poster hands its turn on, and rings after that",
      "a queue pair in error under load, on adapters whose doorbell is the count itself",
      "ring within the turn; relaxed loads may wait for it, with a fence behind them",
      "nccl#2320",
      new Shape(2, 1, 16, 64, 1),
      "efa"),
  ERROR_PROGRESS(
      "a wait that counts an error CQE as progress",
      "a peer that is told of messages that were flushed, after an atomic that was refused",
      "look at the opcode of each CQE; send what failed again, without atomics",
      "mori#421",
      new Shape(1, 1, 3, 64, 2),
      "no-atomics"),
  BATCH_TAIL(
      "a quiet retires batches when their last request is complete, the oldest batch first",
      "a sender that waits for ever, and every receiver with it, on EFA alone",
      "count the completion of each request by itself",
      "uccl#734, uccl#723",
      new Shape(1, 1, 48, 64, 1),
      "efa");

  private static final int RING = 64;

  private final String summary;
  private final String symptom;
  private final String fix;
  private final String sources;

  @SuppressWarnings("ImmutableEnumChecker") // numbers
  private final Shape shape;

  private final String nic;

  /**
   * How a case is launched, on both ranks.
   *
   * @param iterations of each poster
   * @param bytes of a message
   */
  private record Shape(int blocks, int threads, int iterations, int bytes, int queuePairs) {}

  BugCase(String summary, String symptom, String fix, String sources, Shape shape) {
    this(summary, symptom, fix, sources, shape, Adapter.DEFAULT.name());
  }

  BugCase(String summary, String symptom, String fix, String sources, Shape shape, String nic) {
    this.nic = nic;
    this.summary = summary;
    this.symptom = symptom;
    this.fix = fix;
    this.sources = sources;
    this.shape = shape;
  }

  /** Returns the name on the command line. */
  public String word() {
    return kernel().replace('_', '-');
  }

  /** Returns the name of the file, and of its kernels before {@code _broken} and {@code _fixed}. */
  public String kernel() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the mistake. */
  public String summary() {
    return summary;
  }

  /** Returns what users observed. */
  public String symptom() {
    return symptom;
  }

  /** Returns the fix. */
  public String fix() {
    return fix;
  }

  /** Returns the public reports that the case is modelled on, or the document of the protocol. */
  public String sources() {
    return sources;
  }

  /** Returns the name of the adapter that shows it. */
  public String nic() {
    return nic;
  }

  /** Returns true if HCAs that keep InfiniBand's order hide it. */
  public boolean hides() {
    return !nic.equals(Adapter.DEFAULT.name());
  }

  /** Returns the case of that name; {@code -} and {@code _} are equivalent. */
  public static Optional<BugCase> of(String word) {
    return Arrays.stream(values())
        .filter(c -> c.kernel().equals(word.toLowerCase(Locale.ROOT).replace('-', '_')))
        .findFirst();
  }

  /** Returns the names of all cases. */
  public static List<String> words() {
    return Arrays.stream(values()).map(BugCase::word).toList();
  }

  /**
   * Returns the scenario to explore. Its rules are strict, so that a fixed case is right on every
   * machine.
   *
   * @param program one of its two kernels
   */
  public Scenario scenario(Scenario.Program program) {
    return new Scenario(
        program,
        new Scenario.Load(
            shape.blocks,
            shape.threads,
            shape.iterations,
            shape.bytes,
            shape.queuePairs,
            RING,
            0,
            "thread",
            "pull"),
        new Scenario.Posting("gpu", "gpu", false, false, false, 1),
        new Scenario.Rules(Policy.STRICT, false),
        Nic.of(Adapters.named(nic)));
  }
}
