package dev.doorbell.core.pcap;

/** Bytes that were given as a capture are none, or end too early. */
public final class CaptureException extends Exception {
  private static final long serialVersionUID = 1L;

  CaptureException(String message) {
    super(message);
  }
}
