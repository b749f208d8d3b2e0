package dev.doorbell.core.push.generated;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.annotation.processing.Generated;

/**
 * A ring for pushing as a kernel sees it.
 *
 * <p>Written by FormatsTest from kernels/include/doorbell/push_abi.h.
 *
 * @param headers {@code headers}: doorbell_push_header[entries], on-chip
 * @param payload {@code payload}: slots, on-chip
 * @param record {@code record}: the committed index, on-chip: the truth when a doorbell is torn
 * @param doorbell {@code doorbell}: register: the committed index, 8 bytes
 * @param credit {@code credit}: struct doorbell_push_credit
 * @param counters {@code counters}: struct doorbell_push_counters
 * @param deadlineNanos {@code deadline_ns}: every wait ends after this many nanoseconds
 * @param entries {@code entries}: a power of two: messages in the ring
 * @param slots {@code slots}: at most entries: messages with payload in the ring; the others are
 *     pulled
 * @param slotBytes {@code slot_bytes}: a multiple of 16
 * @param batch {@code batch}: messages to a doorbell
 * @param number {@code number}: see the header
 * @param destinations {@code destinations}: message n goes to peer n modulo this, counted from
 *     first_destination
 * @param firstDestination {@code first_destination}: see the header
 */
@Generated("FormatsTest")
public record PushRingView(
    long headers,
    long payload,
    long record,
    long doorbell,
    long credit,
    long counters,
    long deadlineNanos,
    int entries,
    int slots,
    int slotBytes,
    int batch,
    int number,
    int destinations,
    int firstDestination) {
  /** Bytes of the structure. */
  public static final int BYTES = 96;

  public static final int COUNTERS_BYTES = 48;

  public static final int COUNTERS_RESERVED = 0;

  public static final int COUNTERS_SEEN = 8;

  public static final int COUNTERS_RUNG = 16;

  public static final int COUNTERS_DROPPED = 24;

  public static final int COUNTERS_PULLED = 32;

  public static final int COUNTERS_COMMITTED = 40;

  /** {@code DOORBELL_PUSH_LOSSY}: a message that finds the ring full is dropped */
  public static final int LOSSY = 0x1;

  /** {@code DOORBELL_PUSH_CHECKSUMS}: every message carries the sum of its words */
  public static final int CHECKSUMS = 0x2;

  /** {@code DOORBELL_PUSH_NO_CREDITS}: mistake: do not wait for room */
  public static final int NO_CREDITS = 0x100;

  /** {@code DOORBELL_PUSH_NO_FENCE}: mistake: nothing orders payload before doorbell */
  public static final int NO_FENCE = 0x200;

  /** {@code DOORBELL_PUSH_NO_FLUSH}: mistake: leave the last doorbell of a burst out */
  public static final int NO_FLUSH = 0x400;

  /** Returns the structure's bytes. */
  public byte[] encode() {
    byte[] encoded = new byte[BYTES];
    encode(encoded, 0);
    return encoded;
  }

  /** Writes the structure's bytes at {@code offset}. */
  public void encode(byte[] into, int offset) {
    ByteBuffer to = ByteBuffer.wrap(into, offset, BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
    to.putLong(0, this.headers);
    to.putLong(8, this.payload);
    to.putLong(16, this.record);
    to.putLong(24, this.doorbell);
    to.putLong(32, this.credit);
    to.putLong(40, this.counters);
    to.putLong(48, this.deadlineNanos);
    to.putInt(56, this.entries);
    to.putInt(60, this.slots);
    to.putInt(64, this.slotBytes);
    to.putInt(68, this.batch);
    to.putInt(72, this.number);
    to.putInt(76, this.destinations);
    to.putInt(80, this.firstDestination);
  }
}
