package dev.doorbell.experiments.session.push;

import dev.doorbell.softhca.push.RingShape;
import org.jspecify.annotations.Nullable;

/**
 * What one GPU sends.
 *
 * @param rings of one block of the kernel each, or of several
 * @param shape of each ring
 * @param bytes of a message, a multiple of 4
 * @param messages of each ring
 * @param batch messages to a doorbell
 * @param flags of {@link dev.doorbell.core.push.PushRingView}, for the kernel
 * @param threads of a block
 * @param firstDestination number of the engine that the first ring sends to
 * @param destinations engines that each ring sends to in turn; with one, each ring sends to the
 *     next engine if {@code spread}
 * @param spread ring r sends to engine firstDestination + r
 * @param deadlineNanos of every wait of the kernel
 * @param gaps nanoseconds before each message, or null for none
 * @param producers blocks that push to one ring
 * @param pool of slots that all rings share; null: each has its own
 */
@SuppressWarnings("ArrayRecordComponent") // never changed or compared
record PushTraffic(
    int rings,
    RingShape shape,
    int bytes,
    int messages,
    int batch,
    int flags,
    int threads,
    int firstDestination,
    int destinations,
    boolean spread,
    long deadlineNanos,
    long @Nullable [] gaps,
    int producers,
    @Nullable Pool pool) {

  /**
   * Slots that all rings share.
   *
   * @param slots of the size of the rings' slots
   * @param share in eighths of what is free, that a ring may hold; 0: no limit
   */
  record Pool(int slots, int share) {}

  private static final long DEADLINE_NANOS = 50_000_000;

  /** One ring to engine {@code destination}, as fast as it goes. */
  static PushTraffic of(RingShape shape, int bytes, int messages, int destination) {
    return new PushTraffic(
        1, shape, bytes, messages, 1, 0, 32, destination, 1, false, DEADLINE_NANOS, null, 1, null);
  }

  PushTraffic withFlags(int other) {
    return new PushTraffic(
        rings,
        shape,
        bytes,
        messages,
        batch,
        other,
        threads,
        firstDestination,
        destinations,
        spread,
        deadlineNanos,
        gaps,
        producers,
        pool);
  }

  PushTraffic withBatch(int other) {
    return new PushTraffic(
        rings,
        shape,
        bytes,
        messages,
        other,
        flags,
        threads,
        firstDestination,
        destinations,
        spread,
        deadlineNanos,
        gaps,
        producers,
        pool);
  }

  PushTraffic withThreads(int other) {
    return new PushTraffic(
        rings,
        shape,
        bytes,
        messages,
        batch,
        flags,
        other,
        firstDestination,
        destinations,
        spread,
        deadlineNanos,
        gaps,
        producers,
        pool);
  }

  PushTraffic withDeadline(long nanos) {
    return new PushTraffic(
        rings,
        shape,
        bytes,
        messages,
        batch,
        flags,
        threads,
        firstDestination,
        destinations,
        spread,
        nanos,
        gaps,
        producers,
        pool);
  }

  PushTraffic withGaps(long[] nanos) {
    return new PushTraffic(
        rings,
        shape,
        bytes,
        messages,
        batch,
        flags,
        threads,
        firstDestination,
        destinations,
        spread,
        deadlineNanos,
        nanos,
        producers,
        pool);
  }

  /** Rings with headers of their own, on slots that they share. */
  PushTraffic withPool(int slots, int share) {
    return new PushTraffic(
        rings,
        new RingShape(shape.entries(), 0, shape.slotBytes(), shape.first()),
        bytes,
        messages,
        batch,
        flags,
        threads,
        firstDestination,
        destinations,
        spread,
        deadlineNanos,
        gaps,
        producers,
        new Pool(slots, share));
  }

  /** As many blocks to a ring, which share its messages. */
  PushTraffic withProducers(int count) {
    if (messages % count != 0 || gaps != null) {
      throw new IllegalArgumentException(
          "%d producers cannot share %d messages".formatted(count, messages));
    }
    return new PushTraffic(
        rings,
        shape,
        bytes,
        messages,
        batch,
        flags,
        threads,
        firstDestination,
        destinations,
        spread,
        deadlineNanos,
        gaps,
        count,
        pool);
  }

  /** One ring that sends to {@code count} engines in turn. */
  PushTraffic toEachInTurn(int count) {
    return new PushTraffic(
        1,
        shape,
        bytes,
        messages,
        batch,
        flags,
        threads,
        firstDestination,
        count,
        false,
        deadlineNanos,
        gaps,
        producers,
        pool);
  }

  /** As many rings as engines, each to its own. */
  PushTraffic ringForEach(int count) {
    return new PushTraffic(
        count,
        shape,
        bytes,
        messages,
        batch,
        flags,
        threads,
        firstDestination,
        1,
        true,
        deadlineNanos,
        gaps,
        producers,
        pool);
  }

  /** Blocks of the kernel. */
  int blocks() {
    return rings * producers;
  }

  int total() {
    return rings * messages;
  }
}
