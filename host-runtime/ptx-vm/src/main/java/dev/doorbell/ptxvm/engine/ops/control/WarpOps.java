package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.ConvergenceOp;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** The {@code .sync} operations of a warp. */
public final class WarpOps {
  private WarpOps() {}

  /** {@code bar.warp.sync mask}. */
  public static Op barrier(Instruction i, Assembler a) throws Unsupported {
    WarpBarrier op = new WarpBarrier();
    op.mask = a.source(i.operands().getFirst(), ScalarType.B32);
    return op;
  }

  /** {@code shfl.sync.mode.b32 d|p, a, b, c, mask}. */
  public static Op shuffle(Instruction i, Assembler a) throws Unsupported {
    List<Operand> operands = i.operands();
    Shuffle op =
        switch (mode(i, List.of("up", "down", "bfly", "idx"))) {
          case "up" -> new ShuffleUp();
          case "down" -> new ShuffleDown();
          case "bfly" -> new ShuffleButterfly();
          default -> new ShuffleIndexed(isWhole(operands.get(3), a));
        };
    results(op, operands.getFirst(), a);
    op.a = a.source(operands.get(1), ScalarType.B32);
    op.b = a.source(operands.get(2), ScalarType.B32);
    op.c = a.source(operands.get(3), ScalarType.B32);
    op.mask = a.source(operands.get(4), ScalarType.B32);
    return op;
  }

  /** True when the range of a shuffle is known to be the whole warp. */
  private static boolean isWhole(Operand clamp, Assembler a) {
    Operand known =
        clamp instanceof Operand.Reg(Register register) ? onlyValue(register, a) : clamp;
    return known instanceof Operand.Int(long value) && (value & 0x1f1f) == 0x1f;
  }

  /** Returns what the only instruction that writes the register moves there, or null. */
  private static @Nullable Operand onlyValue(Register register, Assembler a) {
    Instruction writer = a.function().onlyWriter(register);
    return writer != null && writer.name().equals("mov") && writer.guard() == null
        ? writer.operands().get(1)
        : null;
  }

  /** {@code vote.sync.mode d, p, mask}. */
  public static Op vote(Instruction i, Assembler a) throws Unsupported {
    Vote op = new Vote(mode(i, Vote.MODES));
    op.d = a.result(i.operands().getFirst());
    Assembler.Condition condition = a.condition(i.operands().get(1));
    op.negated = condition.negated();
    op.a = condition.slot();
    op.mask = a.source(i.operands().get(2), ScalarType.B32);
    return op;
  }

  /** {@code match.any/all.sync.type d|p, a, mask}. */
  public static Op match(Instruction i, Assembler a) throws Unsupported {
    Match op = new Match(mode(i, List.of("any", "all")).equals("all"));
    results(op, i.operands().getFirst(), a);
    op.a = a.source(i.operands().get(1), Assembler.type(i));
    op.mask = a.source(i.operands().get(2), ScalarType.B32);
    return op;
  }

  /** {@code redux.sync.op.type d, a, mask}. */
  public static Op reduce(Instruction i, Assembler a) throws Unsupported {
    ScalarType type = Assembler.type(i);
    if (type.family() == ScalarType.Family.FLOAT) {
      throw new Unsupported("redux on floats is not supported");
    }
    Reduce op = new Reduce(mode(i, Reduce.MODES), type.signed());
    results(op, i.operands().getFirst(), a);
    op.a = a.source(i.operands().get(1), type);
    op.mask = a.source(i.operands().get(2), ScalarType.B32);
    return op;
  }

  /** {@code elect.sync d|p, mask}: the lowest lane leads. */
  public static Op elect(Instruction i, Assembler a) throws Unsupported {
    Elect op = new Elect();
    results(op, i.operands().getFirst(), a);
    op.mask = a.source(i.operands().get(1), ScalarType.B32);
    return op;
  }

  /** {@code activemask d}. */
  public static Op activeMask(Instruction i, Assembler a) throws Unsupported {
    return new ActiveMask(a.result(i.operands().getFirst()));
  }

  /** The modifier that says what a {@code .sync} instruction does; it stands at any place. */
  private static String mode(Instruction i, List<String> modes) throws Unsupported {
    if (!i.has("sync")) {
      throw Unsupported.malformed("only the .sync form is supported");
    }
    return i.modifiers().stream()
        .filter(modes::contains)
        .findFirst()
        .orElseThrow(() -> Unsupported.malformed("one of " + modes + " is needed"));
  }

  private static void results(ValueOp op, Operand to, Assembler a) throws Unsupported {
    op.p = a.kernel().trash();
    if (to instanceof Operand.Pair(Operand value, Operand flag)) {
      op.d = a.result(value);
      op.p = a.result(flag);
    } else {
      op.d = a.result(to);
    }
  }

