package dev.doorbell.core.queue;

/**
 * Where the host looks and writes at a safe point: {@code struct doorbell_safe_point} and {@code
 * struct doorbell_poster} of safe_point_abi.h. All words are 64-bit and little-endian.
 */
public final class SafePointView {
  /** Bytes of {@code struct doorbell_safe_point}. */
  public static final int BYTES = 64;

  public static final int WANTED = 0;
  public static final int GRANTED = 8;
  public static final int POSTERS = 16;

  /** In the word at {@link #GRANTED}: there is no epoch any more. */
  public static final long CLOSED = -1;

  /** Bytes of {@code struct doorbell_poster}. */
  public static final int POSTER_BYTES = 16;

  public static final int POSTER_STATE = 0;
  public static final int POSTER_POSTED = 8;

  /** Where the epoch begins in the word at {@link #POSTER_STATE}. */
  public static final int STATE_SHIFT = 2;

  public static final int POSTING = 0;
  public static final int WAITING = 1;
  public static final int FAILED = 2;
  public static final int ENDED = 3;

  private SafePointView() {}

  /** What a poster does, of the word at {@link #POSTER_STATE}. */
  public static int state(long word) {
    return (int) word & ((1 << STATE_SHIFT) - 1);
  }

  /** The epoch in which it does so, or which it waits for. */
  public static long epoch(long word) {
    return word >>> STATE_SHIFT;
  }
}
