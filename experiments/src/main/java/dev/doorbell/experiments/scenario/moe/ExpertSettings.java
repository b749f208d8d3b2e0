package dev.doorbell.experiments.scenario.moe;

import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.NetworkSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.kind.SettingName;

/**
 * Settings of a point.
 *
 * @param tokens of each rank
 * @param topk experts of a token
 * @param experts of all ranks
 * @param hidden elements of a token; bytes, where the payload is bytes
 * @param payload what is dispatched
 * @param packing what a put carries
 * @param routing uniform, zipf or the path of a routing file
 * @param threads of each of a rank's blocks
 * @param blocks of each rank
 */
public record ExpertSettings(
    Point point,
    int ranks,
    int tokens,
    int topk,
    int experts,
    int hidden,
    @SettingName("element") Payload payload,
    Packing packing,
    String routing,
    int threads,
    int blocks,
    TransferPath path,
    QueueSettings queues,
    NetworkSettings between) {
  private static final int UNIT = 16;

  /** Header of a message: token, rank, experts. */
  static final int HEADER = 64;

  /** What is dispatched. */
  public enum Payload {
    BYTES(0),
    BF16(1),
    FP8(2);

    private final int code;

    Payload(int code) {
      this.code = code;
    }

    /** As the kernel numbers it. */
    int code() {
      return code;
    }
  }

  /** What a put carries. */
  public enum Packing {
    TOKEN,
    EXPERT
  }

  /** The same among fewer ranks, with the experts that live there. */
  public ExpertSettings among(int members) {
    return new ExpertSettings(
        point,
        members,
        tokens,
        topk,
        members * local(),
        hidden,
        payload,
        packing,
        routing,
        threads,
        blocks,
        path,
        queues,
        between);
  }

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
