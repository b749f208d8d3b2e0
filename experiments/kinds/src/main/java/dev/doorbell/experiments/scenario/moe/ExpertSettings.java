package dev.doorbell.experiments.scenario.moe;

import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.ExperimentKind.SettingName;
import dev.doorbell.experiments.scenario.kind.NetworkSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings;

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

  /** What is dispatched, apart from how it is posted. */
  public ExpertBatch batch() {
    return new ExpertBatch(ranks, tokens, topk, experts, hidden, payload, packing, point.seed());
  }
}
