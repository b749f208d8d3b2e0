package dev.doorbell.ptxvm.engine;

import org.jspecify.annotations.Nullable;

/** d = f(a, b, c). */
abstract class TernaryOp extends Op {
  Ternary f = (a, b, c) -> a;

  /** What the operation is called, for the compiler. */
  String key = "";

  int d;
  int a;
  int b;
  int c;

  static TernaryOp of(String key, Ternary f, int d, int a, int b, int c) {
    TernaryOp op = Specialiser.make(Template.class, TernaryOp.class, key);
    op.key = key;
    op.f = f;
    op.d = d;
    op.a = a;
    op.b = b;
    op.c = c;
    return op;
  }

  static final class Template extends TernaryOp {
    @Override
    @Nullable Op execute(VmThread t, long[] r) {
      r[d] = f.apply(r[a], r[b], r[c]);
      return next;
    }
  }
}
