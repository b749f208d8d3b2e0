package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.decode.Specialiser;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import java.lang.invoke.MethodHandles;
import java.util.function.LongBinaryOperator;
import org.jspecify.annotations.Nullable;

/** d = f(a, b). */
public abstract class BinaryOp extends Op {
  public LongBinaryOperator f = (a, b) -> a;

  /** What the operation is called, for the compiler. */
  public String key = "";

  public int d;
  public int a;
  public int b;

  public static BinaryOp of(String key, LongBinaryOperator f, int d, int a, int b) {
    BinaryOp op = Specialiser.make(MethodHandles.lookup(), Template.class, BinaryOp.class, key);
    op.key = key;
    op.f = f;
    op.d = d;
    op.a = a;
    op.b = b;
    return op;
  }

  static final class Template extends BinaryOp {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      r[d] = f.applyAsLong(r[a], r[b]);
      return next;
    }
  }
}
