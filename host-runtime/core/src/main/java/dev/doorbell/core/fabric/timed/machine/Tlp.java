package dev.doorbell.core.fabric.timed.machine;

import dev.doorbell.core.fabric.timed.machine.Link.Credits;

/**
 * Cuts transfers into transaction layer packets, and weighs those.
 *
 * <p>Sources: PCI Express Base Specification 5.0, sections 2.2 (headers, 4 KiB rule), 2.3.1 (read
 * completion boundary), 4.2 (framing).
 */
public final class Tlp {
  /** Bytes of a header with a 32-bit address, and of every completion's. */
  public static final int SHORT_HEADER = 12;

  /** Bytes of a header with a 64-bit address. */
  public static final int LONG_HEADER = 16;

  /** Start, sequence number, link CRC and end: 8 bytes in every generation before flits. */
  public static final int FRAMING = 8;

  /** Bytes of the optional end-to-end checksum. */
  public static final int ECRC = 4;

  /** No memory request crosses a multiple of this. */
  public static final int REQUEST_BOUNDARY = 4096;

  private Tlp() {}

  /** Pieces of {@code [address, address + bytes)} when it is cut at multiples of {@code cut}. */
  public static int chunks(long address, long bytes, int cut) {
    return bytes == 0
        ? 0
        : (int) (Math.floorDiv(address + bytes - 1, cut) - Math.floorDiv(address, cut) + 1);
  }

  /** Memory write TLPs of a transfer: payloads of at most {@code maxPayload}, cut aligned. */
  public static int writes(long address, long bytes, int maxPayload) {
    return chunks(address, bytes, Math.min(maxPayload, REQUEST_BOUNDARY));
  }

  /** Length of the next memory read request: at most {@code maxReadRequest}, within its 4 KiB. */
  public static int requestLength(long address, long bytes, int maxReadRequest) {
    long toBoundary = REQUEST_BOUNDARY - (address & (REQUEST_BOUNDARY - 1));
    return (int) Math.min(Math.min(bytes, maxReadRequest), toBoundary);
  }

  /** Memory read requests of a transfer. */
  public static int requests(long address, long bytes, int maxReadRequest) {
    int count = 0;
    for (long at = address, left = bytes; left > 0; count++) {
      int length = requestLength(at, left, maxReadRequest);
      at += length;
      left -= length;
    }
    return count;
  }

  /**
   * Completions of a transfer: each request's data, cut at multiples of {@code completionBytes}
   * (the read completion boundary, or the largest payload where the completer combines).
   */
  public static int completions(long address, long bytes, int maxReadRequest, int completionBytes) {
    int count = 0;
    for (long at = address, left = bytes; left > 0; ) {
      int length = requestLength(at, left, maxReadRequest);
      count += chunks(at, length, completionBytes);
      at += length;
      left -= length;
    }
    return count;
  }

  /** Posted data credits that a payload takes. */
  public static int dataCredits(int payload) {
    return (payload + Credits.DATA_BYTES - 1) / Credits.DATA_BYTES;
  }
}
