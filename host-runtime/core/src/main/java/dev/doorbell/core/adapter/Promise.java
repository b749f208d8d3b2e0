package dev.doorbell.core.adapter;

import java.util.List;
import java.util.Locale;

/** A question to which each adapter gives one of a few answers. */
public enum Promise {
  PLACEMENT("the order in which RDMA WRITE packets of a queue pair are placed", Placement.values()),
  STRICT_KEY("what a memory key for strict ordering does", StrictKey.values()),
  ATOMICS("what an atomic waits for", Atomics.values()),
  SENDING("what a work request without a fence bit waits for", Sending.values()),
  POSTED("the order of posted writes on PCIe", Posted.values()),
  VISIBILITY("what a completion says about payload in GPU memory", Visibility.values()),
  MESSAGES(
      "the order in which messages of a queue pair take effect and complete", Messages.values()),
  FENCE_BIT("what the strong-ordering fence bit of a request does", FenceBit.values()),
  QUEUES("how work requests reach the HCA", Queues.values());

  private final String question;

  @SuppressWarnings("ImmutableEnumChecker") // enums
  private final List<Enum<?>> answers;

  Promise(String question, Enum<?>[] answers) {
    this.question = question;
    this.answers = List.of(answers);
  }

  public String question() {
    return question;
  }

  /** Returns the name in files. */
  public String key() {
    return word(this);
  }

  /** Returns the legal answers as files have them. */
  public List<String> answers() {
    return answers.stream().map(Promise::word).toList();
  }

  /** Returns the word for a constant: lower case with dashes. */
  public static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The order in which the packets of RDMA WRITEs of one queue pair are placed. */
  public enum Placement {
    /** In the order of their sequence numbers. */
    IN_ORDER,
    /** In any order, within a message and between messages. */
    ANY_ORDER
  }

  /** Effect of a memory key for strict ordering on a write. */
  public enum StrictKey {
    /** It is placed as any other. */
    NO_EFFECT,
    /** It is placed behind all writes of the queue pair that precede it. */
    AFTER_EARLIER_WRITES
  }

  /** Condition for which an atomic waits. */
  public enum Atomics {
    /** The responder executes it behind all writes that precede it. */
    AFTER_WRITES,
    /** The requester sends it when all requests before it are acknowledged. */
    AFTER_ACKNOWLEDGEMENT,
    /** There are none: the requester gets a remote operation error. */
    REFUSED
  }

  /** Condition for which a request without a fence bit waits. */
  public enum Sending {
    /** For nothing. */
    PIPELINED,
    /** For the acknowledgement of all requests before it, as with a strong-ordering fence. */
    ACKNOWLEDGED
  }

  /** The order of posted writes between the HCA and memory. */
  public enum Posted {
    /**
     * The order in which they leave the HCA, unless the memory is registered for relaxed ordering.
     */
    IN_ORDER,
    /** Any, unless the memory is registered for strict ordering. */
    RELAXED
  }

  /** Meaning of an acknowledgement, or a completion in another memory, for payload. */
  public enum Visibility {
    /** Whoever learns of the completion sees the payload. */
    WITH_COMPLETION,
    /** The payload may be seen after a read of the same queue pair at that HCA. */
    AFTER_READ
  }

  /** The order in which messages take effect and complete: WRITEs, READs, receives, CQEs. */
  public enum Messages {
    /** In the order of posting; WRITEs alone may be placed otherwise. */
    IN_ORDER,
    /** In any order. */
    ANY_ORDER
  }

  /** Effect of a strong-ordering fence bit. */
  public enum FenceBit {
    /** The request leaves when all before it are acknowledged. */
    WAITS,
    /** Requests have none. */
    NONE
  }

  /** The way of work requests to the HCA. */
  public enum Queues {
    /** Through mlx5's send rings in host or GPU memory, doorbell records and doorbells. */
    MLX5,
    /** Through EFA's send queues in memory of the adapter, and 32-bit doorbells. */
    EFA
  }
}
