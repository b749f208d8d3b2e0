package dev.doorbell.interop.alltoall;

import dev.doorbell.core.queue.CommandEntry;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Opcodes, places, sizes and contents of the messages of an all-to-all, as functions of the seed:
 * each end computes what the other one sends.
 *
 * <p>A connection has {@link #MESSAGES} messages a round. PUTs, of up to 16 KiB, each have a place
 * of their own in the receiver's part, so that at a round's end every byte of every message can be
 * checked. A fetch-add returns the number of those before it. A GET reads back what an earlier PUT
 * of the round has written.
 */
final class AllToAllTraffic {
  /** Messages of a connection in a round. */
  static final int MESSAGES = 512;

  /** Fetch-adds among them. */
  static final int ADDS = MESSAGES / 8;

  private static final int PLACE = 256;
  private static final int LARGE = 16 << 10;
  private static final int LARGE_EVERY = 128;
  private static final int LARGE_FROM = MESSAGES * PLACE;

  /** Bytes of a connection's part in the receiver's memory. */
  static final int PART = LARGE_FROM + MESSAGES / LARGE_EVERY * LARGE;

  private static final int ADD = 5;
  private static final int GET = 7;
  private static final int INLINE = 4;

  private final long seed;
  private final byte[] content = new byte[PART];
  private final ByteBuffer words = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);

  AllToAllTraffic(long seed) {
    this.seed = seed;
  }

  static int opcode(int message) {
    return switch (message % 8) {
      case ADD -> CommandEntry.OP_FETCH_ADD;
      case GET ->
          message % LARGE_EVERY == LARGE_EVERY - 1 ? CommandEntry.OP_PUT : CommandEntry.OP_GET;
      case INLINE -> CommandEntry.OP_PUT_INLINE;
      default -> CommandEntry.OP_PUT;
    };
  }

  /** Offset of a message's bytes in a part; a GET reads those of the message before it. */
  static int place(int message) {
    if (message % LARGE_EVERY == LARGE_EVERY - 1) {
      return LARGE_FROM + message / LARGE_EVERY * LARGE;
    }
    return (opcode(message) == CommandEntry.OP_GET ? message - 1 : message) * PLACE;
  }

  /** The number of bytes of a message. */
  int length(long connection, long round, int message) {
    if (message % LARGE_EVERY == LARGE_EVERY - 1) {
      return LARGE;
    }
    int opcode = opcode(message);
    if (opcode == CommandEntry.OP_FETCH_ADD) {
      return Long.BYTES;
    }
    int of = opcode == CommandEntry.OP_GET ? message - 1 : message;
    long random = mix(seed ^ mix(connection << 40 ^ round << 12 ^ of));
    int most = opcode == CommandEntry.OP_PUT_INLINE ? CommandEntry.INLINE_BYTES : PLACE;
    return 1 + (int) Long.remainderUnsigned(random, most);
  }

  /** The contents of a part after a round, where messages write; valid until the next call. */
  byte[] content(long connection, long round) {
    long random = mix(seed + mix(connection << 32 ^ round));
    for (int at = 0; at < PART; at += Long.BYTES) {
      random += 0x9e37_79b9_7f4a_7c15L;
      words.putLong(at, mix(random));
    }
    return content;
  }

  private static long mix(long z) {
    long a = (z ^ (z >>> 30)) * 0xbf58_476d_1ce4_e5b9L;
    long b = (a ^ (a >>> 27)) * 0x94d0_49bb_1331_11ebL;
    return b ^ (b >>> 31);
  }
}
