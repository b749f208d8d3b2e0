package dev.doorbell.experiments.scenario.push;

import dev.doorbell.push.RingShape;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Messages of one GPU; immutable, {@code with...} returns a changed copy. */
final class PushTraffic implements Cloneable {
  private static final long DEADLINE_NANOS = 50_000_000;

  /** Bytes of a message, a multiple of 4. */
  final int bytes;

  final int messages;

  RingShape shape;

  /** Rings, of one block of the kernel each, or of several. */
  int rings = 1;

  /** Messages to a doorbell. */
  int batch = 1;

  /** Flags of {@link dev.doorbell.core.push.PushRingView}, for the kernel. */
  int flags;

  int threads = 32;

  /** Number of the engine that the first ring sends to. */
  int firstDestination;

  /**
   * Engines that each ring sends to in turn; with one, each ring sends to the next engine if {@link
   * #spread}.
   */
  int destinations = 1;

  /** Ring r sends to engine firstDestination + r. */
  boolean spread;

  long deadlineNanos = DEADLINE_NANOS;

  /** Nanoseconds before each message, or null for none. */
  long @Nullable [] gaps;

  /** Blocks that push to one ring. */
  int producers = 1;

  @Nullable Pool pool;

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

  static PushTraffic of(RingShape shape, int bytes, int messages, int destination) {
    PushTraffic made = new PushTraffic(shape, bytes, messages);
    made.firstDestination = destination;
    return made;
  }

  private PushTraffic copy(Consumer<PushTraffic> change) {
    try {
      PushTraffic made = (PushTraffic) clone();
      change.accept(made);
      return made;
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException(e);
    }
  }

  PushTraffic withFlags(int other) {
    return copy(made -> made.flags = other);
  }

  PushTraffic withBatch(int other) {
    return copy(made -> made.batch = other);
  }

  PushTraffic withThreads(int other) {
    return copy(made -> made.threads = other);
  }

  PushTraffic withDeadline(long nanos) {
    return copy(made -> made.deadlineNanos = nanos);
  }

  PushTraffic withGaps(long[] nanos) {
    return copy(made -> made.gaps = nanos.clone());
  }

  /** Rings with headers of their own, on slots that they share. */
  PushTraffic withPool(int slots, int share) {
    return copy(
        made -> {
          made.shape = new RingShape(shape.entries(), 0, shape.slotBytes(), shape.first());
          made.pool = new Pool(slots, share);
        });
  }

  PushTraffic withProducers(int count) {
    if (messages % count != 0 || gaps != null) {
      throw new IllegalArgumentException(
          "%d producers cannot share %d messages".formatted(count, messages));
    }
    return copy(made -> made.producers = count);
  }

  PushTraffic toEachInTurn(int count) {
    return copy(
        made -> {
          made.rings = 1;
          made.destinations = count;
          made.spread = false;
        });
  }

  PushTraffic ringForEach(int count) {
    return copy(
        made -> {
          made.rings = count;
          made.destinations = 1;
          made.spread = true;
        });
  }

  int blocks() {
    return rings * producers;
  }

  int total() {
    return rings * messages;
  }
}
