package dev.doorbell.core.fabric.timed.machine;

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
