package dev.doorbell.interop.shim.abi;

import dev.doorbell.core.uverbs.generated.ShimProtocol;
import java.nio.ByteBuffer;

/** A step that the preload library carries out: {@code struct shim_action} of protocol.h. */
public record ShimAction(long type, long a, long b, long c, long d) {
  public static final int BYTES = 5 * Long.BYTES;

  public static ShimAction share(PageRange range) {
    return new ShimAction(ShimProtocol.DO_SHARE, range.start(), range.bytes(), 0, 0);
  }

  public static ShimAction unshare(PageRange range) {
    return new ShimAction(ShimProtocol.DO_UNSHARE, range.start(), range.bytes(), 0, 0);
  }

  /** Frees a part of the shared file. */
  public static ShimAction discard(long offset, long bytes) {
    return new ShimAction(ShimProtocol.DO_DISCARD, offset, bytes, 0, 0);
  }

  /**
   * Opens a file descriptor for events and writes its number to {@code address}.
   *
   * @param async of the device itself: when this server ends, the program reads that it is lost
   */
  public static ShimAction events(long token, long address, int width, boolean async) {
    return new ShimAction(ShimProtocol.DO_EVENTS, token, address, width, async ? 1 : 0);
  }

  /**
   * Discards unread events of {@code element} and subtracts their number from the count at {@code
   * countAddress}; 0 for no count.
   */
  public static ShimAction drain(long token, long countAddress, int recordBytes, long element) {
    return new ShimAction(
        ShimProtocol.DO_DRAIN, token, countAddress, (long) recordBytes << Integer.SIZE, element);
  }

  /** Takes a byte from the descriptor of a stream: its program has nothing to read there now. */
  public static ShimAction take(long token) {
    return new ShimAction(ShimProtocol.DO_TAKE, token, 0, 0, 0);
  }

  /** Sends by what handles this process opens a range of a GPU's memory. */
  public static ShimAction export(PageRange range) {
    return new ShimAction(ShimProtocol.DO_EXPORT, range.start(), range.bytes(), 0, 0);
  }

  public void put(ByteBuffer to) {
    to.putLong(type).putLong(a).putLong(b).putLong(c).putLong(d);
  }
}
