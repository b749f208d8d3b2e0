package dev.doorbell.push;

/**
 * Something that happened at a ring, with the engine's indices after it.
 *
 * @param nanos virtual time
 * @param engine number of the engine on its network
 * @param ring number of the ring; of the sender's ring where a receiver speaks
 * @param index of the message, or the value written or received
 * @param rung the last doorbell (db)
 * @param transmitted messages below were sent at least once (tx)
 * @param unacknowledged messages below have arrived (una)
 * @param released messages below have given their slot back (ci)
 */
public record PushEvent(
    long nanos,
    Kind kind,
    int engine,
    int ring,
    long index,
    long rung,
    long transmitted,
    long unacknowledged,
    long released) {

  /** Kinds of events. */
  public enum Kind {
    DOORBELL,
    /** A doorbell arrived in pieces; the record was read instead. */
    TORN_DOORBELL,
    /** The header of a message below the doorbell is not there, or the payload is not its own. */
    EARLY,
    /** A slot in the ring was read. */
    READ,
    /** The payload was read from GPU memory. */
    PULLED,
    /** A message was sent for the first time. */
    TRANSMITTED,
    /** A message was sent again. */
    RETRANSMITTED,
    ACKNOWLEDGED,
    /** The slots of messages below were given back. */
    RELEASED,
    CREDITED,
    /** An acknowledgement did not come in time. */
    TIMEOUT,
    /** The peer missed a frame. */
    GAP,
    /** A receiver took a message. */
    DELIVERED,
    /** A receiver got a message again. */
    DUPLICATE,
    /** A receiver got a message after one that is missing. */
    OUT_OF_ORDER,
    /** A receiver got bytes that are not what the producer committed. */
    CORRUPT
  }

  @Override
  public String toString() {
    return "%,12d ns  engine %d ring %d  %-13s %5d   db %d tx %d una %d ci %d"
        .formatted(nanos, engine, ring, kind, index, rung, transmitted, unacknowledged, released);
  }

  /** Hears every event of an engine, when it happens. */
  @FunctionalInterface
  public interface PushObserver {
    /** One event. May throw to end the run. */
    void happened(PushEvent event);
  }
}
