package dev.doorbell.core.queue;

import dev.doorbell.core.memory.RawMemory;

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
 *  36  flags        32
 *  40  phase        32   1 + index / entries, its last bit
 *  44  seal         32   sum of the words before it, and 1
 *  48  reserved    128
 * </pre>
 *
 * <p>Little-endian; accessors take a native address of the header.
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

  private PushHeader() {}

  public static long index(long header) {
    return RawMemory.getLong(header + INDEX);
  }

  public static long local(long header) {
    return RawMemory.getLong(header + LOCAL);
  }

  public static long remote(long header) {
    return RawMemory.getLong(header + REMOTE);
  }

  public static int bytes(long header) {
    return RawMemory.getInt(header + LENGTH);
  }

  public static int destination(long header) {
    return RawMemory.getInt(header + DESTINATION);
  }

  public static int checksum(long header) {
    return RawMemory.getInt(header + CHECKSUM);
  }

  public static boolean has(long header, int flag) {
    return (RawMemory.getInt(header + FLAGS) & flag) != 0;
  }

  /**
   * True when the header at {@code header} is that of message {@code index}, whole: its words may
   * come one by one where nothing orders them before the doorbell.
   */
  public static boolean isOf(long header, long index, int entries) {
    return index(header) == index
        && RawMemory.getInt(header + PHASE) == phase(index, entries)
        && RawMemory.getInt(header + SEAL) == seal(header);
  }

  private static int seal(long header) {
    int sum = 1;
    for (int at = 0; at < SEAL; at += Integer.BYTES) {
      sum += RawMemory.getInt(header + at);
    }
    return sum;
  }

  /** The phase of a message: never that of the one before it in its place, nor of zeroed memory. */
  public static int phase(long index, int entries) {
    return (int) (index / entries + 1) & 1;
  }
}
