package dev.doorbell.core.fabric.timed.processor;

import dev.doorbell.core.memory.AddressSpace;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which sectors of its own memory a GPU thread has recently loaded, for the price of loading them
 * again: a line of the first cache may be filled by parts. Values are never cached: only time is.
 *
 * <p>A sector has one place, by a hash of its number: buffers that begin at pages would share few
 * places otherwise, where a GPU's cache has many ways. The hash takes the bits of the address that
 * are the same in every process.
 *
 * <p>A place has a tag alone: looking at places is what loads cost the host, whose own cache holds
 * those of a few hundred threads. So threads that load neighbouring sectors have their tags side by
 * side ({@link Tags}). When a sector was filled matters only until then, so the fills under way are
 * in a ring of their own, a few entries.
 */
public final class LoadCache {
  /** Threads that have their tags together: those of a line of the host's cache. */
  static final int THREADS = 8;

  private static final int PLACES_LOG = 9;
  private static final int PLACES = 1 << PLACES_LOG;

  /** Bytes that each thread of a warp most often loads at once. */
  private static final int USUAL_BYTES = 16;

  private static final int FEW_FILLS = 8;
  private static final long SPREAD = 0x9e37_79b9_7f4a_7c15L;

  /** Bits of a sector's number, above which a tag has the generation. */
  private static final int SECTOR_BITS = 50;

  /**
   * The tags of {@link #THREADS} threads, in rows of one tag for each. Where thread after thread
   * loads the next 16 bytes, their places differ by the hash of the distance. Each thread's places
   * are shifted back by that, so that those tags are in one row or two. Rows are made when they are
   * first used: a thread that loads little costs little, and a grid may have a quarter of a million
   * threads.
   */
  static final class Tags {
    private final long[] @Nullable [] rows = new long[PLACES][];

    private long[] row(int index) {
      long[] row = rows[index];
      if (row == null) {
        row = new long[THREADS];
        rows[index] = row;
      }
      return row;
    }
  }

  private final Tags tags;
  private final int column;

  /** By which the thread's places are shifted among the rows. */
  private final int shifted;

  /** The last fills, of which each is there no earlier than the one before: place and time. */
  private int[] places = new int[FEW_FILLS];

  private long[] times = new long[FEW_FILLS];

  /** How many fills there have been; the last one is before this place of the ring. */
  private int fills;

  /** When the last of them is there. */
  private long lastFilled;

  private final int shift;
  private long generation = 1;

  /**
   * An empty cache.
   *
   * @param sector bytes of what is filled at once, a power of two
   * @param column of the thread among those that share {@code tags}
   */
  LoadCache(int sector, Tags tags, int column) {
    this.shift = Integer.numberOfTrailingZeros(sector);
    this.tags = tags;
    this.column = column;
    this.shifted = place(((long) column * USUAL_BYTES) >>> shift);
  }

  private static int place(long number) {
    return (int) ((number * SPREAD) >>> (Long.SIZE - PLACES_LOG));
  }

  /**
   * When a load has its value; its sector is there from then on.
   *
   * @param hit when it has it where the sector is there already; no earlier than for the load
   *     before
   * @param miss when it has it where the sector is not, nor on its way; no earlier either
   */
  public long arrival(long address, long hit, long miss) {
    long sector = address >>> shift;
    long number = (address & (AddressSpace.ALIGNMENT - 1)) >>> shift;
    int place = place(number);
    long tag = (generation << SECTOR_BITS) | sector;
    long[] row = tags.row((place - shifted) & (PLACES - 1));
    if (row[column] == tag) {
      return hit >= lastFilled ? hit : filled(place, hit);
    }
    row[column] = tag;
    fill(place, hit, miss);
    return miss;
  }

  /** When a place that has its sector, or waits for it, has it: at {@code now} at the earliest. */
  private long filled(int place, long now) {
    int mask = places.length - 1;
    for (int back = 1; back <= places.length; back++) {
      int at = (fills - back) & mask;
      if (times[at] <= now) {
        return now;
      }
      if (places[at] == place) {
        return times[at];
      }
    }
    return now;
  }

  private void fill(int place, long now, long when) {
    int at = fills & (places.length - 1);
    if (times[at] > now) {
      // The oldest is still under way: twice the room, in which the ring begins with it.
      int size = places.length;
      int[] longer = Arrays.copyOf(places, 2 * size);
      long[] later = Arrays.copyOf(times, 2 * size);
      for (int i = 0; i < size; i++) {
        longer[i] = places[(at + i) & (size - 1)];
        later[i] = times[(at + i) & (size - 1)];
      }
      places = longer;
      times = later;
      fills = size;
      at = size;
    }
    places[at] = place;
    times[at] = when;
    lastFilled = when;
    fills++;
  }

  /** Empties the cache: for an acquire at GPU scope or wider. */
  public void forget() {
    generation++;
  }
}
