package dev.doorbell.push;

/**
 * Limit of what a sender lets be on the network.
 *
 * @param policy the rule
 * @param bytes of the window: what it is, or what it starts with
 */
public record WindowOptions(Policy policy, int bytes) {
  /** No limit. */
  public static final WindowOptions NONE = new WindowOptions(Policy.NONE, 0);

  /** Rules. */
  public enum Policy {
    /** No limit but the ring. */
    NONE,
    /** Always the same. */
    STATIC,
    /**
     * Each acknowledgement gives back what it acknowledges, and a packet more a window; marks and
     * losses take some away (DCTCP, RFC 8257).
     */
    ACKNOWLEDGED,
    /** The receiver says when. */
    GRANTED
  }

  /** A window of the kind, new. */
  Window open() {
    return switch (policy) {
      case NONE, GRANTED -> new Window(Integer.MAX_VALUE);
      case STATIC -> new Window(bytes);
      case ACKNOWLEDGED -> new AdaptiveWindow(bytes);
    };
  }

  /** Limits the bytes of a flow on the network; this one never changes. */
  static class Window {
    double bytes;

    Window(double bytes) {
      this.bytes = bytes;
    }

    /**
     * Returns true if a message may go while {@code inFlight} bytes are under way; a lone one may.
     */
    final boolean admits(long inFlight, int message) {
      return inFlight == 0 || inFlight + message <= bytes;
    }

    /** A message of {@code message} bytes has arrived, with a mark or without. */
    void acknowledged(int message, boolean marked) {}

    /** Messages were lost. */
    void lost() {}
  }

  /**
   * DCTCP's window (RFC 8257): once a window of data the share of marked bytes goes into a moving
   * average, and half of that average of the window is given up; without marks a message more fits.
   */
  static final class AdaptiveWindow extends Window {
    private static final double GAIN = 1.0 / 16;

    private double alpha = 1;
    private double acknowledgedBytes;
    private double markedBytes;

    AdaptiveWindow(double bytes) {
      super(bytes);
    }

    @Override
    void acknowledged(int message, boolean marked) {
      acknowledgedBytes += message;
      markedBytes += marked ? message : 0;
      if (acknowledgedBytes < bytes) {
        return;
      }
      alpha += GAIN * (markedBytes / acknowledgedBytes - alpha);
      bytes = markedBytes > 0 ? Math.max(message, bytes * (1 - alpha / 2)) : bytes + message;
      acknowledgedBytes = 0;
      markedBytes = 0;
    }

    @Override
    void lost() {
      bytes /= 2;
      acknowledgedBytes = 0;
      markedBytes = 0;
    }
  }
}