  private static void give(VmThread[] lanes, int members, long result) {
    for (int rest = members; rest != 0; rest &= rest - 1) {
      lanes[Integer.numberOfTrailingZeros(rest)].result = result;
    }
  }

  public static final class WarpBarrier extends WarpOp {
    @Override
    public boolean isBarrier() {
      return true;
    }

    /** Performs earlier accesses for the block before the others go on. */
    @Override
    boolean ready(VmThread t) {
      t.account();
      t.port.settle();
      return !t.port.parked;
    }

    @Override
    public void offer(VmThread t, long[] r) {}

    @Override
    public void complete(VmThread[] lanes, int members) {
      Object group = null;
      for (int i = 0; i < lanes.length; i++) {
        if ((members >>> i & 1) != 0) {
          group = lanes[i].port.arrive(group);
        }
      }
      for (int i = 0; i < lanes.length; i++) {
        if ((members >>> i & 1) != 0) {
          lanes[i].port.leave(group);
        }
      }
    }

    @Override
    public void take(VmThread t, long[] r) {}
  }

  /** One that takes a value and gives a value and a flag. */
  abstract static class ValueOp extends WarpOp {
    public int d;
    public int p;
    public int a;

    @Override
    public void offer(VmThread t, long[] r) {
      t.offered = r[a];
    }

    @Override
    public final void take(VmThread t, long[] r) {
      r[d] = t.result;
      r[p] = t.resultFlag ? 1 : 0;
    }
  }

  abstract static class Shuffle extends ValueOp {
    public int b;
    int c;

    @Override
    public final void offer(VmThread t, long[] r) {
      t.offered = r[a] & 0xffffffffL;
      t.offeredControl = (r[b] & 31) | (r[c] & 0x1f1f) << 8;
    }

    @Override
    public final void complete(VmThread[] lanes, int members) {
      for (int i = 0; i < lanes.length; i++) {
        if ((members >>> i & 1) != 0) {
          shuffle(lanes, members, lanes[i]);
        }
      }
    }

    @Override
    public boolean writesUniform(int slot, IntPredicate uniform) {
      return slot == d && uniform.test(a);
    }

    /** PTX ISA, {@code shfl.sync}: the pseudo code of source lane and range. */
    private void shuffle(VmThread[] lanes, int members, VmThread t) {
      int by = (int) t.offeredControl & 31;
      int clamp = (int) (t.offeredControl >>> 8) & 31;
      int segment = (int) (t.offeredControl >>> 16) & 31;
      int max = (t.lane & segment) | (clamp & ~segment);
      int min = t.lane & segment;
      int from = from(t.lane, by, min, segment);
      boolean inRange = inRange(from, min, max);
      int source = inRange ? from : t.lane;
      boolean there = source < lanes.length && (members >>> source & 1) != 0;
      t.result = there ? lanes[source].offered : t.offered;
      t.resultFlag = inRange;
    }

    abstract int from(int lane, int by, int min, int segment);

    boolean inRange(int from, int min, int max) {
      return from <= max;
    }
  }

  private static final class ShuffleUp extends Shuffle {
    @Override
    int from(int lane, int by, int min, int segment) {
      return lane - by;
    }

    @Override
    boolean inRange(int from, int min, int max) {
      return from >= max;
    }
  }

  private static final class ShuffleDown extends Shuffle {
    @Override
    int from(int lane, int by, int min, int segment) {
      return lane + by;
    }
  }

  private static final class ShuffleButterfly extends Shuffle {
    @Override
    int from(int lane, int by, int min, int segment) {
      return lane ^ by;
    }
  }

  public static final class ShuffleIndexed extends Shuffle {
    /** True when {@link #c} says that any lane may be asked. */
    private final boolean whole;

    public ShuffleIndexed(boolean whole) {
      this.whole = whole;
    }

    /** True when all lanes ask the same one. */
    public boolean isBroadcast(IntPredicate uniform) {
      return whole && uniform.test(b);
    }

    @Override
    public boolean writesUniform(int slot, IntPredicate uniform) {
      return isBroadcast(uniform) || super.writesUniform(slot, uniform);
    }

    @Override
    int from(int lane, int by, int min, int segment) {
      return min | (by & ~segment);
    }
  }

  public static final class Vote extends WarpOp {
    public final String mode;
    public int d;
    public int a;
    public boolean negated;

    private static final List<String> MODES = List.of("all", "any", "uni", "ballot");

    public Vote(String mode) {
      this.mode = mode;
    }

    @Override
    public boolean writesUniform(int slot, IntPredicate uniform) {
      return true;
    }

    @Override
    public void offer(VmThread t, long[] r) {
      t.offered = (r[a] != 0) == negated ? 0 : 1;
    }

