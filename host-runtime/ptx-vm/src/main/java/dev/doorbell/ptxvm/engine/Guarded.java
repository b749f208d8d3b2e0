package dev.doorbell.ptxvm.engine;

import org.jspecify.annotations.Nullable;

/** An instruction behind {@code @p} or {@code @!p}. */
final class Guarded extends Op {
  final Op inner;
  final int predicate;
  final long wanted;

  private Guarded(Op inner, int predicate, long wanted) {
    this.inner = inner;
    this.predicate = predicate;
    this.wanted = wanted;
  }

  static Guarded of(Op inner, int predicate, boolean negated) {
    return new Guarded(inner, predicate, negated ? 0 : 1);
  }

  /** The same guard before another instruction. */
  Guarded with(Op other) {
    Guarded guarded = new Guarded(other, predicate, wanted);
    guarded.place = place;
    return guarded;
  }

  @Override
  void follow(@Nullable Op after) {
    super.follow(after);
    inner.follow(after);
  }

  /** Whether the guard lets the instruction be executed. */
  boolean holds(long[] r) {
    return r[predicate] == wanted;
  }

  @Override
  @Nullable Op execute(VmThread t, long[] r) {
    return r[predicate] == wanted ? inner.execute(t, r) : next;
  }
}
