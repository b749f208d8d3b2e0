package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.explore.model.Cell;
import dev.doorbell.core.fabric.explore.model.MemoryMachine;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What the loads of a waiting loop have seen: words, and their newest writes. */
final class PolledCells {
  private static final int MOST = 256;

  private @Nullable Cell[] cells = new Cell[4];
  private long[] orders = new long[4];
  private int count;
  private boolean sawStale;

  /** Adds what the machine's last access loaded. */
  void add(MemoryMachine machine) {
    sawStale |= machine.stale;
    Cell cell = machine.loaded;
    if (cell == null) {
      return;
    }
    if (count < MOST) {
      if (count == cells.length) {
        cells = Arrays.copyOf(cells, 2 * count);
        orders = Arrays.copyOf(orders, 2 * count);
      }
      cells[count] = cell;
      orders[count] = cell.order();
    }
    count++;
  }

  /**
   * Wakes {@code slot} when one of the words is stored to, and forgets them.
   *
   * @return false when there is news already, or nothing to wait for
   */
  boolean watch(Slot slot) {
    boolean sleeps = !sawStale && count > 0 && count <= MOST;
    for (int i = 0; sleeps && i < count; i++) {
      Cell cell = cells[i];
      sleeps = cell != null && cell.order() == orders[i];
    }
    for (int i = 0; sleeps && i < count; i++) {
      Cell cell = cells[i];
      if (cell != null) {
        slot.watch(cell);
      }
    }
    count = 0;
    sawStale = false;
    return sleeps;
  }
}
