package dev.doorbell.core.queue.generated;

import javax.annotation.processing.Generated;

/**
 * The words that the host reads and writes at a safe point. Little-endian.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/safe_point_abi.h.
 */
@Generated("FormatsTest")
public class SafePointFields {
  public static final int BYTES = 64;

  public static final int WANTED = 0;

  public static final int GRANTED = 8;

  public static final int POSTERS = 16;

  public static final int POSTER_BYTES = 16;

  public static final int POSTER_STATE = 0;

  public static final int POSTER_POSTED = 8;

  /**
   * {@code DOORBELL_SAFE_POINT_CLOSED}: Lies in GPU memory. The host writes it, posters read it.
   * Epochs rise by one.
   */
  public static final long CLOSED = 0xffffffffffffffffL;

  public static final int STATE_SHIFT = 0x2;

  public static final int POSTING = 0x0;

  /** {@code DOORBELL_POSTER_WAITING}: at the safe point, because the host asked */
  public static final int WAITING = 0x1;

  /** {@code DOORBELL_POSTER_FAILED}: at the safe point, because a post or a wait failed */
  public static final int FAILED = 0x2;

  /** {@code DOORBELL_POSTER_ENDED}: posts no more */
  public static final int ENDED = 0x3;

  protected SafePointFields() {}
}
