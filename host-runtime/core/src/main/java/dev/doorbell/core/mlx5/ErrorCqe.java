package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;

/**
 * A completion queue entry with opcode {@link Cqe#REQUESTER_ERROR} or {@link Cqe#RESPONDER_ERROR}:
 * {@code struct mlx5_err_cqe} of rdma-core providers/mlx5/mlx5dv.h. Where it differs from {@link
 * Cqe}:
 *
 * <pre>
 *   31            24 23            16 15             8 7            0
 *  +----------------+----------------+----------------+--------------+
 *  |                             srqn                                |  0x20
 *  +----------------+----------------+----------------+--------------+
 *  |                           reserved                             ...  0x24
 *  +----------------+----------------+----------------+--------------+
 *  |  hw_err_synd   |  hw_synd_type  |vendor_err_synd |   syndrome   |  0x34
 *  +----------------+----------------+----------------+--------------+
 *  |   WQE opcode   |                    QPN                         |  0x38
 *  +----------------+----------------+----------------+--------------+
 * </pre>
 */
public final class ErrorCqe {
  /** {@code srqn}. */
  public static final int SRQN_OFFSET = 0x20;

  /** {@code hw_err_synd}. */
  public static final int HARDWARE_SYNDROME_OFFSET = 0x34;

  /** {@code hw_synd_type}. */
  public static final int HARDWARE_SYNDROME_TYPE_OFFSET = 0x35;

  /** {@code vendor_err_synd}. */
  public static final int VENDOR_SYNDROME_OFFSET = 0x36;

  /** {@code syndrome}. */
  public static final int SYNDROME_OFFSET = 0x37;

  private ErrorCqe() {}

  /** What went wrong; see {@link Syndrome}. */
  public static int syndrome(long address) {
    return RawMemory.getByte(address + SYNDROME_OFFSET) & 0xff;
  }

  /** The vendor's own code. */
  public static int vendorSyndrome(long address) {
    return RawMemory.getByte(address + VENDOR_SYNDROME_OFFSET) & 0xff;
  }

  /** The hardware's own code. */
  public static int hardwareSyndrome(long address) {
    return RawMemory.getByte(address + HARDWARE_SYNDROME_OFFSET) & 0xff;
  }

  /** The type of {@link #hardwareSyndrome}. */
  public static int hardwareSyndromeType(long address) {
    return RawMemory.getByte(address + HARDWARE_SYNDROME_TYPE_OFFSET) & 0xff;
  }

  /** The 24-bit number of the queue pair. */
  public static int qpn(long address) {
    return Cqe.qpn(address);
  }

  /** The opcode of the failed WQE. */
  public static int wqeOpcode(long address) {
    return Cqe.wqeOpcode(address);
  }

  /** 16-bit index of the failed WQE. */
  public static int wqeCounter(long address) {
    return Cqe.wqeCounter(address);
  }

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
