package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.adapter.Promise;
import dev.doorbell.experiments.plan.Point;

/** The adapters that differ where memory is memory: those of {@code nic}. */
public enum AdapterName {
  CX7,
  CX7_AR,
  CX8_OOO_RW,
  CX8_OOO_ALL,
  RELAXED_PCIE,
  NO_ATOMICS,
  EFA,
  GPI;

  private static final String SETTING = "nic";

  /** Returns the adapter of a point; the default where its kind has no HCA in software. */
  public static Adapter of(Point point) {
    return point.has(SETTING) ? Adapters.named(point.text(SETTING)) : Adapter.DEFAULT;
  }

  /** Returns its promises. */
  public Adapter adapter() {
    return Adapters.named(Promise.word(this));
  }
}
