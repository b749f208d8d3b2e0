package dev.doorbell.push;

/** How many bytes of a flow may be on the network; this one never changes. */
class Window {
  double bytes;

  Window(double bytes) {
    this.bytes = bytes;
  }

  /** Whether a message may go while {@code inFlight} bytes are under way; a lone one always may. */
  final boolean admits(long inFlight, int message) {
    return inFlight == 0 || inFlight + message <= bytes;
  }

  /** A message of {@code message} bytes has arrived, with a mark or without. */
  void acknowledged(int message, boolean marked) {}

  /** Messages were lost. */
  void lost() {}
}
