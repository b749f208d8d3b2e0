package dev.doorbell.core.mlx5.prm;

import dev.doorbell.core.mlx5.prm.generated.CommandHeader;
import dev.doorbell.core.mlx5.prm.generated.DcTargetContext;

/** Writes CREATE_DCT, DRAIN_DCT and QUERY_DCT. */
public final class DcTargetCommand {
  /** CREATE_DCT: eight bytes as an ATOMIC_MODE, as of queue pairs. */
  private static final int ATOMICS_OF_8_BYTES = 3;

  private DcTargetCommand() {}

  /**
   * The parameters of CREATE_DCT.
   *
   * @param domain number of the protection domain
   * @param receives number of the shared receive queue
   * @param completions number of the completion queue of receives
   * @param mtuCode 1 for 256 bytes to 5 for 4096
   * @param port of the device
   * @param gidIndex place of the device's GID
   */
  public record Shape(
      int domain,
      int receives,
      int completions,
      long accessKey,
      int mtuCode,
      int minRnrTimer,
      boolean read,
      boolean write,
      boolean atomic,
      int port,
      int gidIndex,
      int hopLimit) {}

  public static PrmBuffer create(Shape shape) {
    return PrmBuffer.command(DcTargetContext.BYTES, CommandHeader.CREATE_DCT)
        .put(DcTargetContext.PD, shape.domain)
        .put(DcTargetContext.SRQN, shape.receives)
        .put(DcTargetContext.CQN, shape.completions)
        .putLong(DcTargetContext.ACCESS_KEY_OFFSET, shape.accessKey)
        .put(DcTargetContext.MTU, shape.mtuCode)
        .put(DcTargetContext.MIN_RNR_NAK, shape.minRnrTimer)
        .put(DcTargetContext.RRE, shape.read)
        .put(DcTargetContext.RWE, shape.write)
        .put(DcTargetContext.RAE, shape.atomic)
        .put(DcTargetContext.ATOMIC_MODE, shape.atomic ? ATOMICS_OF_8_BYTES : 0)
        .put(DcTargetContext.PORT, shape.port)
        .put(DcTargetContext.ADDRESS_INDEX, shape.gidIndex)
        .put(DcTargetContext.HOP_LIMIT, shape.hopLimit);
  }

  public static PrmBuffer drain(int number) {
    return PrmBuffer.command(PrmBuffer.HEADER_BYTES, CommandHeader.DRAIN_DCT)
        .put(CommandHeader.NUMBER, number);
  }

  public static PrmBuffer query(int number) {
    return PrmBuffer.command(PrmBuffer.HEADER_BYTES, CommandHeader.QUERY_DCT)
        .put(CommandHeader.NUMBER, number);
  }
}
