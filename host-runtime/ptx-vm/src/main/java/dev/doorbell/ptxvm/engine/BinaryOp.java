package dev.doorbell.ptxvm.engine;

import java.util.function.LongBinaryOperator;
import org.jspecify.annotations.Nullable;

/** d = f(a, b). */
abstract class BinaryOp extends Op {
  LongBinaryOperator f = (a, b) -> a;

  /** What the operation is called, for the compiler. */
  String key = "";

  int d;
  int a;
  int b;

  static BinaryOp of(String key, LongBinaryOperator f, int d, int a, int b) {
    BinaryOp op = Specialiser.make(Template.class, BinaryOp.class, key);
    op.key = key;
    op.f = f;
    op.d = d;
    op.a = a;
    op.b = b;
    return op;
  }

  static final class Template extends BinaryOp {
    @Override
    @Nullable Op execute(VmThread t, long[] r) {
      r[d] = f.applyAsLong(r[a], r[b]);
      return next;
    }
  }
}
