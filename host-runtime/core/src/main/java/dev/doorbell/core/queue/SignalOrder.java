package dev.doorbell.core.queue;

import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.adapter.Promise.Atomics;
import dev.doorbell.core.adapter.Promise.FenceBit;
import dev.doorbell.core.adapter.Promise.Messages;
import dev.doorbell.core.adapter.Promise.Placement;
import dev.doorbell.core.adapter.Promise.Posted;
import dev.doorbell.core.adapter.Promise.StrictKey;
import dev.doorbell.core.adapter.Promise.Visibility;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.queue.generated.QueuePairView;

/**
 * Ways to place a signal behind the data before it: the action of {@code doorbell::signal}, by the
 * flags of the queue pair ({@code order.cuh}), and how the signals' memory is registered.
 */
public enum SignalOrder {
  /** A WRITE of the word behind the data. */
  NONE(0),
  /** A WRITE of the word to memory that is registered for strict ordering. */
  STRICT_KEY(0),
  /** A message of at most one packet carries its signal in its last word; others are fenced. */
  PACKED(QueuePairView.FLAG_ORDER_PACK | QueuePairView.FLAG_ORDER_FENCE),
  /** A fetch-and-add. */
  ATOMIC(QueuePairView.FLAG_ORDER_ATOMIC),
  /** A READ of the word, and a WRITE that waits for it. */
  READ_FLUSH(QueuePairView.FLAG_ORDER_FLUSH),
  /** A WRITE with the strong-ordering fence bit. */
  FENCE_BIT(QueuePairView.FLAG_ORDER_FENCE),
  /** A WRITE that is posted when everything before it is complete. */
  ACKNOWLEDGED(QueuePairView.FLAG_ORDER_WAIT);

  private final int flags;

  SignalOrder(int flags) {
    this.flags = flags;
  }

  /** Returns the cheapest that suffices on an HCA, with memory that the host registers for it. */
  public static SignalOrder of(Promises promises) {
    if (NONE.suffices(promises)) {
      return NONE;
    }
    for (SignalOrder order : new SignalOrder[] {STRICT_KEY, FENCE_BIT, ATOMIC, READ_FLUSH}) {
      if (order.suffices(promises)) {
        return order;
      }
    }
    return ACKNOWLEDGED;
  }

  /**
   * Returns all that a kernel may choose from where memory is registered as it is: flags of a view.
   * A signal that cannot be an atomic, or has no room for what a READ fetches, is the next one.
   */
  public static int flagsOf(Promises promises) {
    if (NONE.suffices(promises)) {
      return 0;
    }
    int flags = 0;
    if (promises.atomics() == Atomics.AFTER_WRITES && ATOMIC.suffices(promises)) {
      flags |= ATOMIC.flags;
    }
    if (FENCE_BIT.suffices(promises)) {
      return flags | FENCE_BIT.flags;
    }
    return flags | (READ_FLUSH.suffices(promises) ? READ_FLUSH : ACKNOWLEDGED).flags;
  }

  /** Returns the flags for {@code doorbell::quiet} with a word: whether completed means visible. */
  public static int quietFlags(Promises promises) {
    return promises.visibility() == Visibility.AFTER_READ || promises.posted() == Posted.RELAXED
        ? QueuePairView.FLAG_QUIET_READ
        : 0;
  }

  /** Returns the name in configs and on the command line. */
  public String word() {
    return Promise.word(this);
  }

  /** Returns {@code FLAG_ORDER_*} of a {@link QueuePairView}. */
  public int flags() {
    return flags;
  }

  /** Returns whether the memory of signals has to be registered for strict ordering. */
  public boolean strictKeys() {
    return this == STRICT_KEY;
  }

  /** Returns whether a signal comes behind its data on an HCA with these promises. */
  public boolean suffices(Promises promises) {
    boolean posted = promises.posted() == Posted.IN_ORDER;
    boolean messages = promises.messages() == Messages.IN_ORDER;
    boolean fences = promises.fenceBit() == FenceBit.WAITS;
    return switch (this) {
      case NONE -> promises.placement() == Placement.IN_ORDER && posted && messages;
      case STRICT_KEY ->
          NONE.suffices(promises) || promises.strictKey() == StrictKey.AFTER_EARLIER_WRITES;
      case ATOMIC -> promises.atomics() != Atomics.REFUSED && messages;
      case FENCE_BIT, PACKED -> posted && fences;
      case ACKNOWLEDGED -> posted;
      case READ_FLUSH -> messages && fences;
    };
  }
}
