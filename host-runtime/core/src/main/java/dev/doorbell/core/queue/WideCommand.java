package dev.doorbell.core.queue;

/**
 * A command of 128 bytes from a kernel to the CPU, a put between two regions of the proxy's table:
 * the Java side of kernels/include/doorbell/handoff_family.cuh, which has the diagram.
 *
 * <p>Bit 0 of each of its sixteen little-endian words is the phase of {@link CommandEntry}.
 */
public final class WideCommand {
  /** 64-bit words of an entry. */
  public static final int WORDS = 16;

  private static final int OPCODE_SHIFT = 56;
  private static final int QUEUE_PAIR_SHIFT = 40;
  private static final int REMOTE = 1;
  private static final int LOCAL = 3;
  private static final int INDEX = 15;

  private WideCommand() {}

  /** Returns true if the entry was written for {@code index}. */
  public static boolean isFor(long[] words, long index) {
    return words[INDEX] >>> 1 == index;
  }

  /**
   * Reads the words of an entry that is present. Addresses of the command are offsets then; keys
   * are left as they are.
   */
  public static void decode(long[] words, CommandEntry into) {
    into.opcode = (int) (words[0] >>> OPCODE_SHIFT);
    into.flags = 0;
    into.queuePair = (int) (words[0] >>> QUEUE_PAIR_SHIFT) & 0xffff;
    into.length = (int) words[0] >>> 1;
    into.remoteAddress = words[REMOTE] >>> 1;
    into.localAddress = words[LOCAL] >>> 1;
  }
}
