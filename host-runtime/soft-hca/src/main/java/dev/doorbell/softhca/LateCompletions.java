package dev.doorbell.softhca;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Cqe;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/** CQEs of a queue that a fault holds back, in order, with all that come behind them. */
final class LateCompletions {
  private final SoftCompletionQueue queue;
  private final DevicePort port;
  private final ArrayDeque<Entry> entries = new ArrayDeque<>();
  private final Completion over = this::over;
  private boolean timing;

  private record Entry(
      MemorySegment bytes, long address, int qpn, int wqeIndex, boolean urgent, long due) {}

  LateCompletions(SoftCompletionQueue queue, DevicePort port) {
    this.queue = queue;
    this.port = port;
  }

  int size() {
    return entries.size();
  }

  /** Holds a CQE back for {@code nanos}, and not less than the one before it. */
  void add(long source, long address, int qpn, int wqeIndex, boolean urgent, long nanos) {
    MemorySegment copy = Arena.ofAuto().allocate(Cqe.BYTES, Cqe.BYTES);
    RawMemory.copy(source, copy.address(), Cqe.BYTES);
    long before = entries.isEmpty() ? Long.MIN_VALUE : entries.getLast().due;
    long due = Math.max(before, port.now() + nanos);
    entries.add(new Entry(copy, address, qpn, wqeIndex, urgent, due));
    startTimer();
  }

  private void startTimer() {
    Entry first = entries.peek();
    if (first != null && !timing) {
      timing = true;
      port.timer(Math.max(0, first.due - port.now()), over);
    }
  }

  private void over(boolean ok) {
    timing = false;
    long now = port.now();
    Entry first = entries.peek();
    while (first != null && first.due <= now) {
      entries.remove();
      queue.write(first.bytes.address(), first.address, first.qpn, first.wqeIndex, first.urgent);
      first = entries.peek();
    }
    startTimer();
  }

  /** Forgets what was not written: the queue is closed. */
  void drop() {
    entries.clear();
  }
}
