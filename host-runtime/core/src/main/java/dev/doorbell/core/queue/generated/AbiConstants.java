package dev.doorbell.core.queue.generated;

import javax.annotation.processing.Generated;

/**
 * Status words of abi.h.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/abi.h.
 */
@Generated("FormatsTest")
public class AbiConstants {
  /** {@code DOORBELL_ABI_VERSION}: doorbell_qp.flags */
  public static final int VERSION = 0x2;

  public static final int OK = 0x0;

  /** {@code DOORBELL_ERROR_CQE}: an error CQE; see the error record */
  public static final int ERROR_CQE = 0x1;

  /** {@code DOORBELL_ERROR_DEADLINE}: a wait did not end in time */
  public static final int ERROR_DEADLINE = 0x2;

  /**
   * {@code DOORBELL_ERROR_ARGUMENT}: the operation cannot be expressed (inline too long, size 0
   * ...)
   */
  public static final int ERROR_ARGUMENT = 0x3;

  /** {@code DOORBELL_ERROR_DATA}: received bytes were not the expected ones */
  public static final int ERROR_DATA = 0x4;

  /** {@code DOORBELL_ERROR_POISONED}: another thread met an error on this queue pair before */
  public static final int ERROR_POISONED = 0x5;

  protected AbiConstants() {}
}
