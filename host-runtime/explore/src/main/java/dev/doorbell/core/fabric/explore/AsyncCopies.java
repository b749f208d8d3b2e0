package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.ThreadPort.Copies;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.MemoryMachine;
import java.util.ArrayList;
import java.util.List;

/**
 * The asynchronous copies of a thread. Each reads and writes as actors of its own, which come after
 * what the thread did before; the thread comes after them when it has waited for them.
 */
final class AsyncCopies {
  private final MemoryMachine machine;
  private final Actor thread;
  private final Groups small = new Groups();
  private final Groups bulk = new Groups();

  /** A copy: who reads its source, and who writes its target. */
  record Copy(Actor reader, Actor writer) {}

  /** The groups of copies of one kind, and the copies that are in none yet. */
  private static final class Groups {
    final List<List<Copy>> committed = new ArrayList<>();
    List<Copy> open = new ArrayList<>();
  }

  AsyncCopies(MemoryMachine machine, Actor thread) {
    this.machine = machine;
    this.thread = thread;
  }

  /** Begins a copy, or the arrival of all small ones so far. */
  Copy begin(Copies which) {
    if (which == Copies.EARLIER) {
      Actor all = machine.copy(thread, false);
      small.committed.forEach(group -> group.forEach(copy -> all.follows(copy.writer)));
      small.open.forEach(copy -> all.follows(copy.writer));
      return new Copy(all, all);
    }
    if (which == Copies.STORE) {
      Actor store = machine.copy(thread, false);
      return new Copy(store, store);
    }
    Copy copy =
        new Copy(
            machine.copy(thread, which == Copies.BULK_FROM_SHARED), machine.copy(thread, false));
    (which == Copies.ASYNC ? small : bulk).open.add(copy);
    return copy;
  }

  void commit(boolean ofBulk) {
    Groups groups = ofBulk ? bulk : small;
    groups.committed.add(groups.open);
    groups.open = new ArrayList<>();
  }

  /** Waits for groups of copies, see {@link dev.doorbell.core.fabric.ThreadPort#awaitCopies}. */
  void await(boolean ofBulk, int left, boolean reads) {
    Groups groups = ofBulk ? bulk : small;
    int done = Math.max(0, groups.committed.size() - Math.max(0, left));
    groups.committed.subList(0, done).forEach(group -> await(group, reads));
    if (left < 0) {
      await(groups.open, reads);
    }
    if (!reads) {
      groups.committed.subList(0, done).clear();
    }
  }

  private void await(List<Copy> copies, boolean reads) {
    for (Copy copy : copies) {
      thread.follows(copy.reader);
      if (!reads) {
        thread.follows(copy.writer);
      }
    }
  }
}
