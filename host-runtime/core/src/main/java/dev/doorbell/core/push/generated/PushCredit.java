package dev.doorbell.core.push.generated;

import javax.annotation.processing.Generated;

/**
 * The credit of a push ring: two absolute indices that the engine writes into GPU memory.
 * Little-endian.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/push_abi.h.
 */
@Generated("FormatsTest")
public class PushCredit {
  public static final int BYTES = 16;

  public static final int RELEASED = 0;

  public static final int ACKNOWLEDGED = 8;

  protected PushCredit() {}
}
