package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An instruction behind {@code @p} or {@code @!p}. */
public final class Guarded extends Op {
  public final Op inner;
  public final int predicate;
  public final long wanted;

  private Guarded(Op inner, int predicate, long wanted) {
    this.inner = inner;
    this.predicate = predicate;
    this.wanted = wanted;
  }

  public static Guarded of(Op inner, int predicate, boolean negated) {
    return new Guarded(inner, predicate, negated ? 0 : 1);
  }

  /** The same guard before another instruction. */
  public Guarded with(Op other) {
    Guarded guarded = new Guarded(other, predicate, wanted);
    guarded.place = place;
    return guarded;
  }

  @Override
  public void follow(@Nullable Op after) {
    super.follow(after);
    inner.follow(after);
  }

  @Override
  public Op bare() {
    return inner;
  }

  @Override
  public List<Op> following() {
    List<Op> inside = inner.following();
    Op after = next;
    if (after == null || inside.contains(after)) {
      return inside;
    }
    List<Op> both = new ArrayList<>(inside);
    both.add(after);
    return both;
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    return r[predicate] == wanted ? inner.execute(t, r) : next;
  }
}
