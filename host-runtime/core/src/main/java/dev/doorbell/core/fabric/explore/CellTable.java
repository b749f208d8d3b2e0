package dev.doorbell.core.fabric.explore;

import org.jspecify.annotations.Nullable;

/** Finds words by address: an open-addressed table, because every access looks here. */
final class CellTable {
  private @Nullable Cell[] cells = new Cell[1024];
  private int used;

  @Nullable Cell find(long address) {
    return cells[slot(cells, address)];
  }

  void add(Cell cell) {
    if (2 * ++used > cells.length) {
      @Nullable Cell[] more = new Cell[2 * cells.length];
      for (Cell old : cells) {
        if (old != null) {
          more[slot(more, old.address)] = old;
        }
      }
      cells = more;
    }
    cells[slot(cells, cell.address)] = cell;
  }

  private static int slot(@Nullable Cell[] cells, long address) {
    int mask = cells.length - 1;
    int slot = (int) (((address >>> 3) * 0x9e37_79b9_7f4a_7c15L) >>> 40) & mask;
    while (true) {
      Cell cell = cells[slot];
      if (cell == null || cell.address == address) {
        return slot;
      }
      slot = (slot + 1) & mask;
    }
  }
}
