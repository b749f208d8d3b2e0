package dev.doorbell.core.push;

import dev.doorbell.core.memory.RawMemory;

/**
 * The credit of a push ring, {@code struct doorbell_push_credit} of push_abi.h: two absolute
 * indices that the engine writes into GPU memory.
 *
 * <pre>
 *   0  released      64   messages below have given their slots back
 *   8  acknowledged  64   messages below have arrived
 * </pre>
 *
 * <p>Little-endian.
 */
public final class PushCredit {
  /** Bytes of the structure. */
  public static final int BYTES = 16;

  public static final int RELEASED = 0;
  public static final int ACKNOWLEDGED = 8;

  private PushCredit() {}

  /** Writes all 16 bytes. */
  public static void write(long address, long released, long acknowledged) {
    RawMemory.putLong(address + RELEASED, released);
    RawMemory.putLong(address + ACKNOWLEDGED, acknowledged);
  }
}
