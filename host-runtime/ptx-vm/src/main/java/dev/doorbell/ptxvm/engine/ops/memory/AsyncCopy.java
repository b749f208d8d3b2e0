package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.machine.Fault;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Stop;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import org.jspecify.annotations.Nullable;

/**
 * {@code cp.async}: 4, 8 or 16 bytes from global to shared memory. The copy is done when it is
 * issued, which is as early as PTX allows; groups and waits then have nothing to do.
 */
public final class AsyncCopy extends MemoryOp {
  private final int to;
  private final long toOffset;

  /** Slot of how many bytes to read, the rest being zero; or of the predicate to read none. */
  private final int limit;

  private final boolean ignores;

  private AsyncCopy(int to, long toOffset, int limit, boolean ignores) {
    this.to = to;
    this.toOffset = toOffset;
    this.limit = limit;
    this.ignores = ignores;
  }

  /** {@code cp.async.*}, {@code cp.async.bulk.*}, {@code cp.reduce.async.bulk.*}. */
  public static Op make(Instruction i, Assembler a) throws Unsupported {
    if (i.has("tensor")) {
      return new Stop("tensor copies are not supported");
    }
    if (i.has("commit_group") || i.has("wait_group") || i.has("wait_all") || i.has("prefetch")) {
      return new Nothing();
    }
    if (i.has("mbarrier")) {
      return MBarrierOp.make(i, a);
    }
    if (i.has("bulk")) {
      return BulkCopy.make(i, a);
    }
    for (String modifier : i.modifiers()) {
      switch (modifier) {
        case "async", "ca", "cg", "shared", "shared::cta", "global" -> {}
        default -> {
          if (!modifier.startsWith("L2::")) {
            throw new Unsupported("modifier ." + modifier + " is not supported");
          }
        }
      }
    }
    int operands = i.operands().size() - (i.has("L2::cache_hint") ? 1 : 0);
    if (!(i.operands().get(2) instanceof Operand.Int(long size))
        || (size != 4 && size != 8 && size != 16)) {
      throw new Unsupported("4, 8 or 16 bytes are copied");
    }
    int limit = a.kernel().constant(size);
    boolean ignores = false;
    if (operands > 3) {
      Operand fourth = i.operands().get(3);
      ignores =
          fourth instanceof Operand.Reg(Register register) && register.type() == ScalarType.PRED;
      limit = a.source(fourth, ScalarType.U32);
    }
    Ends ends = Ends.of(i, a);
    AsyncCopy copy = new AsyncCopy(ends.to(), ends.toOffset(), limit, ignores);
    copy.space = Space.SHARED;
    copy.base = ends.from();
    copy.offset = ends.fromOffset();
    copy.bytes = (int) size;
    return copy;
  }

  /** Slots and offsets of both addresses. */
  public record Ends(int to, long toOffset, int from, long fromOffset) {
    static Ends of(Instruction i, Assembler a) throws Unsupported {
      return new Ends(
          base(i.operands().getFirst(), a),
          offset(i.operands().getFirst(), a),
          base(i.operands().get(1), a),
          offset(i.operands().get(1), a));
    }

    static int base(Operand operand, Assembler a) throws Unsupported {
      if (!(operand instanceof Operand.Address(var to, long by))) {
        throw new Unsupported("an address in brackets is needed");
      }
      return a.base(to);
    }

    static long offset(Operand operand, Assembler a) throws Unsupported {
      if (!(operand instanceof Operand.Address(var to, long by))) {
        throw new Unsupported("an address in brackets is needed");
      }
      return by + a.offset(to);
    }
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    long target = window(t, "asynchronous copy", r[to] + toOffset);
    long read = ignores ? (r[limit] != 0 ? 0 : bytes) : r[limit] & 0xffffffffL;
    if (read > bytes) {
      throw new Fault("cp.async reads %d bytes to write %d".formatted(read, bytes));
    }
    long low = 0;
    long high = 0;
    if (read > 0) {
      long address = r[base] + offset;
      t.checkAligned("asynchronous copy", address, bytes);
      t.account();
      ThreadPort port = t.port;
      low =
          switch (bytes) {
            case 4 -> port.load32(address, Access.WEAK);
            case 8 -> port.load64(address, Access.WEAK);
            default -> port.load128(address, Access.WEAK);
          };
      if (port.parked) {
        return t.park(this);
      }
      high = bytes == 16 ? port.high : 0;
    }
    rawStore(target, Math.min(bytes, 8), low & keep(read));
    if (bytes == 16) {
      rawStore(target + 8, 8, high & keep(read - 8));
    }
    t.polling.acted();
    return next;
  }

  /** A mask of that many bytes. */
  private static long keep(long count) {
    return count <= 0 ? 0 : count >= 8 ? -1L : (1L << (count * 8)) - 1;
  }

  /** Groups of copies that are done already. */
  private static final class Nothing extends Op {
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      return next;
    }
  }
}
