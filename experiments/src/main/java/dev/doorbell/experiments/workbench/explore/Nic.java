package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Promises;

/**
 * The HCAs of an exploration.
 *
 * @param adapter what they promise
 * @param strictKeys memory that peers write to is registered for strict ordering
 */
public record Nic(Adapter adapter, boolean strictKeys) {
  /** HCAs that keep InfiniBand's order. */
  public static final Nic DEFAULT = new Nic(Adapter.DEFAULT, false);

  /** HCAs of {@code adapter} as they are. */
  public static Nic of(Adapter adapter) {
    return new Nic(adapter, false);
  }

  /** Returns these HCAs with a remedy. */
  public Nic with(Remedy remedy) {
    Promises promises = adapter.promises();
    return switch (remedy) {
      case FENCE_BIT, ACKNOWLEDGED -> changed(remedy, promises.fenced());
      case STRICT_KEY -> new Nic(adapter, true);
      case READ_FLUSH -> changed(remedy, promises.flushed());
      case ORDERED_PLACEMENT -> changed(remedy, promises.inOrder());
      case ATOMICS -> changed(remedy, promises.atomic());
    };
  }

  private Nic changed(Remedy remedy, Promises promises) {
    return new Nic(adapter.with("+" + remedy.word(), promises), strictKeys);
  }

  /** Returns the name of the adapter with its remedies. */
  public String name() {
    return adapter + (strictKeys ? "+" + Remedy.STRICT_KEY.word() : "");
  }

  @Override
  public String toString() {
    return name() + " " + adapter.promises();
  }
}
