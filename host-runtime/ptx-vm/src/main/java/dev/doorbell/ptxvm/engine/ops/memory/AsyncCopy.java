package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Op.Stop;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import dev.doorbell.ptxvm.engine.ops.memory.MBarrierOp.MBarrier;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code cp.async}: 4, 8 or 16 bytes from global to shared memory. The copy is done when it is
 * issued, which is as early as PTX allows; the port is told of copies and waits, since a later copy
 * is allowed, too.
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
    if (i.has("prefetch")) {
      return Op.of((t, r) -> {});
    }
    boolean bulk = i.has("bulk");
    if (i.has("commit_group")) {
      return Op.of((t, r) -> t.port.commitCopies(bulk));
    }
    if (i.has("wait_group") || i.has("wait_all")) {
      return wait(i, bulk);
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
      throw Unsupported.malformed("4, 8 or 16 bytes are copied");
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

  private static Op wait(Instruction i, boolean bulk) throws Unsupported {
    int left = -1;
    if (!i.has("wait_all")) {
      if (!(i.operands().getFirst() instanceof Operand.Int(long count)) || count < 0) {
        throw new Unsupported("a number of groups is needed");
      }
      left = (int) Math.min(count, Integer.MAX_VALUE);
    }
    int most = left;
    boolean reads = i.has("read");
    return Op.of((t, r) -> t.port.awaitCopies(bulk, most, reads));
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
        throw Unsupported.malformed("an address in brackets is needed");
      }
      return a.base(to);
    }

    static long offset(Operand operand, Assembler a) throws Unsupported {
      if (!(operand instanceof Operand.Address(var to, long by))) {
        throw Unsupported.malformed("an address in brackets is needed");
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
    t.port.copying(ThreadPort.Copies.ASYNC);
    if (read > 0) {
      long address = r[base] + offset;
      t.checkAligned("asynchronous copy", address, bytes);
      t.account();
      ThreadPort port = t.port;
      low = load(port, address, bytes, Access.WEAK);
      if (port.parked) {
        return t.park(this);
      }
      high = bytes == 16 ? port.high : 0;
    }
    store(t, target, Math.min(bytes, 8), low & keep(read));
    if (bytes == 16) {
      store(t, target + 8, 8, high & keep(read - 8));
    }
    t.port.copied();
    t.polling.acted();
    return next;
  }

  /** Stores to shared memory. */
  private static void store(VmThread t, long address, int bytes, long value) {
    if (!t.portedShared) {
      RawMemory.put(address, bytes, value);
    } else {
      store(t.port, address, bytes, value, 0, Access.WEAK);
    }
  }

  /** Loads 2, 4 or 8 bytes from shared memory. */
  private static long load(VmThread t, long address, int bytes) {
    return t.portedShared
        ? load(t.port, address, bytes, Access.WEAK)
        : RawMemory.get(address, bytes);
  }

  /** A mask of that many bytes. */
  private static long keep(long count) {
    return count <= 0 ? 0 : count >= 8 ? -1L : (1L << (count * 8)) - 1;
  }

  /**
   * {@code cp.async.bulk} and {@code cp.reduce.async.bulk} between global and shared memory, in
   * units of 16 bytes. Done when it is issued, as {@link AsyncCopy}; its mbarrier is signalled at
   * once.
   */
  static final class BulkCopy extends Op {
    private static final int UNIT = 16;
    private static final Set<String> REDUCTIONS =
        Set.of("add", "min", "max", "and", "or", "xor", "inc", "dec");
    private static final int GLOBAL_REDUCTION = Access.RELAXED | Access.GPU | Access.REDUCTION;

    /** The operands of an instruction; the slot of the mbarrier is -1 where it has none. */
    private record Form(
        AsyncCopy.Ends ends,
        boolean toShared,
        boolean fromShared,
        int size,
        int barrier,
        long barrierOffset,
        @Nullable Rmw reduction,
        int elementBytes) {}

    private final Form form;

    private BulkCopy(Form form) {
      this.form = form;
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
        throw Unsupported.malformed("two state spaces are needed");
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
          new Form(
              AsyncCopy.Ends.of(i, a),
              toShared,
              fromShared,
              a.source(i.operands().get(2), ScalarType.U32),
              announced == null ? -1 : AsyncCopy.Ends.base(announced, a),
              announced == null ? 0 : AsyncCopy.Ends.offset(announced, a),
              reduction,
              elementBytes));
    }

    private static Rmw reduction(List<String> modifiers, ScalarType type) throws Unsupported {
      String operation =
          modifiers.stream()
              .filter(REDUCTIONS::contains)
              .findFirst()
              .orElseThrow(() -> Unsupported.malformed("unknown operation"));
      return Atomic.operation(operation, type);
    }

    private static boolean isShared(String modifier) {
      return modifier.startsWith("shared");
    }

    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      long count = r[form.size] & 0xffffffffL;
      long to = end(t, form.toShared, r[form.ends.to()] + form.ends.toOffset(), count);
      long from = end(t, form.fromShared, r[form.ends.from()] + form.ends.fromOffset(), count);
      if (count % UNIT != 0) {
        throw new Fault("bulk copy of %d bytes; multiples of 16 are possible".formatted(count));
      }
      t.account();
      t.port.copying(form.fromShared ? ThreadPort.Copies.BULK_FROM_SHARED : ThreadPort.Copies.BULK);
      while (t.progress < count) {
        if (!unit(t, to + t.progress, from + t.progress)) {
          return t.park(this);
        }
      }
      t.progress = 0;
      t.polling.acted();
      if (form.barrier >= 0) {
        MBarrier.complete(t, r[form.barrier] + form.barrierOffset, count);
      }
      t.port.copied();
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
      Rmw operation = form.reduction;
      int elementBytes = form.elementBytes;
      if (operation != null) {
        port.atomic(operation, to, elementBytes, load(t, from, elementBytes), 0, GLOBAL_REDUCTION);
        if (port.parked) {
          return false;
        }
        t.progress += elementBytes;
        return true;
      }
      long low = form.fromShared ? load(t, from, Long.BYTES) : port.load128(from, Access.WEAK);
      if (!form.fromShared && port.parked) {
        return false;
      }
      long high = form.fromShared ? load(t, from + Long.BYTES, Long.BYTES) : port.high;
      if (form.toShared) {
        store(t, to, Long.BYTES, low);
        store(t, to + Long.BYTES, Long.BYTES, high);
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
}
