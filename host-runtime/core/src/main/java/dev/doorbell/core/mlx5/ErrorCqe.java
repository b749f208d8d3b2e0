package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.mlx5.generated.ErrorCqeFields;

/**
 * A completion queue entry with opcode {@link Cqe#REQUESTER_ERROR} or {@link Cqe#RESPONDER_ERROR};
 * the fields that it does not define are those of {@link Cqe}.
 */
public final class ErrorCqe extends ErrorCqeFields {
  private ErrorCqe() {}

  /**
   * Writes all 64 bytes, the last word with release semantics.
   *
   * @param opcode {@link Cqe#REQUESTER_ERROR} or {@link Cqe#RESPONDER_ERROR}
   * @param syndrome see {@link Syndrome}
   * @param owner see {@link Cqe#ownerFor}
   */
  public static void write(
      long address,
      int opcode,
      int syndrome,
      int vendorSyndrome,
      int wqeOpcode,
      int qpn,
      int wqeCounter,
      int owner) {
    Cqe.clearUntil(address, HARDWARE_SYNDROME_OFFSET);
    BigEndian.putInt(
        address + HARDWARE_SYNDROME_OFFSET, (vendorSyndrome & 0xff) << 8 | (syndrome & 0xff));
    BigEndian.putInt(address + Cqe.SOP_DROP_QPN_OFFSET, wqeOpcode << 24 | (qpn & 0xff_ffff));
    Cqe.publish(address, wqeCounter, opcode, false, owner);
  }
}
