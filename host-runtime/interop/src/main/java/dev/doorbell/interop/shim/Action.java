package dev.doorbell.interop.shim;

import java.nio.ByteBuffer;

/** Something that the preload library has to do: {@code struct shim_action} of protocol.h. */
record Action(long type, long a, long b, long c, long d) {
  static final int BYTES = 5 * Long.BYTES;

  private static final long SHARE = 1;
  private static final long UNSHARE = 2;
  private static final long DISCARD = 3;
  private static final long EVENTS = 4;
  private static final long DRAIN = 5;

  static Action share(ClientProcess.Range range) {
    return new Action(SHARE, range.start(), range.bytes(), 0, 0);
  }

  static Action unshare(ClientProcess.Range range) {
    return new Action(UNSHARE, range.start(), range.bytes(), 0, 0);
  }

  /** A part of the shared file is used no longer. */
  static Action discard(long offset, long bytes) {
    return new Action(DISCARD, offset, bytes, 0, 0);
  }

  /** Opens a file descriptor for events and writes its number to {@code address}. */
  static Action events(long token, long address, int width) {
    return new Action(EVENTS, token, address, width, 0);
  }

  /**
   * Takes unread events of {@code element} back, and their number from the count at {@code at}; 0
   * where nobody counts.
   */
  static Action drain(long token, long at, int recordBytes, long element) {
    return new Action(DRAIN, token, at, (long) recordBytes << Integer.SIZE, element);
  }

  void put(ByteBuffer to) {
    to.putLong(type).putLong(a).putLong(b).putLong(c).putLong(d);
  }
}
