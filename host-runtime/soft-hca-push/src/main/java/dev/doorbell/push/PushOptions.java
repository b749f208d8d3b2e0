package dev.doorbell.push;

/**
 * Options of a push engine, and its costs.
 *
 * @param release when a slot is given back
 * @param service how long sending takes
 * @param retryNanos without an acknowledgement after which messages are sent again
 * @param window how much may be on the network
 * @param grantBytes where not 0, senders ask and the receiver grants, so that no more than so many
 *     bytes are under way to it from everybody together
 */
public record PushOptions(
    Release release, Service service, long retryNanos, WindowOptions window, int grantBytes) {

  /** Fifty bytes a nanosecond, retained until acknowledged, a credit for each message. */
  public static final PushOptions DEFAULT =
      new PushOptions(
          Release.ACKNOWLEDGED, new Service(50, 100, 0), 100_000, WindowOptions.NONE, 0);

  /** When a slot is given back to the producer. */
  public enum Release {
    /** The peer has acknowledged the message: the slot is the retransmission buffer. */
    ACKNOWLEDGED,
    /** It was sent once: what has to be sent again is pulled from GPU memory. */
    TRANSMITTED
  }

  /**
   * Time of sending: {@code overheadNanos}, or an exponential time of that mean, before each
   * message, then its bytes at the rate of the link. The engine sends one message after another.
   *
   * @param bytesPerNano rate of the link
   * @param overheadNanos before each new message that is not overlapped with the one before
   * @param exponentialSeed where not 0, the overhead is drawn from an exponential distribution
   */
  public record Service(double bytesPerNano, long overheadNanos, long exponentialSeed) {}

  public PushOptions with(Release other) {
    return new PushOptions(other, service, retryNanos, window, grantBytes);
  }

  public PushOptions with(Service other) {
    return new PushOptions(release, other, retryNanos, window, grantBytes);
  }

  public PushOptions withRetry(long nanos) {
    return new PushOptions(release, service, nanos, window, grantBytes);
  }

  public PushOptions with(WindowOptions other) {
    return new PushOptions(release, service, retryNanos, other, grantBytes);
  }

  public PushOptions withGrants(int bytes) {
    return new PushOptions(release, service, retryNanos, window, bytes);
  }

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
       * Returns true if a message may go while {@code inFlight} bytes are under way; a lone one
       * may.
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
     * average, and half of that average of the window is given up; without marks a message more
     * fits.
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
}
