package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Fault;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code cp.async.bulk} and {@code cp.reduce.async.bulk} between global and shared memory, in units
 * of 16 bytes. Done when it is issued, as {@link AsyncCopy}; its mbarrier is signalled at once.
 */
final class BulkCopy extends Op {
  private static final int UNIT = 16;
  private static final int GLOBAL_REDUCTION = Access.RELAXED | Access.GPU | Access.REDUCTION;

  private final AsyncCopy.Ends ends;
  private final boolean toShared;
  private final boolean fromShared;
  private final int size;
  private final int barrier;
  private final long barrierOffset;
  private final @Nullable Rmw reduction;
  private final int elementBytes;

  private BulkCopy(
      AsyncCopy.Ends ends,
      boolean toShared,
      boolean fromShared,
      int size,
      int barrier,
      long barrierOffset,
      @Nullable Rmw reduction,
      int elementBytes) {
    this.ends = ends;
    this.toShared = toShared;
    this.fromShared = fromShared;
    this.size = size;
    this.barrier = barrier;
    this.barrierOffset = barrierOffset;
    this.reduction = reduction;
    this.elementBytes = elementBytes;
  }

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    List<String> modifiers = i.modifiers();
    for (String modifier : List.of("multicast::cluster", "cp_mask", "ignore_oob")) {
      if (modifiers.contains(modifier)) {
        throw new Unsupported("modifier ." + modifier + " is not supported");
      }
    }
    List<String> spaces =
        modifiers.stream().filter(word -> word.equals("global") || isShared(word)).toList();
    if (spaces.size() != 2) {
      throw new Unsupported("two state spaces are needed");
    }
    boolean toShared = isShared(spaces.getFirst());
    boolean fromShared = isShared(spaces.getLast());
    boolean announces = modifiers.contains("mbarrier::complete_tx::bytes");
    if (announces != toShared) {
      throw new Unsupported(
          "copies to shared memory complete at an mbarrier, others in a bulk group");
    }
    Rmw reduction = null;
    int elementBytes = UNIT;
    if (modifiers.contains("reduce")) {
      ScalarType type = Atomic.typed(i);
      if (toShared) {
        throw new Unsupported("reductions into shared memory are not supported");
      }
      reduction = reduction(modifiers, type);
      elementBytes = type.bytes();
    }
    Operand announced = announces ? i.operands().get(3) : null;
    return new BulkCopy(
        AsyncCopy.Ends.of(i, a),
        toShared,
        fromShared,
        a.source(i.operands().get(2), ScalarType.U32),
        announced == null ? -1 : AsyncCopy.Ends.base(announced, a),
        announced == null ? 0 : AsyncCopy.Ends.offset(announced, a),
        reduction,
        elementBytes);
  }

  private static Rmw reduction(List<String> modifiers, ScalarType type) throws Unsupported {
    for (String modifier : modifiers) {
      switch (modifier) {
        case "add", "min", "max", "and", "or", "xor", "inc", "dec" -> {
          return Atomic.operation(modifier, type);
        }
        default -> {}
      }
    }
    throw new Unsupported("unknown operation");
  }

  private static boolean isShared(String modifier) {
    return modifier.startsWith("shared");
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    long count = r[size] & 0xffffffffL;
    long to = end(t, toShared, r[ends.to()] + ends.toOffset(), count);
    long from = end(t, fromShared, r[ends.from()] + ends.fromOffset(), count);
    if (count % UNIT != 0) {
      throw new Fault("bulk copy of %d bytes; multiples of 16 are possible".formatted(count));
    }
    t.account();
    while (t.progress < count) {
      if (!unit(t, to + t.progress, from + t.progress)) {
        return t.park(this);
      }
    }
    t.progress = 0;
    t.polling.acted();
    if (barrier >= 0) {
      long at = r[barrier] + barrierOffset;
      if (at < 0 || at > t.sharedSize - Long.BYTES || (at & 7) != 0) {
        throw new Fault("mbarrier at shared offset 0x%x".formatted(at));
      }
      MBarrier.expectBytes(t.sharedBase + at, -count);
    }
    return next;
  }

  private static long end(VmThread t, boolean shared, long at, long count) {
    t.checkAligned("bulk copy", at, UNIT);
    if (!shared) {
      return at;
    }
    if (at < 0 || at > t.sharedSize - count) {
      throw new Fault(
          "bulk copy of %d bytes at shared offset 0x%x: the shared memory here has %d bytes"
              .formatted(count, at, t.sharedSize));
    }
    return t.sharedBase + at;
  }

  /** Moves 16 bytes, or reduces one element; false when the port parked. */
  private boolean unit(VmThread t, long to, long from) {
    ThreadPort port = t.port;
    Rmw operation = reduction;
    if (operation != null) {
      port.atomic(
          operation, to, elementBytes, MemoryOp.rawLoad(from, elementBytes), 0, GLOBAL_REDUCTION);
      if (port.parked) {
        return false;
      }
      t.progress += elementBytes;
      return true;
    }
    long low = fromShared ? RawMemory.getLong(from) : port.load128(from, Access.WEAK);
    if (!fromShared && port.parked) {
      return false;
    }
    long high = fromShared ? RawMemory.getLong(from + Long.BYTES) : port.high;
    if (toShared) {
      RawMemory.putLong(to, low);
      RawMemory.putLong(to + Long.BYTES, high);
    } else {
      port.store128(to, low, high, Access.WEAK);
      if (port.parked) {
        return false;
      }
    }
    t.progress += UNIT;
    return true;
  }
}
