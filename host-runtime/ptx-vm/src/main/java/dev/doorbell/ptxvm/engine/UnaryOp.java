package dev.doorbell.ptxvm.engine;

import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** d = f(a). */
abstract class UnaryOp extends Op {
  LongUnaryOperator f = LongUnaryOperator.identity();

  /** What the operation is called, for the compiler. */
  String key = "";

  int d;
  int a;

  static UnaryOp of(String key, LongUnaryOperator f, int d, int a) {
    UnaryOp op = Specialiser.make(Template.class, UnaryOp.class, key);
    op.key = key;
    op.f = f;
    op.d = d;
    op.a = a;
    return op;
  }

  static final class Template extends UnaryOp {
    @Override
    @Nullable Op execute(VmThread t, long[] r) {
      r[d] = f.applyAsLong(r[a]);
      return next;
    }
  }
}
