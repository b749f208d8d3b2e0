package dev.doorbell.core.fabric.timed.processor;

import dev.doorbell.core.memory.AddressSpace;
import org.jspecify.annotations.Nullable;

/**
 * Which sectors of its own memory a GPU thread has recently loaded, for the price of loading them
 * again: a line of the first cache may be filled by parts. Values are never cached: only time is.
 *
 * <p>A sector has one place, by a hash of its number: buffers that begin at pages would share few
 * places otherwise, where a GPU's cache has many ways. The hash takes the bits of the address that
 * are the same in every process. Groups of places are made when they are first used: a thread that
 * loads little costs little, and a grid may have a quarter of a million threads.
 */
public final class LoadCache {
  private static final int PLACES_LOG = 9;
  private static final int GROUP_LOG = 4;
  private static final long SPREAD = 0x9e37_79b9_7f4a_7c15L;

  /** Bits of a sector's number, above which a tag has the generation. */
  private static final int SECTOR_BITS = 50;

  /** By group: its places, each a tag and the time at which it was filled. */
  private final long[] @Nullable [] groups = new long[1 << (PLACES_LOG - GROUP_LOG)][];

  private final int shift;
  private long generation = 1;

  /**
   * An empty cache.
   *
   * @param sector bytes of what is filled at once, a power of two
   */
  public LoadCache(int sector) {
    this.shift = Integer.numberOfTrailingZeros(sector);
  }

  /**
   * When a load has its value; its sector is there from then on.
   *
   * @param hit when it has it where the sector is there already
   * @param miss when it has it where the sector is not, nor on its way
   */
  public long arrival(long address, long hit, long miss) {
    long sector = address >>> shift;
    long number = (address & (AddressSpace.ALIGNMENT - 1)) >>> shift;
    int place = (int) ((number * SPREAD) >>> (Long.SIZE - PLACES_LOG));
    long tag = (generation << SECTOR_BITS) | sector;
    long[] group = group(place >>> GROUP_LOG);
    int at = (place & ((1 << GROUP_LOG) - 1)) * 2;
    if (group[at] == tag) {
      return Math.max(hit, group[at + 1]);
    }
    group[at] = tag;
    group[at + 1] = miss;
    return miss;
  }

  private long[] group(int index) {
    long[] group = groups[index];
    if (group == null) {
      group = new long[2 << GROUP_LOG];
      groups[index] = group;
    }
    return group;
  }

  /** Empties the cache: for an acquire at GPU scope or wider. */
  public void forget() {
    generation++;
  }
}
