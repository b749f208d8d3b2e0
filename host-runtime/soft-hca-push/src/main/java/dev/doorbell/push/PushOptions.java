package dev.doorbell.push;

/**
 * Options of a push engine, and its costs.
 *
 * @param release when a slot is given back
 * @param service how long sending takes
 * @param credits when credits are written
 * @param retry when messages are sent again
 * @param window how much may be on the network
 * @param receiving what the engine has to receive with
 * @param prefetch messages whose payload is being pulled ahead of their turn, at most
 * @param mistakes what it does wrong; {@link Mistakes#NONE} but for tests of what catches them
 */
public record PushOptions(
    Release release,
    Service service,
    CreditReturn credits,
    Retry retry,
    WindowOptions window,
    Receiving receiving,
    int prefetch,
    Mistakes mistakes) {

  /** Fifty bytes a nanosecond, retained until acknowledged, a credit for each message. */
  public static final PushOptions DEFAULT =
      new PushOptions(
          Release.ACKNOWLEDGED,
          new Service(50, 100, 0),
          new CreditReturn(1, 10_000),
          new Retry(100_000, 10_000),
          WindowOptions.NONE,
          Receiving.AMPLE,
          16,
          Mistakes.NONE);

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

  /**
   * When credits are written.
   *
   * @param messages number of released slots after which a credit is written
   * @param nanos or when the oldest of them has waited so long; also the first of the distances,
   *     each twice the one before, at which a credit is written again in case it was lost
   */
  public record CreditReturn(int messages, long nanos) {}

  /**
   * When messages are sent again.
   *
   * @param timeoutNanos without an acknowledgement
   * @param notReadyNanos after the peer said that it has no room
   */
  public record Retry(long timeoutNanos, long notReadyNanos) {}

  /**
   * Means of an engine to receive.
   *
   * @param messages capacity of each sender's ring, in messages that are not consumed yet; 0 means
   *     any
   * @param consumeNanos from a message's arrival until its room is free, one after another
   * @param announced senders learn with each acknowledgement how much room there is, and keep to it
   * @param grantBytes where not 0, senders ask and the receiver grants, so that no more than so
   *     many bytes are under way to it from everybody together
   */
  public record Receiving(int messages, long consumeNanos, boolean announced, int grantBytes) {
    /** Room for whatever comes. */
    public static final Receiving AMPLE = new Receiving(0, 0, true, 0);
  }

  /**
   * Mistakes of an engine.
   *
   * @param releaseEarly slots are given back when sent, though retransmissions still read them
   * @param loseCredit one credit in this number is not written; 0 for none
   * @param repeatOldCredit every credit is followed by the one before it
   * @param trustDoorbell headers and payloads below the doorbell are not looked at before they go
   * @param refuseAbove posted writes are refused while more messages than this are not released; 0:
   *     never
   */
  public record Mistakes(
      boolean releaseEarly,
      int loseCredit,
      boolean repeatOldCredit,
      boolean trustDoorbell,
      int refuseAbove) {
    /** It makes none. */
    public static final Mistakes NONE = new Mistakes(false, 0, false, false, 0);
  }

  public PushOptions with(Release other) {
    return new PushOptions(other, service, credits, retry, window, receiving, prefetch, mistakes);
  }

  public PushOptions with(Service other) {
    return new PushOptions(release, other, credits, retry, window, receiving, prefetch, mistakes);
  }

  public PushOptions with(Retry other) {
    return new PushOptions(release, service, credits, other, window, receiving, prefetch, mistakes);
  }

  public PushOptions with(WindowOptions other) {
    return new PushOptions(release, service, credits, retry, other, receiving, prefetch, mistakes);
  }

  public PushOptions with(Receiving other) {
    return new PushOptions(release, service, credits, retry, window, other, prefetch, mistakes);
  }

  public PushOptions with(Mistakes other) {
    return new PushOptions(release, service, credits, retry, window, receiving, prefetch, other);
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
