package dev.doorbell.core.pcap;

/** Direction of a captured frame: bits 1:0 of the flags option of a packet block. */
public enum Direction {
  UNKNOWN(0),
  INBOUND(1),
  OUTBOUND(2);

  private final int bits;

  Direction(int bits) {
    this.bits = bits;
  }

  int bits() {
    return bits;
  }
}
