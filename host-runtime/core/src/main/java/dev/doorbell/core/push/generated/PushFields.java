package dev.doorbell.core.push.generated;

import javax.annotation.processing.Generated;

/**
 * The header of a pushed message. Little-endian.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/push_abi.h.
 */
@Generated("FormatsTest")
public class PushFields {
  public static final int BYTES = 64;

  public static final int INDEX = 0;

  public static final int LOCAL = 8;

  public static final int REMOTE = 16;

  public static final int LENGTH = 24;

  public static final int DESTINATION = 28;

  public static final int CHECKSUM = 32;

  public static final int FLAGS = 36;

  public static final int PHASE = 40;

  public static final int SEAL = 44;

  /** {@code DOORBELL_PUSH_STAGED}: the payload lies in the slot; else the HCA reads it at local */
  public static final int FLAG_STAGED = 0x1;

  /** {@code DOORBELL_PUSH_CHECKED}: checksum is meant */
  public static final int FLAG_CHECKED = 0x2;

  protected PushFields() {}
}
