package dev.doorbell.core.trace;

import dev.doorbell.core.memory.Locus;

/**
 * Something that happened.
 *
 * @param nanos when, on the fabric's clock
 * @param locus where
 * @param kind what
 * @param subject what it is about: an address for accesses, a queue pair number for the HCA's
 * @param value the value stored, the WQE index, the immediate: see the kind
 * @param bytes how many bytes it moved
 * @param text one line for people
 */
public record TraceEvent(
    long nanos, Locus locus, Kind kind, long subject, long value, long bytes, String text) {

  /** The kinds of events. */
  public enum Kind {
    /** A thread's store left it; subject is the address, value the low 8 bytes. */
    STORE,
    /** A thread's load returned; subject is the address, value what it got. */
    LOAD,
    /** A thread's fence finished; value is how long it waited in nanoseconds. */
    FENCE,
    /** A write reached a doorbell page; subject is the address, value the first 8 bytes. */
    MMIO,
    /** The HCA holds a WQE; subject is the queue pair, value the WQE index. */
    WQE_FETCHED,
    /** The HCA holds the last payload byte of a WQE. */
    PAYLOAD_GATHERED,
    /** The HCA put the last packet of a WQE on the wire; subject queue pair, value WQE index. */
    EMITTED,
    /** The last payload byte of a message is visible at the target. */
    PAYLOAD_VISIBLE,
    /** A CQE is visible; subject is the queue pair, value the WQE counter. */
    CQE,
    /** The proxy took a command. */
    COMMAND,
    /**
     * Transaction layer packets of one transfer leave; subject is the address, value when the last
     * of them arrives at the other end of the path. The text begins with their type, such as {@code
     * MWr}, and ends with the path.
     */
    TLP,
    /** Anything else worth a line. */
    NOTE
  }
}
