package dev.doorbell.core.fabric.explore.litmus.axiom;

/**
 * A relation over at most 64 events: one row of bits an event. Mutable; code that tries something
 * works on a {@link #copy}.
 */
final class Relation {
  /** The most events that a candidate execution may have. */
  static final int MOST = Long.SIZE;

  private final long[] rows;

  Relation(int events) {
    this(new long[events]);
  }

  private Relation(long[] rows) {
    this.rows = rows;
  }

  Relation copy() {
    return new Relation(rows.clone());
  }

  boolean has(int from, int to) {
    return (rows[from] >>> to & 1) != 0;
  }

  void add(int from, int to) {
    rows[from] |= 1L << to;
  }

  void addAll(Relation other) {
    for (int i = 0; i < rows.length; i++) {
      rows[i] |= other.rows[i];
    }
  }

  /** The events that {@code from} is related to, as bits. */
  long row(int from) {
    return rows[from];
  }

  /** Adds a pair to a relation that is transitive, and what follows from it. */
  void addTransitively(int from, int to) {
    long gained = rows[to] | 1L << to;
    rows[from] |= gained;
    for (int i = 0; i < rows.length; i++) {
      if (has(i, from)) {
        rows[i] |= gained;
      }
    }
  }

  /** Makes it transitive (Warshall). */
  Relation close() {
    for (int via = 0; via < rows.length; via++) {
      long reached = rows[via];
      for (int from = 0; from < rows.length; from++) {
        if ((rows[from] >>> via & 1) != 0) {
          rows[from] |= reached;
        }
      }
    }
    return this;
  }

  /** Returns true if following it leads back to where one began. */
  boolean isCyclic() {
    return copy().close().isReflexive();
  }

  boolean isReflexive() {
    for (int i = 0; i < rows.length; i++) {
      if (has(i, i)) {
        return true;
      }
    }
    return false;
  }
}
