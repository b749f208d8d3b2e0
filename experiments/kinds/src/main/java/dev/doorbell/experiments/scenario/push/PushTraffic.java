package dev.doorbell.experiments.scenario.push;

import dev.doorbell.push.RingShape;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Messages of one GPU. */
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

  PushTraffic with(Consumer<PushTraffic> change) {
    try {
      PushTraffic made = (PushTraffic) clone();
      change.accept(made);
      return made;
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException(e);
    }
  }

  int blocks() {
    return rings * producers;
  }

  int total() {
    return rings * messages;
  }
}
