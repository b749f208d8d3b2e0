package dev.doorbell.softhca.objects;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Objects with a doorbell that was rung on any thread and that the engine has not handled: a
 * lock-free stack without duplicates.
 */
public final class PendingList<T extends PendingList.Node> {
  private final AtomicReference<@Nullable T> head = new AtomicReference<>();

  public abstract static class Node {
    private final AtomicBoolean doorbellPending = new AtomicBoolean();
    private volatile @Nullable Node nextPending;
  }

  /**
   * Adds an object. A full barrier: who {@linkplain #release releases} the object after this sees
   * what was stored before.
   *
   * @return false when it was in the list already
   */
  public boolean add(T object) {
    Node node = object;
    if (node.doorbellPending.get() || !node.doorbellPending.compareAndSet(false, true)) {
      return false;
    }
    T first;
    do {
      first = head.get();
      node.nextPending = first;
    } while (!head.compareAndSet(first, object));
    return true;
  }

  /** The head of the list, which is empty afterwards; or null. */
  public @Nullable T takeAll() {
    return head.getPlain() == null ? null : head.getAndSet(null);
  }

  /** Releases {@code object}, so that it may be added anew; the one after it, or null. */
  public @Nullable T release(T object) {
    Node node = object;
    @SuppressWarnings("unchecked") // only objects of type T are added
    T next = (T) node.nextPending;
    node.nextPending = null;
    node.doorbellPending.set(false);
    return next;
  }
}
