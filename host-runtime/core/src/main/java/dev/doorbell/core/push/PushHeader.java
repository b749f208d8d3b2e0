package dev.doorbell.core.push;

/**
 * The header of a pushed message, {@code struct doorbell_push_header} of push_abi.h.
 *
 * <pre>
 *   0  index        64   of the message in its ring
 *   8  local        64   the payload in GPU memory
 *  16  remote       64   where it goes
 *  24  bytes        32
 *  28  destination  32   number of the peer
 *  32  checksum     32   sum of the payload's 32-bit words
 *  36  flags        32   above bit 16: the slot, of a ring on a shared pool
 *  40  phase        32   1 + index / entries, its last bit
 *  44  seal         32   sum of the words before it, and 1
 *  48  reserved    128
 * </pre>
 *
 * <p>Little-endian.
 */
public final class PushHeader {
  /** Bytes of the structure. */
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

  /** Flag: the payload lies in the slot; else it is read at {@link #LOCAL}. */
  public static final int FLAG_STAGED = 0x1;

  /** Flag: the checksum is meant. */
  public static final int FLAG_CHECKED = 0x2;

  /** Above this bit of the flags: the slot in the pool that the ring shares with others. */
  public static final int SLOT_SHIFT = 16;

  private PushHeader() {}

  /** The phase of a message: never that of the one before it in its place, nor of zeroed memory. */
  public static int phase(long index, int entries) {
    return (int) (index / entries + 1) & 1;
  }
}
