package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.adapter.Promises;
import java.util.Arrays;
import java.util.Optional;

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

  /**
   * A measure of a program or its set-up against an adapter that does not keep InfiniBand's order.
   */
  public enum Remedy {
    /** Every work request has the strong-ordering fence bit. */
    FENCE_BIT,
    /** Memory that peers write to is registered for strict ordering. */
    STRICT_KEY,
    /** The HCA reads back before it acknowledges or completes. */
    READ_FLUSH,
    /** The connection is set up for placement in order. */
    ORDERED_PLACEMENT,
    /** Each work request is posted when those before it are complete. */
    ACKNOWLEDGED,
    /** There is a completer of atomics on the path. */
    ATOMICS;

    /** Returns the name on the command line. */
    public String word() {
      return Promise.word(this);
    }

    public static Optional<Remedy> of(String word) {
      return Arrays.stream(values()).filter(remedy -> remedy.word().equals(word)).findFirst();
    }
  }
}