    @Override
    public void complete(VmThread[] lanes, int members) {
      int ballot = 0;
      for (int i = 0; i < lanes.length; i++) {
        if ((members >>> i & 1) != 0 && lanes[i].offered != 0) {
          ballot |= 1 << i;
        }
      }
      long result =
          switch (mode) {
            case "all" -> ballot == members ? 1 : 0;
            case "any" -> ballot != 0 ? 1 : 0;
            case "uni" -> ballot == members || ballot == 0 ? 1 : 0;
            default -> ballot & 0xffffffffL;
          };
      give(lanes, members, result);
    }

    @Override
    public void take(VmThread t, long[] r) {
      r[d] = t.result;
    }
  }

  public static final class Match extends ValueOp {
    private final boolean all;

    public Match(boolean all) {
      this.all = all;
    }

    @Override
    public boolean writesUniform(int slot, IntPredicate uniform) {
      return all || uniform.test(a);
    }

    @Override
    public void complete(VmThread[] lanes, int members) {
      // Once for each value: most often all lanes have the same.
      for (int left = members; left != 0; ) {
        long value = lanes[Integer.numberOfTrailingZeros(left)].offered;
        int same = 0;
        for (int rest = left; rest != 0; rest &= rest - 1) {
          int i = Integer.numberOfTrailingZeros(rest);
          if (lanes[i].offered == value) {
            same |= 1 << i;
          }
        }
        boolean everyone = same == members;
        long result = (all && !everyone ? 0 : same) & 0xffffffffL;
        for (int rest = same; rest != 0; rest &= rest - 1) {
          VmThread lane = lanes[Integer.numberOfTrailingZeros(rest)];
          lane.result = result;
          lane.resultFlag = everyone;
        }
        left &= ~same;
      }
    }
  }

  private static final class Reduce extends ValueOp {
    private final String operation;
    private final boolean signed;

    private static final List<String> MODES = List.of("add", "min", "max", "and", "or", "xor");

    Reduce(String operation, boolean signed) {
      this.operation = operation;
      this.signed = signed;
    }

    @Override
    public void complete(VmThread[] lanes, int members) {
      boolean first = true;
      int sum = 0;
      for (int i = 0; i < lanes.length; i++) {
        if ((members >>> i & 1) != 0) {
          int value = (int) lanes[i].offered;
          sum = first ? value : combine(sum, value);
          first = false;
        }
      }
      give(lanes, members, sum & 0xffffffffL);
    }

    @Override
    public boolean writesUniform(int slot, IntPredicate uniform) {
      return slot == d;
    }

    private int combine(int x, int y) {
      int order = signed ? Integer.compare(x, y) : Integer.compareUnsigned(x, y);
      return switch (operation) {
        case "add" -> x + y;
        case "min" -> order <= 0 ? x : y;
        case "max" -> order >= 0 ? x : y;
        case "and" -> x & y;
        case "or" -> x | y;
        default -> x ^ y;
      };
    }
  }

  private static final class Elect extends ValueOp {
    @Override
    public boolean writesUniform(int slot, IntPredicate uniform) {
      return slot == d;
    }

    @Override
    public void offer(VmThread t, long[] r) {
      t.offered = 0;
    }

    @Override
    public void complete(VmThread[] lanes, int members) {
      int leader = Integer.numberOfTrailingZeros(members);
      for (int rest = members; rest != 0; rest &= rest - 1) {
        int i = Integer.numberOfTrailingZeros(rest);
        lanes[i].result = leader;
        lanes[i].resultFlag = i == leader;
      }
    }
  }

  /** An operation at which the lanes of a mask converge. */
  @SuppressWarnings("ReferenceEquality") // operations are compared by identity
  public abstract static class WarpOp extends ConvergenceOp {
    /** Slot of the member mask. */
    int mask;

    @Override
    public final @Nullable Op execute(VmThread t, long[] r) {
      if (!t.released) {
        if (t.until == this) {
          return t.arrive(this);
        }
        if (!ready(t)) {
          return t.park(this);
        }
        t.mask = (int) r[mask];
        offer(t, r);
        t.polling.acted();
        Op together = t.warp.arrive(t, this);
        if (together != null) {
          return together;
        }
        if (!t.released) {
          return t.await(this);
        }
      }
      t.released = false;
      take(t, r);
      return next;
    }

    @Override
    public final int maskSlot() {
      return mask;
    }

    @Override
    public final void completeApart(VmThread[] lanes, int members) {
      complete(lanes, members);
      for (int left = members; left != 0; left &= left - 1) {
        lanes[Integer.numberOfTrailingZeros(left)].release();
      }
    }

    @Override
    public boolean writesUniform(int slot, IntPredicate uniform) {
      return false;
    }

    /** False while what must come before is still under way at the port. */
    boolean ready(VmThread t) {
      return true;
    }

    /** Puts what the lane brings into {@link VmThread#offered}. */
    public abstract void offer(VmThread t, long[] r);

    /** Computes {@link VmThread#result} for all {@code members}. */
    public abstract void complete(VmThread[] lanes, int members);

    public abstract void take(VmThread t, long[] r);
  }
}
