package dev.doorbell.core.adapter;

import dev.doorbell.core.adapter.Promise.Atomics;
import dev.doorbell.core.adapter.Promise.Placement;
import dev.doorbell.core.adapter.Promise.Posted;
import dev.doorbell.core.adapter.Promise.Sending;
import dev.doorbell.core.adapter.Promise.StrictKey;
import dev.doorbell.core.adapter.Promise.Visibility;

/** The answers of one adapter to each {@link Promise}. */
public record Promises(
    Placement placement,
    StrictKey strictKey,
    Atomics atomics,
    Sending sending,
    Posted posted,
    Visibility visibility) {

  /** Returns true if nothing is reordered, refused or late. */
  public boolean isOrdered() {
    return placement == Placement.IN_ORDER
        && posted == Posted.IN_ORDER
        && visibility == Visibility.WITH_COMPLETION;
  }

  /** Returns the answer to {@code promise}. */
  public Enum<?> answer(Promise promise) {
    return switch (promise) {
      case PLACEMENT -> placement;
      case STRICT_KEY -> strictKey;
      case ATOMICS -> atomics;
      case SENDING -> sending;
      case POSTED -> posted;
      case VISIBILITY -> visibility;
    };
  }

  /** Returns these promises with packets placed in order. */
  public Promises inOrder() {
    return new Promises(Placement.IN_ORDER, strictKey, atomics, sending, posted, visibility);
  }

  /** Returns these promises with a strong-ordering fence before every request. */
  public Promises fenced() {
    return new Promises(placement, strictKey, atomics, Sending.ACKNOWLEDGED, posted, visibility);
  }

  /** Returns these promises with atomics that the responder executes behind earlier writes. */
  public Promises atomic() {
    return new Promises(placement, strictKey, Atomics.AFTER_WRITES, sending, posted, visibility);
  }

  /** Returns these promises with a read before every acknowledgement and completion. */
  public Promises flushed() {
    return new Promises(placement, strictKey, atomics, sending, posted, Visibility.WITH_COMPLETION);
  }
}
