package dev.doorbell.core.mlx5;

import dev.doorbell.core.mlx5.generated.EthernetFields;

/** The Ethernet segment of a send on a raw packet queue pair. */
public final class EthernetSegment extends EthernetFields {
  private EthernetSegment() {}

  /** Units of 16 bytes that the segment takes with a header of {@code headerBytes}. */
  public static int units(int headerBytes) {
    return (HEADER_OFFSET + headerBytes + SendQueue.UNIT - 1) >>> SendQueue.UNIT_SHIFT;
  }
}
