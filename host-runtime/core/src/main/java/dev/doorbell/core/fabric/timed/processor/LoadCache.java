package dev.doorbell.core.fabric.timed.processor;

import dev.doorbell.core.memory.AddressSpace;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The sectors of memory that a GPU thread has recently loaded, for the price of loading them again:
 * a line of the first cache may be filled by parts. Values are never cached: only time is.
 *
 * <p>A sector has one of two places, by a hash of its number: buffers that begin at pages would
 * share few places otherwise, where a GPU's cache has many ways. With a single place, two of the
 * twenty sectors of a post could drive each other out. The hash takes the bits of the address that
 * are the same in every process.
 *
 * <p>A place has a tag alone: looking at places is what loads cost the host, whose own cache holds
 * those of a few hundred threads. So threads that load neighbouring sectors have their tags side by
 * side ({@link Tags}). When a sector was filled matters only until then, so the fills under way are
 * in a ring of their own, a few entries.
 */
public final class LoadCache {
  /** Threads that have their tags together: those of a line of the host's cache. */
  static final int THREADS = 16;

  private static final int PLACES_LOG = 9;
  private static final int PLACES = 1 << PLACES_LOG;

  /** Bytes that each thread of a warp most often loads at once. */
  private static final int USUAL_BYTES = 16;

  private static final int FEW_FILLS = 8;
  private static final long SPREAD = 0x9e37_79b9_7f4a_7c15L;

  /**
   * Bit of every tag but that of an empty place. Below it are the low bits of the sector's number:
   * sectors of one address space differ there, up to 64 GiB where they have 32 bytes.
   */
  private static final int FILLED = 1 << 31;

  /**
   * The tags of {@link #THREADS} threads, in rows of one tag for each. Where thread after thread
   * loads the next 16 bytes, their places differ by the hash of the distance. Each thread's places
   * are shifted back by that, so that those tags are in one row or two. The first rows are made
   * when they are used: a thread that loads little costs little, and a grid may have a quarter of a
   * million threads. Threads that load much have all rows in one array, next to each other.
   */
  static final class Tags {
    private static final int FEW_ROWS = 64;
    private static final int[] NONE = new int[0];

    private int[] @Nullable [] rows = new int[PLACES][];
    private int made;

    /** All rows; empty while they are few. */
    private int[] all = NONE;

    /** The array that has a row; null where it has not been made. */
    private int @Nullable [] known(int row) {
      int[] found = all;
      return found.length == 0 ? rows[row] : found;
    }

    private int[] of(int row) {
      int[] found = known(row);
      return found == null ? make(row) : found;
    }

    /** Start of the row in {@code array}. */
    private static int start(int[] array, int row) {
      return array.length == THREADS ? 0 : row * THREADS;
    }

    private int[] make(int index) {
      if (made == FEW_ROWS) {
        return gather();
      }
      made++;
      int[] row = new int[THREADS];
      rows[index] = row;
      return row;
    }

    private int[] gather() {
      int[] gathered = new int[PLACES * THREADS];
      for (int row = 0; row < PLACES; row++) {
        int[] from = rows[row];
        if (from != null) {
          System.arraycopy(from, 0, gathered, row * THREADS, THREADS);
        }
      }
      all = gathered;
      rows = new int[0][];
      return gathered;
    }
  }

  private final Tags tags;
  private final int column;

  /** Number by which the thread's places are shifted among the rows. */
  private final int shifted;

  /** The last fills, of which each is there no earlier than the one before: place and time. */
  private int[] places = new int[FEW_FILLS];

  private long[] times = new long[FEW_FILLS];

  /** The number of fills; the last one is before this place of the ring. */
  private int fills;

  /** When the last of them is there. */
  private long lastFilled;

  private final int shift;

  /** The rows of places that were filled when they were empty, since {@link #forget}. */
  private short[] notes = new short[FEW_FILLS];

  /** The number of fills; more than there are places: too many to have been noted. */
  private int noted;

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
    int place = place(number(address));
    int tag = tag(address);
    int row = row(place);
    int[] array = tags.of(row);
    int at = Tags.start(array, row) + column;
    int known = array[at];
    if (known == tag) {
      return hit >= lastFilled ? hit : filled(place, hit);
    }
    int second = tagAt(place ^ 1);
    if (second == tag) {
      return hit >= lastFilled ? hit : filled(place ^ 1, hit);
    }
    int taken = known == 0 || (second != 0 && (fills & 1) == 0) ? place : place ^ 1;
    if (tagAt(taken) == 0) {
      note(row(taken));
    }
    set(taken, tag);
    fill(taken, hit, miss);
    return miss;
  }

  public boolean holds(long address, long now) {
    int place = placeOf(address);
    return place >= 0 && (now >= lastFilled || filled(place, now) == now);
  }

  /** The place that has the sector or waits for it; -1 where none does. */
  private int placeOf(long address) {
    int place = place(number(address));
    int tag = tag(address);
    return tagAt(place) == tag ? place : tagAt(place ^ 1) == tag ? place ^ 1 : -1;
  }

  private int tagAt(int place) {
    int row = row(place);
    int[] array = tags.known(row);
    return array == null ? 0 : array[Tags.start(array, row) + column];
  }

  private void set(int place, int tag) {
    int row = row(place);
    int[] array = tags.of(row);
    array[Tags.start(array, row) + column] = tag;
  }

  /** The sector is no longer there: the thread stores to it. */
  public void drop(long address) {
    int place = placeOf(address);
    if (place >= 0) {
      set(place, 0);
    }
  }

  private long number(long address) {
    return (address & (AddressSpace.ALIGNMENT - 1)) >>> shift;
  }

  private int row(int place) {
    return (place - shifted) & (PLACES - 1);
  }

  private int tag(long address) {
    return (int) (address >>> shift) | FILLED;
  }

  private void note(int row) {
    if (noted >= PLACES) {
      noted = PLACES + 1;
      return;
    }
    if (noted == notes.length) {
      notes = Arrays.copyOf(notes, 2 * noted);
    }
    notes[noted++] = (short) row;
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
    boolean all = noted > PLACES;
    int rows = all ? PLACES : noted;
    for (int i = 0; i < rows; i++) {
      int row = all ? i : notes[i];
      int[] array = tags.known(row);
      if (array != null) {
        array[Tags.start(array, row) + column] = 0;
      }
    }
    noted = 0;
  }
}
