package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.decode.Specialiser;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import java.lang.invoke.MethodHandles;
import org.jspecify.annotations.Nullable;

/** d = f(a, b, c). */
public abstract class TernaryOp extends Op {
  public LongTernaryOperator f = (a, b, c) -> a;

  /** What the operation is called, for the compiler. */
  public String key = "";

  public int d;
  public int a;
  public int b;
  public int c;

  public static TernaryOp of(String key, LongTernaryOperator f, int d, int a, int b, int c) {
    TernaryOp op = Specialiser.make(MethodHandles.lookup(), Template.class, TernaryOp.class, key);
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
    public @Nullable Op execute(VmThread t, long[] r) {
      r[d] = f.apply(r[a], r[b], r[c]);
      return next;
    }
  }
}
