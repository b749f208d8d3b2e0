package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.memory.Locus;

/**
 * A range that a device reads by itself: what it is decides how strict its reads are, and how they
 * are told.
 *
 * @param queuePair the queue pair's number
 * @param device that reads it, as {@link #device} numbers it
 * @param recordFirst doorbells of this queue pair promise that the record is there already
 * @param announces the record promises that the WQEs before it are there: an HCA may look at it at
 *     any time
 */
public record Region(
    Role role,
    long address,
    long bytes,
    int queuePair,
    int device,
    boolean recordFirst,
    boolean announces) {
  public enum Role {
    /** Work queue entries. */
    SEND_RING,
    /** The doorbell record's send index: it may be behind, and acquires what it releases. */
    SEND_RECORD
  }

  /** The number of a device: that of its rank for the first one there. */
  public static int device(Locus locus) {
    return locus.index() << Short.SIZE | locus.rank();
  }

  public boolean contains(long at) {
    return Long.compareUnsigned(at - address, bytes) < 0;
  }
}
