package dev.doorbell.core.mlx5.prm;

import dev.doorbell.core.mlx5.prm.generated.CapabilityFields;
import dev.doorbell.core.mlx5.prm.generated.CommandHeader;

/** QUERY_HCA_CAP: the capabilities that a device has now. Offsets are those in the answer. */
public final class Capabilities extends CapabilityFields {
  private static final int CURRENT = 1;

  private final PrmBuffer answer;

  /**
   * Reads an answer.
   *
   * @param answer of {@link #query}
   */
  public Capabilities(PrmBuffer answer) {
    this.answer = answer;
  }

  /** The command for the general capabilities. */
  public static PrmBuffer query() {
    return PrmBuffer.command(PrmBuffer.HEADER_BYTES, CommandHeader.QUERY_HCA_CAP)
        .put(CommandHeader.OP_MOD, GENERAL << 1 | CURRENT);
  }

  public static int group(PrmBuffer query) {
    return query.get(CommandHeader.OP_MOD) >>> 1;
  }

  /** log2 of the largest queue in WQEs; 0 where the device does not say. */
  public int logLargestQueue() {
    return answer.get(LOG_MAX_QP_SZ);
  }

  /** log2 of the largest completion queue. */
  public int logLargestCompletionQueue() {
    return answer.get(LOG_MAX_CQ_SZ);
  }

  /** Bytes of one half of a BlueFlame register; 0 where there is none. */
  public int blueFlameBytes() {
    int log = answer.get(LOG_BF_REG_SIZE);
    return answer.isSet(BLUEFLAME) && log > 0 ? 1 << (log - 1) : 0;
  }
}
