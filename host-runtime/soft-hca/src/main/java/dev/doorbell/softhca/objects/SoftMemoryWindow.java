package dev.doorbell.softhca.objects;

import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.objects.ObjectOwner.Owned;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A memory window (InfiniBand, chapter 10.6.7): a key that work requests bind to a part of a region
 * and free again. One of type 1 may be bound anew at any time and shows its part to all queue pairs
 * of its domain; one of type 2 has to be free to be bound, and shows it to the queue pair that has
 * bound it.
 */
public final class SoftMemoryWindow implements Owned {
  private final ObjectOwner domain;
  private final RegionTable regions;
  private final Promises promises;
  private final boolean second;

  /** View of the memory that the key names now; invalid while the window is free. */
  private SoftMemoryRegion view;

  private @Nullable SoftMemoryRegion source;
  private int queuePair;

  /**
   * @param key reserved in {@code regions}
   * @param second of type 2
   */
  public SoftMemoryWindow(
      ObjectOwner domain, RegionTable regions, int key, boolean second, Promises promises) {
    this.domain = domain;
    this.regions = regions;
    this.promises = promises;
    this.second = second;
    this.view = new SoftMemoryRegion(domain, key, 0, 0, 0, Set.of(), promises, this);
    view.invalidate();
    regions.put(view);
  }

  /** The key; bindings change its lowest 8 bits. */
  public int rkey() {
    return view.rkey();
  }

  /** The window's entry in the table of regions. */
  public SoftMemoryRegion view() {
    return view;
  }

  /** True while the key names nothing. */
  public boolean isFree() {
    return !view.isLive();
  }

  /** True for one that shows memory to the queue pair alone that has bound it. */
  public boolean isSecondType() {
    return second;
  }

  /** Returns true if a peer of the queue pair may use the key, and the region still exists. */
  boolean isOpenTo(QueuePairContext by) {
    SoftMemoryRegion shown = source;
    return (!second || by.number == queuePair) && shown != null && shown.isLive();
  }

  /** Returns true if work requests of the queue pair may free it. */
  @SuppressWarnings("ReferenceEquality") // there is one object per domain
  public boolean mayFree(QueuePairContext by) {
    return by.domain == domain && (!second || isFree() || by.number == queuePair);
  }

  /**
   * Shows a part of a region from now on.
   *
   * @param by the queue pair that asks
   * @param variant the lowest 8 bits of the key
   * @param address by which work requests name the first byte
   * @param memory the same byte in the region's addresses
   * @return {@link VendorSyndrome#NONE}, or why not
   */
  @SuppressWarnings("ReferenceEquality") // there is one object per domain
  public int bind(
      QueuePairContext by,
      SoftMemoryRegion region,
      int variant,
      long address,
      long memory,
      long length,
      Set<AccessRight> rights) {
    if (by.domain != domain) {
      return VendorSyndrome.WRONG_DOMAIN;
    }
    boolean writes =
        rights.contains(AccessRight.REMOTE_WRITE) || rights.contains(AccessRight.REMOTE_ATOMIC);
    int needed = Rights.WINDOW_BIND | (writes ? Rights.LOCAL_WRITE : 0);
    int refusal = region.refusal(domain, memory, length, needed);
    if (refusal == VendorSyndrome.NONE) {
      show(
          new SoftMemoryRegion(
              domain,
              (view.rkey() & ~0xff) | variant,
              address,
              region.memory(memory),
              length,
              rights,
              promises,
              this));
      source = region;
      queuePair = by.number;
    }
    return refusal;
  }

  /** The key names nothing from now on; its lowest 8 bits are {@code variant}. */
  public void free(int variant) {
    int key = (view.rkey() & ~0xff) | variant;
    SoftMemoryRegion none = new SoftMemoryRegion(domain, key, 0, 0, 0, Set.of(), promises, this);
    none.invalidate();
    show(none);
    source = null;
  }

  /** Copies of the old view that a queue pair has kept are invalid, too. */
  private void show(SoftMemoryRegion next) {
    view.invalidate();
    regions.exchange(view, next);
    view = next;
  }

  @Override
  public void close() {
    view.invalidate();
    domain.closing(this);
  }
}
