package dev.doorbell.core.queue;

/**
 * A command of 16 bytes from a kernel to the CPU, a put between two regions of the proxy's table:
 * the Java side of kernels/include/doorbell/handoff.cuh, which has the diagram.
 *
 * <p>Words are little-endian. P is the phase of {@link CommandEntry}; l is bit 0 of the local
 * offset. An entry is there when both phases match; its words may arrive in any order.
 */
public final class ShortCommand {
  /** 64-bit words of an entry. */
  public static final int WORDS = 2;

  private static final int OPCODE_SHIFT = 56;
  private static final int QUEUE_PAIR_SHIFT = 40;
  private static final int LOCAL_SHIFT = 32;

  private ShortCommand() {}

  /**
   * Reads the words of an entry that is present. Addresses of the command are offsets then; keys
   * are left as they are.
   */
  public static void decode(long low, long high, CommandEntry into) {
    into.opcode = (int) (low >>> OPCODE_SHIFT);
    into.flags = 0;
    into.queuePair = (int) (low >>> QUEUE_PAIR_SHIFT) & 0xffff;
    into.length = (int) low >>> 1;
    into.remoteAddress = high >>> Integer.SIZE;
    into.localAddress = (high & 0xffff_fffeL) | (low >>> LOCAL_SHIFT & 1);
  }
}
