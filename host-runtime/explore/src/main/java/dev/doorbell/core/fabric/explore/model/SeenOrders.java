package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.fabric.explore.model.Cell.Write;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The orders in which a run has seen strong accesses to the same bytes that nothing orders, and the
 * loads among them that could have returned older values.
 */
public final class SeenOrders {
  private final Set<Pair> pairs = new LinkedHashSet<>();
  private final Map<Side, Boolean> reads = new HashMap<>();

  /**
   * One of two accesses.
   *
   * @param who the agent
   * @param at its place; null for devices
   */
  public record Side(Object who, @Nullable Object at) {
    private static Side of(Actor actor, @Nullable Object at) {
      return new Side(actor.who(), actor.isDevice() ? null : at);
    }

    /** Two threads at one place are the same side. */
    @Override
    @SuppressWarnings("ReferenceEquality")
    public boolean equals(@Nullable Object other) {
      return other instanceof Side side
          && (at == null ? side.at == null && who == side.who : at == side.at);
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(at == null ? who : at);
    }
  }

  private record Pair(Side first, Side second) {}

  /**
   * A load has read from {@code seen}, and {@code newest} is a write that its actor did not know.
   */
  void loaded(Actor actor, @Nullable Object at, Write newest, @Nullable Write seen) {
    Side load = Side.of(actor, at);
    Side store = Side.of(newest.actor, newest.at);
    boolean old = seen != newest;
    pairs.add(old ? new Pair(load, store) : new Pair(store, load));
    if (!actor.isDevice()) {
      reads.merge(load, old, (a, b) -> a || b);
    }
  }

  /** A store follows a load that its actor does not know of. */
  void storedOver(Actor reader, @Nullable Object readAt, Actor writer, @Nullable Object at) {
    pairs.add(new Pair(Side.of(reader, readAt), Side.of(writer, at)));
  }

  /** A store follows another one that its actor does not know. */
  void stored(Write before, Actor writer, @Nullable Object at) {
    pairs.add(new Pair(Side.of(before.actor, before.at), Side.of(writer, at)));
  }

  /** Visits the pairs, the access that came first first. */
  public void each(BiConsumer<Side, Side> visitor) {
    pairs.forEach(pair -> visitor.accept(pair.first, pair.second));
  }

  /** Visits the loads that could have returned older values, and whether one has. */
  public void reads(BiConsumer<Side, Boolean> visitor) {
    reads.forEach(visitor);
  }
}
