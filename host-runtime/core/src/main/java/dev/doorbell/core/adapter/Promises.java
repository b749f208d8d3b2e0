package dev.doorbell.core.adapter;

import dev.doorbell.core.adapter.Promise.Atomics;
import dev.doorbell.core.adapter.Promise.FenceBit;
import dev.doorbell.core.adapter.Promise.Messages;
import dev.doorbell.core.adapter.Promise.Placement;
import dev.doorbell.core.adapter.Promise.Posted;
import dev.doorbell.core.adapter.Promise.Queues;
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
    Visibility visibility,
    Messages messages,
    FenceBit fenceBit,
    Queues queues) {

  public Enum<?> answer(Promise promise) {
    return switch (promise) {
      case PLACEMENT -> placement;
      case STRICT_KEY -> strictKey;
      case ATOMICS -> atomics;
      case SENDING -> sending;
      case POSTED -> posted;
      case VISIBILITY -> visibility;
      case MESSAGES -> messages;
      case FENCE_BIT -> fenceBit;
      case QUEUES -> queues;
    };
  }

  /** Returns these promises with packets placed in order. */
  public Promises inOrder() {
    return with(Placement.IN_ORDER, atomics, sending, visibility);
  }

  /** Returns these promises with a strong-ordering fence, or a wait, before every request. */
  public Promises fenced() {
    return with(placement, atomics, Sending.ACKNOWLEDGED, visibility);
  }

  /** Returns these promises with atomics that the responder executes behind earlier writes. */
  public Promises atomic() {
    return with(placement, Atomics.AFTER_WRITES, sending, visibility);
  }

  /** Returns these promises with a read before every acknowledgement and completion. */
  public Promises flushed() {
    return with(placement, atomics, sending, Visibility.WITH_COMPLETION);
  }

  private Promises with(Placement place, Atomics atomic, Sending send, Visibility seen) {
    return new Promises(place, strictKey, atomic, send, posted, seen, messages, fenceBit, queues);
  }
}
