package dev.doorbell.softhca.objects;

import dev.doorbell.softhca.packet.Psn;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Memory regions by key: bits 31:8 the index, 7:0 a variant that changes with every use of the
 * index, so that a stale key is an unknown one (reference: mkeys of mlx5). Keys are random, or
 * follow each other as those of {@link NumberTable} do.
 */
public final class RegionTable {
  /** Index 1 with variant 0 is the invalid lkey that ends scatter lists. */
  private static final int FIRST = 0x10;

  private static final int LIMIT = 1 << 20;
  private static final int REST = 1024;
  private static final int VARIANT_STEP = 0x11;
  private static final int FIRST_SLOTS = 16;
  private static final int GOLDEN = 0x9e37_79b9;

  private final @Nullable SecureRandom random;

  private final ArrayDeque<Integer> freed = new ArrayDeque<>();

  /**
   * Open addressing by index: a region lies at its slot or behind it, before the next empty one.
   */
  private @Nullable SoftMemoryRegion[] slots = new SoftMemoryRegion[FIRST_SLOTS];

  private int shift = Integer.SIZE - Integer.numberOfTrailingZeros(FIRST_SLOTS);
  private int live;
  private int used;
  private int variant;

  /**
   * @param unguessable keys and PSNs are random
   */
  public RegionTable(boolean unguessable) {
    this.random = unguessable ? new SecureRandom() : null;
  }

  /** A new key for a region that is {@link #put} next; 0, which is none, when there is no more. */
  public int reserve() {
    if (live == LIMIT) {
      return 0;
    }
    SecureRandom dice = random;
    if (dice == null) {
      int index = freed.size() > REST ? freed.remove() : FIRST + used++;
      variant = (variant + VARIANT_STEP) & 0xff;
      return index << 8 | variant;
    }
    int key = dice.nextInt();
    while (key >>> 8 < FIRST || slots[slotOf(key >>> 8)] != null) {
      key = dice.nextInt();
    }
    return key;
  }

  /** Reserves the key of a region that was removed last. */
  public void reserve(int key) {
    freed.removeLastOccurrence(key >>> 8);
  }

  /** A first PSN: {@code usual}, where numbers are not random. */
  public int psn(int usual) {
    return (random == null ? usual : random.nextInt()) & Psn.MASK;
  }

  /** The slot of the region with that index, or the empty one in which it belongs. */
  private int slotOf(int index) {
    int at = (index * GOLDEN) >>> shift;
    @Nullable SoftMemoryRegion found = slots[at];
    while (found != null && found.lkey() >>> 8 != index) {
      at = (at + 1) & (slots.length - 1);
      found = slots[at];
    }
    return at;
  }

  /** Adds a region with a reserved key. */
  public void put(SoftMemoryRegion region) {
    if (2 * live >= slots.length) {
      rehash(2 * slots.length);
    }
    slots[slotOf(region.lkey() >>> 8)] = region;
    live++;
  }

  private void rehash(int size) {
    @Nullable SoftMemoryRegion[] before = slots;
    slots = new SoftMemoryRegion[size];
    shift = Integer.SIZE - Integer.numberOfTrailingZeros(size);
    for (SoftMemoryRegion region : before) {
      if (region != null) {
        slots[slotOf(region.lkey() >>> 8)] = region;
      }
    }
  }

  /** Removes a region; those behind it move up. */
  public void remove(SoftMemoryRegion region) {
    int index = region.lkey() >>> 8;
    int at = slotOf(index);
    slots[at] = null;
    live--;
    if (random == null) {
      freed.add(index);
    }
    for (int next = (at + 1) & (slots.length - 1);
        slots[next] != null;
        next = (next + 1) & (slots.length - 1)) {
      SoftMemoryRegion behind = slots[next];
      slots[next] = null;
      if (behind != null) {
        slots[slotOf(behind.lkey() >>> 8)] = behind;
      }
    }
  }

  public @Nullable SoftMemoryRegion find(int key) {
    SoftMemoryRegion region = slots[slotOf(key >>> 8)];
    return region != null && region.lkey() == key ? region : null;
  }
}
