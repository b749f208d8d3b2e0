package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.decode.Specialiser;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import java.lang.invoke.MethodHandles;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** d = f(a). */
public abstract class UnaryOp extends Op {
  public LongUnaryOperator f = LongUnaryOperator.identity();

  /** What the operation is called, for the compiler. */
  public String key = "";

  public int d;
  public int a;

  public static UnaryOp of(String key, LongUnaryOperator f, int d, int a) {
    UnaryOp op = Specialiser.make(MethodHandles.lookup(), Template.class, UnaryOp.class, key);
    op.key = key;
    op.f = f;
    op.d = d;
    op.a = a;
    return op;
  }

  static final class Template extends UnaryOp {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      r[d] = f.applyAsLong(r[a]);
      return next;
    }
  }
}
