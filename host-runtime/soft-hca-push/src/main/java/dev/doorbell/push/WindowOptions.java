package dev.doorbell.push;

/**
 * How much a sender lets be on the network.
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
}
