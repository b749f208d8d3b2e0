package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.UnaryOp;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code mbarrier.*} in the shared memory of the block, and {@code cp.async.mbarrier.arrive}. */
public final class MBarrierOp extends MemoryOp {
  private enum Action {
    INIT,
    INVAL,
    ARRIVE,
    ARRIVE_DROP,
    ARRIVE_EXPECT,
    EXPECT,
    COMPLETE,
    TEST,
    TEST_PARITY,
    /**
     * {@code cp.async.mbarrier.arrive}, which counts itself: copies are done when they are issued.
     */
    NONE
  }

  private static final List<String> KNOWN =
      List.of(
          "init",
          "inval",
          "arrive",
          "arrive_drop",
          "expect_tx",
          "complete_tx",
          "test_wait",
          "try_wait",
          "parity",
          "noComplete",
          "release",
          "acquire",
          "relaxed",
          "cta",
          "cluster",
          "shared",
          "shared::cta",
          "shared::cluster",
          "b64",
          "async",
          "mbarrier",
          "noinc");

  private final Action action;

  /** It is the thread's asynchronous copies that arrive, when they are done. */
  private final boolean copies;

  /** Slots of the result and of the operand; -1 for none. */
  private final int d;

  private final int operand;

  private MBarrierOp(Action action, boolean copies, int d, int operand) {
    this.action = action;
    this.copies = copies;
    this.d = d;
    this.operand = operand;
  }

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    if (i.has("pending_count")) {
      return UnaryOp.of(
          "mbarrier.pending_count",
          MBarrier::pending,
          a.result(i.operands().getFirst()),
          a.source(i.operands().get(1), ScalarType.B64));
    }
    for (String modifier : i.modifiers()) {
      if (!KNOWN.contains(modifier)) {
        throw new Unsupported("modifier ." + modifier + " is not supported");
      }
    }
    Action action = action(i);
    List<Operand> operands = i.operands();
    boolean hasResult = !(operands.getFirst() instanceof Operand.Address);
    int at = hasResult ? 1 : 0;
    int d = hasResult ? a.result(operands.getFirst()) : a.kernel().trash();
    ScalarType type = action == Action.TEST ? ScalarType.B64 : ScalarType.U32;
    int operand = operands.size() > at + 1 ? a.source(operands.get(at + 1), type) : -1;
    boolean needsOperand =
        switch (action) {
          case INIT, ARRIVE_EXPECT, EXPECT, COMPLETE, TEST, TEST_PARITY -> true;
          default -> false;
        };
    if (needsOperand && operand < 0) {
      throw Unsupported.malformed("operands or modifiers are missing");
    }
    MBarrierOp op = new MBarrierOp(action, i.name().equals("cp"), d, operand);
    op.locate(i, operands.get(at), a);
    if (op.space != Space.SHARED && op.space != Space.GENERIC) {
      throw new Unsupported("an mbarrier lies in shared memory");
    }
    op.bytes = Long.BYTES;
    return op;
  }

  private static Action action(Instruction i) throws Unsupported {
    if (i.name().equals("cp")) {
      return i.has("noinc") ? Action.ARRIVE : Action.NONE;
    }
    return switch (i.modifiers().getFirst()) {
      case "init" -> Action.INIT;
      case "inval" -> Action.INVAL;
      case "arrive" -> i.has("expect_tx") ? Action.ARRIVE_EXPECT : Action.ARRIVE;
      case "arrive_drop" -> {
        if (i.has("expect_tx")) {
          throw new Unsupported("arrive_drop.expect_tx is not supported");
        }
        yield Action.ARRIVE_DROP;
      }
      case "expect_tx" -> Action.EXPECT;
      case "complete_tx" -> Action.COMPLETE;
      case "test_wait", "try_wait" -> i.has("parity") ? Action.TEST_PARITY : Action.TEST;
      default -> throw Unsupported.malformed("unknown operation");
    };
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    // What came before is performed for the block, what comes after is not before.
    t.account();
    t.port.fence(Access.ACQ_REL | Access.CTA);
    if (t.port.parked) {
      return t.park(this);
    }
    long at = r[base] + offset;
    if (space == Space.SHARED) {
      at = window(t, "mbarrier operation", at);
    } else {
      if (Long.compareUnsigned(at - t.sharedBase, t.sharedSize) >= 0) {
        throw new Fault("an mbarrier lies in shared memory; 0x%x does not".formatted(at));
      }
      t.checkScratch("mbarrier operation", at, bytes);
    }
    if (action == Action.TEST || action == Action.TEST_PARITY) {
      test(t, r, at);
      return next;
    }
    t.polling.acted();
    if (copies) {
      t.port.copying(ThreadPort.Copies.EARLIER);
    }
    long where = at;
    handOn(t, where, () -> change(r, where));
    t.port.copied();
    return next;
  }

  /**
   * Has the port make the change, so that threads which wait for the barrier see it and what came
   * before.
   */
  static void handOn(VmThread t, long at, Runnable change) {
    long before = RawMemory.getLong(at);
    change.run();
    if (!t.port.judgesProgress()) {
      return;
    }
    long after = RawMemory.getLong(at);
    RawMemory.putLong(at, before);
    t.port.atomic(Rmw.EXCHANGE, at, Long.BYTES, after, 0, Access.ACQ_REL | Access.CTA);
  }

  private void change(long[] r, long at) {
    switch (action) {
      case INIT -> MBarrier.initialise(at, r[operand] & 0xffffffffL);
      case INVAL -> MBarrier.invalidate(at);
      case ARRIVE -> r[d] = MBarrier.arrive(at, count(r), false);
      case ARRIVE_DROP -> r[d] = MBarrier.arrive(at, count(r), true);
      case ARRIVE_EXPECT -> {
        MBarrier.expectBytes(at, r[operand] & 0xffffffffL);
        r[d] = MBarrier.arrive(at, 1, false);
      }
      case EXPECT -> MBarrier.expectBytes(at, r[operand] & 0xffffffffL);
      case COMPLETE -> MBarrier.expectBytes(at, -(r[operand] & 0xffffffffL));
      default -> MBarrier.word(at);
    }
  }

  private long count(long[] r) {
    return operand < 0 ? 1 : r[operand] & 0xffffffffL;
  }

  /** Returns true if the phase of a state, or of a parity, is over. */
  private void test(VmThread t, long[] r, long at) {
    boolean judged = t.port.judgesProgress();
    long word = MBarrier.word(at);
    if (judged) {
      word = t.port.load64(at, Access.ACQUIRE | Access.CTA);
    }
    long asked = action == Action.TEST ? MBarrier.parity(r[operand]) : r[operand] & 1;
    boolean over = MBarrier.parity(word) != asked;
    t.polling.loaded(at, word);
    if (!over && judged) {
      t.polling.loadedStrongly(at, bytes, word);
    } else if (!over) {
      t.polling.watch(at, bytes, word);
    }
    r[d] = over ? 1 : 0;
  }

  /**
   * The 8 bytes of an mbarrier in shared memory. PTX leaves their meaning open; here:
   *
   * <pre>
   *  63      62..61   60..40             39..20             19..0
   *  phase   0        bytes to come      arrivals to come   arrivals of a phase
   * </pre>
   *
   * <p>Bytes to come are signed: a copy may complete before it is announced. All threads of a block
   * run on one host thread, so a change is a load and a store.
   */
  static final class MBarrier {
    /**
     * Arrivals of a phase at most, and bytes to come (PTX ISA, "Size and alignment of mbarrier").
     */
    static final long MOST = (1L << 20) - 1;

    private static final int PENDING = 20;
    private static final int BYTES = 40;
    private static final int BYTES_BITS = 21;
    private static final long BYTES_MASK = ((1L << BYTES_BITS) - 1) << BYTES;

    private MBarrier() {}

    static void initialise(long at, long count) {
      if (count < 1 || count > MOST) {
        throw new Fault("mbarrier for %d arrivals; 1 to %d are possible".formatted(count, MOST));
      }
      RawMemory.putLong(at, count << PENDING | count);
    }

    static void invalidate(long at) {
      word(at);
      RawMemory.putLong(at, 0);
    }

    /** The word, of a barrier that was initialised. */
    static long word(long at) {
      long word = RawMemory.getLong(at);
      if ((word & MOST) == 0) {
        throw new Fault("the mbarrier here was not initialised");
      }
      return word;
    }

    /** Returns the number of arrivals that the phase in {@code word} still waits for. */
    static long pending(long word) {
      return word >>> PENDING & MOST;
    }

    /** 0 or 1. */
    static long parity(long word) {
      return word >>> 63;
    }

    /**
     * {@code count} arrivals; the phase ends with the last one when no bytes are to come.
     *
     * @param drops the barrier expects them no more from the next phase on
     * @return the word before
     */
    static long arrive(long at, long count, boolean drops) {
      long word = word(at);
      long pending = pending(word);
      if (count < 1 || count > pending) {
        throw new Fault(
            "%d arrivals at an mbarrier whose phase waits for %d".formatted(count, pending));
      }
      long expected = (word & MOST) - (drops ? count : 0);
      put(at, word, expected, pending - count, bytes(word));
      return word;
    }

    /** {@code count} bytes came that the mbarrier at an offset in shared memory waits for. */
    static void complete(VmThread t, long at, long count) {
      if (at < 0 || at > t.sharedSize - Long.BYTES || (at & 7) != 0) {
        throw new Fault("mbarrier at shared offset 0x%x".formatted(at));
      }
      handOn(t, t.sharedBase + at, () -> expectBytes(t.sharedBase + at, -count));
    }

    /** {@code count} more bytes are to come in this phase; negative when some came. */
    static void expectBytes(long at, long count) {
      long word = word(at);
      long bytes = bytes(word) + count;
      if (Math.abs(bytes) > MOST) {
        throw new Fault("%d bytes to come at an mbarrier; at most %d".formatted(bytes, MOST));
      }
      put(at, word, word & MOST, pending(word), bytes);
    }

    private static long bytes(long word) {
      int unused = Long.SIZE - BYTES - BYTES_BITS;
      return word << unused >> (unused + BYTES);
    }

    private static void put(long at, long word, long expected, long pending, long bytes) {
      long phase = word & Long.MIN_VALUE;
      if (pending == 0 && bytes == 0) {
        RawMemory.putLong(at, (phase ^ Long.MIN_VALUE) | expected << PENDING | expected);
      } else {
        RawMemory.putLong(
            at, phase | (bytes << BYTES & BYTES_MASK) | pending << PENDING | expected);
      }
    }
  }
}
