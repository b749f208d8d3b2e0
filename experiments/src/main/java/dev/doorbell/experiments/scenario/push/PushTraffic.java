package dev.doorbell.experiments.scenario.push;

import dev.doorbell.push.RingShape;
import org.jspecify.annotations.Nullable;

/** What one GPU sends. It never changes: whoever wants it otherwise gets another. */
final class PushTraffic implements Cloneable {
  private static final long DEADLINE_NANOS = 50_000_000;

  private final int bytes;
  private final int messages;
  private RingShape shape;
  private int rings = 1;
  private int batch = 1;
  private int flags;
  private int threads = 32;
  private int firstDestination;
  private int destinations = 1;
  private boolean spread;
  private long deadlineNanos = DEADLINE_NANOS;
  private long @Nullable [] gaps;
  private int producers = 1;
  private @Nullable Pool pool;

  /**
   * Slots that all rings share.
   *
   * @param slots of the size of the rings' slots
   * @param share in eighths of what is free, that a ring may hold; 0: no limit
   */
  record Pool(int slots, int share) {}

  private PushTraffic(RingShape shape, int bytes, int messages) {
    this.shape = shape;
    this.bytes = bytes;
    this.messages = messages;
  }

  /**
   * One ring to engine {@code destination}, as fast as it goes.
   *
   * @param bytes of a message, a multiple of 4
   * @param messages of each ring
   */
  static PushTraffic of(RingShape shape, int bytes, int messages, int destination) {
    PushTraffic made = new PushTraffic(shape, bytes, messages);
    made.firstDestination = destination;
    return made;
  }

  private PushTraffic copy() {
    try {
      return (PushTraffic) clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** With flags of {@link dev.doorbell.core.push.PushRingView}, for the kernel. */
  PushTraffic withFlags(int other) {
    PushTraffic made = copy();
    made.flags = other;
    return made;
  }

  /** So many messages to a doorbell. */
  PushTraffic withBatch(int other) {
    PushTraffic made = copy();
    made.batch = other;
    return made;
  }

  /** So many threads of a block. */
  PushTraffic withThreads(int other) {
    PushTraffic made = copy();
    made.threads = other;
    return made;
  }

  /** So long may a wait of the kernel take. */
  PushTraffic withDeadline(long nanos) {
    PushTraffic made = copy();
    made.deadlineNanos = nanos;
    return made;
  }

  /** Nanoseconds before each message. */
  PushTraffic withGaps(long[] nanos) {
    PushTraffic made = copy();
    made.gaps = nanos.clone();
    return made;
  }

  /** Rings with headers of their own, on slots that they share. */
  PushTraffic withPool(int slots, int share) {
    PushTraffic made = copy();
    made.shape = new RingShape(shape.entries(), 0, shape.slotBytes(), shape.first());
    made.pool = new Pool(slots, share);
    return made;
  }

  /** As many blocks to a ring, which share its messages. */
  PushTraffic withProducers(int count) {
    if (messages % count != 0 || gaps != null) {
      throw new IllegalArgumentException(
          "%d producers cannot share %d messages".formatted(count, messages));
    }
    PushTraffic made = copy();
    made.producers = count;
    return made;
  }

  /** One ring that sends to {@code count} engines in turn. */
  PushTraffic toEachInTurn(int count) {
    PushTraffic made = copy();
    made.rings = 1;
    made.destinations = count;
    made.spread = false;
    return made;
  }

  /** As many rings as engines, each to its own. */
  PushTraffic ringForEach(int count) {
    PushTraffic made = copy();
    made.rings = count;
    made.destinations = 1;
    made.spread = true;
    return made;
  }

  /** Rings, of one block of the kernel each, or of several. */
  int rings() {
    return rings;
  }

  /** Of each ring. */
  RingShape shape() {
    return shape;
  }

  /** Bytes of a message, a multiple of 4. */
  int bytes() {
    return bytes;
  }

  /** Messages of each ring. */
  int messages() {
    return messages;
  }

  /** Messages to a doorbell. */
  int batch() {
    return batch;
  }

  /** Flags of {@link dev.doorbell.core.push.PushRingView}, for the kernel. */
  int flags() {
    return flags;
  }

  /** Threads of a block. */
  int threads() {
    return threads;
  }

  /** Number of the engine that the first ring sends to. */
  int firstDestination() {
    return firstDestination;
  }

  /**
   * Engines that each ring sends to in turn; with one, each ring sends to the next engine if {@link
   * #spread}.
   */
  int destinations() {
    return destinations;
  }

  /** Ring r sends to engine firstDestination + r. */
  boolean spread() {
    return spread;
  }

  /** Of every wait of the kernel. */
  long deadlineNanos() {
    return deadlineNanos;
  }

  /** Nanoseconds before each message, or null for none. */
  long @Nullable [] gaps() {
    return gaps == null ? null : gaps.clone();
  }

  /** Blocks that push to one ring. */
  int producers() {
    return producers;
  }

  /** Slots that all rings share; null: each has its own. */
  @Nullable Pool pool() {
    return pool;
  }

  /** Blocks of the kernel. */
  int blocks() {
    return rings * producers;
  }

  int total() {
    return rings * messages;
  }
}
