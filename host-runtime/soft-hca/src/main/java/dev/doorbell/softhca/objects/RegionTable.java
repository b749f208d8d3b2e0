package dev.doorbell.softhca.objects;

import org.jspecify.annotations.Nullable;

/**
 * Memory regions by key: bits 31:8 the index, 7:0 a variant that changes with every use of the
 * index, so that a stale key is an unknown one (reference: mkeys of mlx5).
 */
public final class RegionTable {
  /** Index 1 with variant 0 is the invalid lkey that ends scatter lists. */
  private static final int FIRST = 0x10;

  private final NumberTable<SoftMemoryRegion> regions = new NumberTable<>(FIRST, 1 << 20);
  private int variant;

  /** A new key, or -1. */
  public int reserve() {
    int index = regions.reserve();
    variant = (variant + 0x11) & 0xff;
    return index < 0 ? -1 : index << 8 | variant;
  }

  public void put(SoftMemoryRegion region) {
    regions.put(region.lkey() >>> 8, region);
  }

  public void remove(SoftMemoryRegion region) {
    regions.remove(region.lkey() >>> 8);
  }

  /** The region with that key, or null. */
  public @Nullable SoftMemoryRegion find(int key) {
    SoftMemoryRegion region = regions.find(key >>> 8);
    return region != null && region.lkey() == key ? region : null;
  }
}
