package dev.doorbell.experiments.config.kernel;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What a field of a {@link KernelStructure} may name of the world. The order is the order of the
 * variables in the formulas of fields.
 */
public enum WorldNumber {
  /** Where queue pair {@code qp} stands among the rank's. */
  QP_INDEX,
  QP_NUMBER,
  /** The rank that it leads to. */
  QP_PEER,
  /** Address of its send ring. */
  QP_RING,
  QP_BLOCKS,
  /** Address of the send counter of its doorbell record. */
  QP_RECORD,
  /** Address that a kernel rings: the UAR page. */
  QP_DOORBELL,
  /** 1 where the send ring lies in the GPU, 0 in host memory. */
  QP_ON_GPU,
  CQ_NUMBER,
  /** Address of the completion ring. */
  CQ_RING,
  CQ_ENTRIES,
  /** Address of its doorbell record. */
  CQ_RECORD,
  PAYLOAD_ADDRESS,
  PAYLOAD_BYTES,
  PAYLOAD_LKEY,
  INBOX_ADDRESS,
  INBOX_BYTES,
  INBOX_LKEY,
  PEER_RANK,
  /** Address of the peer's inbox. */
  PEER_INBOX,
  PEER_BYTES,
  PEER_RKEY,
  /** Address of the peer's signal words; 0 where the kernel has none. */
  PEER_SIGNALS,
  PEER_SIGNALS_RKEY,
  /** Address of the own signal words; 0 where the kernel has none. */
  SIGNALS_ADDRESS,
  SIGNALS_BYTES,
  /** What the parameter {@code queue_pairs} points to. */
  QUEUE_PAIRS_ADDRESS,
  RANK,
  RANKS,
  QUEUE_PAIRS,
  /** The element of the array that is laid out, from 0. */
  INDEX;

  /** The word of descriptors: {@code qp.ring}. */
  public String word() {
    String word = name().toLowerCase(Locale.ROOT);
    for (String owner : List.of("queue_pairs", "payload", "inbox", "signals", "peer", "qp", "cq")) {
      if (word.startsWith(owner + "_")) {
        return owner + "." + word.substring(owner.length() + 1);
      }
    }
    return word;
  }

  /** All words. */
  public static List<String> words() {
    return Arrays.stream(values()).map(WorldNumber::word).toList();
  }
}
