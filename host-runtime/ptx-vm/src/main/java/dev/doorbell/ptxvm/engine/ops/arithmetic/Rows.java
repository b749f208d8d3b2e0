package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.decode.Specialiser;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import java.lang.invoke.MethodHandles;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Rows of the opcode table: names as PTX spells them, and a function on register values. Several
 * names may share a function. Values come and go zero-extended from the type's width.
 */
public final class Rows {
  /** A row's function, by its number of operands. */
  public sealed interface Row {}

  public record One(LongUnaryOperator f) implements Row {}

  public record Two(LongBinaryOperator f) implements Row {}

  public record Three(LongTernaryOperator f) implements Row {}

  private final Map<String, Row> rows = new HashMap<>();

  Rows unary(String names, LongUnaryOperator f) {
    return row(names, new One(f));
  }

  Rows binary(String names, LongBinaryOperator f) {
    return row(names, new Two(f));
  }

  Rows ternary(String names, LongTernaryOperator f) {
    return row(names, new Three(f));
  }

  private Rows row(String names, Row row) {
    for (String name : List.of(names.split(" ", -1))) {
      if (rows.put(name, row) != null) {
        throw new IllegalStateException("two rows for " + name);
      }
    }
    return this;
  }

  /** All names, sorted. */
  public List<String> names() {
    return rows.keySet().stream().sorted().toList();
  }

  public @Nullable Row get(String name) {
    return rows.get(name);
  }

  /** The function of an instruction with three operands. */
  @FunctionalInterface
  public interface LongTernaryOperator {
    long apply(long a, long b, long c);
  }

  /** d = f(a). */
  public abstract static class UnaryOp extends Op {
    public LongUnaryOperator f = LongUnaryOperator.identity();

    /** Name of the operation, for the compiler. */
    public String key = "";

    public int d;
    public int a;

    public static UnaryOp of(String key, LongUnaryOperator f, int d, int a) {
      UnaryOp op =
          Specialiser.make(MethodHandles.lookup(), UnaryOp.Template.class, UnaryOp.class, key);
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

  /** d = f(a, b). */
  public abstract static class BinaryOp extends Op {
    public LongBinaryOperator f = (a, b) -> a;

    /** Name of the operation, for the compiler. */
    public String key = "";

    public int d;
    public int a;
    public int b;

    public static BinaryOp of(String key, LongBinaryOperator f, int d, int a, int b) {
      BinaryOp op =
          Specialiser.make(MethodHandles.lookup(), BinaryOp.Template.class, BinaryOp.class, key);
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

  /** d = f(a, b, c). */
  public abstract static class TernaryOp extends Op {
    public LongTernaryOperator f = (a, b, c) -> a;

    /** Name of the operation, for the compiler. */
    public String key = "";

    public int d;
    public int a;
    public int b;
    public int c;

    public static TernaryOp of(String key, LongTernaryOperator f, int d, int a, int b, int c) {
      TernaryOp op =
          Specialiser.make(MethodHandles.lookup(), TernaryOp.Template.class, TernaryOp.class, key);
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
}
