package dev.doorbell.core.fabric.timed.machine;

import org.jspecify.annotations.Nullable;

/**
 * A link between two components or bridges, full duplex.
 *
 * @param name for messages and counters
 * @param from the component or bridge at one end
 * @param to the one at the other end
 * @param generation PCIe generation 1 to 6, or 0 for what joins sockets
 * @param lanes PCIe lanes, or 0
 * @param bytesPerNano rate of one direction after line encoding, in bytes a nanosecond
 * @param maxPayload largest payload of a TLP (MPS), in bytes
 * @param wideAddresses memory requests carry 64-bit addresses (4-DW headers)
 * @param ecrc TLPs carry an end-to-end checksum of 4 bytes
 * @param efficiency share of the rate left to TLPs by DLLPs and ordered sets
 * @param credits what each receiver grants, or null where posted writes never wait for credits
 */
public record Link(
    String name,
    String from,
    String to,
    int generation,
    int lanes,
    double bytesPerNano,
    int maxPayload,
    boolean wideAddresses,
    boolean ecrc,
    double efficiency,
    @Nullable Credits credits) {

  private static final int FLIT_GENERATION = 6;

  public Link {
    if (!(bytesPerNano > 0) || !(efficiency > 0 && efficiency <= 1)) {
      throw new IllegalArgumentException(
          name + ": bytesPerNano=" + bytesPerNano + " efficiency=" + efficiency);
    }
    if (Integer.bitCount(maxPayload) != 1 || maxPayload < 64) {
      throw new IllegalArgumentException(name + ": maxPayload=" + maxPayload);
    }
  }

  /** A PCIe link whose rate follows from generation and lanes. */
  public static Link pcie(
      String name,
      String from,
      String to,
      int generation,
      int lanes,
      int maxPayload,
      double efficiency) {
    double rate = rate(generation, lanes);
    return new Link(
        name, from, to, generation, lanes, rate, maxPayload, true, false, efficiency, null);
  }

  /**
   * Bytes a nanosecond of one direction after line encoding: transfers a second, times lanes, times
   * encoding (8b/10b to generation 2, 128b/130b to 5), and for generation 6 the 236 of 256 bytes of
   * a flit that hold TLPs.
   */
  public static double rate(int generation, int lanes) {
    double encoded =
        switch (generation) {
          case 1 -> 2.5 * 8 / 10;
          case 2 -> 5.0 * 8 / 10;
          case 3 -> 8.0 * 128 / 130;
          case 4 -> 16.0 * 128 / 130;
          case 5 -> 32.0 * 128 / 130;
          case 6 -> 64.0 * 236 / 256;
          default -> throw new IllegalArgumentException("PCIe generation " + generation);
        };
    return encoded * lanes / Byte.SIZE;
  }

  /** Bytes a nanosecond that TLPs get. */
  public double tlpRate() {
    return bytesPerNano * efficiency;
  }

  /** Bytes on the wire that a memory write TLP adds to its payload. */
  public int writeOverhead() {
    return overhead(wideAddresses ? Tlp.LONG_HEADER : Tlp.SHORT_HEADER);
  }

  /** Bytes on the wire of a memory read request, which has no payload. */
  public int requestBytes() {
    return writeOverhead();
  }

  /** Bytes on the wire that a completion adds to its payload. */
  public int completionOverhead() {
    return overhead(Tlp.SHORT_HEADER);
  }

  private int overhead(int header) {
    if (generation == 0) {
      return 0;
    }
    int framing = generation >= FLIT_GENERATION ? 0 : Tlp.FRAMING;
    return header + framing + (ecrc ? Tlp.ECRC : 0);
  }

  /**
   * Posted flow-control credits that a receiver advertises (PCI Express Base Specification, "Flow
   * Control").
   *
   * @param headers posted header credits, one a TLP
   * @param data posted data credits, one for 16 bytes of payload
   * @param returnNanos time from the use of a credit until it can be used again
   */
  public record Credits(int headers, int data, double returnNanos) {
    /** Bytes that one data credit stands for. */
    public static final int DATA_BYTES = 16;

    public Credits {
      if (headers <= 0 || data <= 0 || !(returnNanos > 0)) {
        throw new IllegalArgumentException(
            "headers=" + headers + " data=" + data + " returnNanos=" + returnNanos);
      }
    }
  }
}
