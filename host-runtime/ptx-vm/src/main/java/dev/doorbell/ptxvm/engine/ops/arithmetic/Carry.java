package dev.doorbell.ptxvm.engine.ops.arithmetic;

import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.ScalarType;
import org.jspecify.annotations.Nullable;

/**
 * Extended precision: {@code add.cc}, {@code addc}, {@code sub.cc}, {@code subc}, {@code mad.cc},
 * {@code madc}.
 *
 * <p>A subtraction leaves the carry of {@code a + ~b + 1}: set when it did not borrow. PTX speaks
 * of a borrow in the same flag, but hardware does this, and nvcc's 128-bit division reads it with
 * {@code addc} behind {@code subc.cc}.
 */
public final class Carry extends Op {
  private final boolean subtracts;
  private final boolean takes;
  private final boolean gives;
  private final boolean wide;
  private final Product product;
  private final int d;
  private final int a;
  private final int b;
  private final int c;

  /** Product that {@code mad} adds to c. */
  private enum Product {
    NONE,
    LOW,
    HIGH,
    HIGH_SIGNED
  }

  private Carry(Instruction i, boolean wide, Product product, int d, int a, int b, int c) {
    this.subtracts = i.name().startsWith("sub");
    this.takes = i.name().endsWith("c");
    this.gives = i.has("cc");
    this.wide = wide;
    this.product = product;
    this.d = d;
    this.a = a;
    this.b = b;
    this.c = c;
  }

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    ScalarType type = Assembler.type(i);
    if (type.bits() < 32 || type.family() == ScalarType.Family.FLOAT) {
      throw new Unsupported("type not supported");
    }
    Product product = Product.NONE;
    if (i.name().startsWith("mad")) {
      product = i.has("lo") ? Product.LOW : type.signed() ? Product.HIGH_SIGNED : Product.HIGH;
    }
    int x = a.source(i.operands().get(1), type);
    int y = a.source(i.operands().get(2), type);
    int z = product == Product.NONE ? y : a.source(i.operands().get(3), type);
    return new Carry(i, type.bits() == 64, product, a.result(i.operands().getFirst()), x, y, z);
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    long x = product == Product.NONE ? r[a] : product(r[a], r[b]);
    long y = r[c];
    long in = takes && t.carry != subtracts ? 1 : 0;
    long result;
    boolean out;
    if (subtracts) {
      result = x - y - in;
      out = wide ? Long.compareUnsigned(x, y) < 0 || (in != 0 && x == y) : result < 0;
    } else {
      result = x + y + in;
      out =
          wide
              ? Long.compareUnsigned(result, x) < 0 || (in != 0 && result == x)
              : result >>> 32 != 0;
    }
    if (gives) {
      t.carry = out != subtracts;
    }
    r[d] = wide ? result : result & 0xffffffffL;
    return next;
  }

  private long product(long x, long y) {
    return switch (product) {
      case LOW -> wide ? x * y : x * y & 0xffffffffL;
      case HIGH -> wide ? Math.unsignedMultiplyHigh(x, y) : (x * y) >>> 32;
      default -> wide ? Math.multiplyHigh(x, y) : ((long) (int) x * (int) y) >>> 32;
    };
  }
}
