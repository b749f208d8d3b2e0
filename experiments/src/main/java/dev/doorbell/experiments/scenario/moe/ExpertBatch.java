package dev.doorbell.experiments.scenario.moe;

import dev.doorbell.experiments.scenario.moe.ExpertSettings.Packing;
import dev.doorbell.experiments.scenario.moe.ExpertSettings.Payload;

/**
 * The tokens that ranks dispatch to experts.
 *
 * @param tokens of each rank
 * @param topk experts of a token
 * @param experts of all ranks
 * @param hidden elements of a token; bytes, where the payload is bytes
 * @param payload what is dispatched
 * @param packing what a put carries
 * @param seed of the tokens' elements
 */
public record ExpertBatch(
    int ranks,
    int tokens,
    int topk,
    int experts,
    int hidden,
    Payload payload,
    Packing packing,
    long seed) {
  private static final int UNIT = 16;

  /** Header of a message: token, rank, experts. */
  static final int HEADER = 64;

  /** Experts of a rank. */
  public int local() {
    return experts / ranks;
  }

  /** Bytes of a token as a rank has it. */
  int tokenBytes() {
    return payload == Payload.BYTES ? hidden : 2 * hidden;
  }

  /** Bytes of a dispatched message. */
  int messageBytes() {
    int bytes =
        switch (payload) {
          case BYTES -> hidden;
          case BF16 -> 2 * hidden;
          case FP8 -> hidden + Float.BYTES * (hidden / Quantiser.GROUP);
        };
    return HEADER + Math.ceilDiv(bytes, UNIT) * UNIT;
  }
}
