package dev.doorbell.experiments.scenario.moe;

import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.ExperimentKind.SettingName;
import dev.doorbell.experiments.scenario.kind.NetworkSettings;
import dev.doorbell.experiments.scenario.kind.QueueSettings;

/** Settings of a point. */
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
  public enum Payload {
    BYTES(0),
    BF16(1),
    FP8(2);

    private final int code;

    Payload(int code) {
      this.code = code;
    }

    int code() {
      return code;
    }
  }

  public enum Packing {
    TOKEN,
    EXPERT
  }

  /** The batch, apart from the way it is posted. */
  public ExpertBatch batch() {
    return new ExpertBatch(ranks, tokens, topk, experts, hidden, payload, packing, point.seed());
  }
}
