package dev.doorbell.ptxjit.emit;

import static java.lang.constant.ConstantDescs.CD_byte;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_short;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.decode.Space;
import dev.doorbell.ptxvm.engine.ops.memory.Load;
import dev.doorbell.ptxvm.engine.ops.memory.MemoryOp;
import dev.doorbell.ptxvm.engine.ops.memory.Store;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Bytecode for loads and stores: the address space's own look-up in place, then one access with the
 * memory order that the direct fabric gives it. What the look-up refuses goes to {@link
 * InterpreterFallback}.
 */
final class MemoryEmitter {
  private static final ClassDesc SEGMENT = MemorySegment.class.describeConstable().orElseThrow();
  private static final ClassDesc HANDLE = VarHandle.class.describeConstable().orElseThrow();
  private static final ClassDesc PORT = ThreadPort.class.describeConstable().orElseThrow();
  private static final ClassDesc LONG = Long.class.describeConstable().orElseThrow();
  private static final ClassDesc THREAD = MethodEmitter.THREAD;
  private static final ClassDesc SLOW = MethodEmitter.SLOW;
  private static final ClassDesc OP = MethodEmitter.OP;
  private static final int T = MethodEmitter.THREAD_LOCAL;

  /** The address, or the offset in a window. */
  private static final int AT = MethodEmitter.temporary(0);

  /** The native address. */
  private static final int WHERE = MethodEmitter.temporary(1);

  private static final int LOW = MethodEmitter.temporary(2);
  private static final int HIGH = MethodEmitter.temporary(3);

  /** From the beginning of the address space. */
  private static final int OFFSET = MethodEmitter.temporary(4);

  private final MethodEmitter writer;
  private final AddressSpace.PageTable pages;

  MemoryEmitter(MethodEmitter writer, AddressSpace.PageTable pages) {
    this.writer = writer;
    this.pages = pages;
  }

  /** Keeps the low bits of the long on the stack. */
  static CodeBuilder keepLow(CodeBuilder c, int bits) {
    return bits >= 64 ? c : c.loadConstant((1L << bits) - 1).land();
  }

  void load(Load op) {
    CodeBuilder c = writer.code();
    Label slow = c.newLabel();
    Label done = c.newLabel();
    locate(op, slow);
    get(op.access, op.bytes, 0);
    c.labelBinding(done);
    if (op.extend != 0) {
      c.loadConstant(op.extend).lshl().loadConstant(op.extend).lshr();
    }
    if (op.mask != -1L && (op.extend != 0 || Long.bitCount(op.mask) < op.bytes * 8)) {
      c.loadConstant(op.mask).land();
    }
    writer.store(op.d);
    writer.later(
        () -> {
          loadSlowly(op, slow);
          c.goto_(done);
        });
  }

  void load(Load.VectorLoad op) {
    CodeBuilder c = writer.code();
    Label slow = c.newLabel();
    Label done = c.newLabel();
    boolean both = op.bytes == 16;
    locate(op, slow);
    get(op.access, Math.min(op.bytes, 8), 0);
    c.lstore(LOW);
    if (both) {
      get(op.access, 8, 8);
      c.lstore(HIGH);
    }
    c.labelBinding(done);
    for (int e = 0; e < op.results.length; e++) {
      int bit = e * op.elementBits;
      c.lload(bit < 64 ? LOW : HIGH);
      int drop = 64 - op.elementBits;
      if (op.extend != 0) {
        c.loadConstant(drop - bit % 64).lshl().loadConstant(drop).lshr();
      } else if (bit % 64 + op.elementBits == 64) {
        c.loadConstant(bit % 64).lushr();
      } else {
        c.loadConstant(bit % 64).lushr();
        keepLow(c, op.elementBits);
      }
      if (op.masks[e] != -1L && (op.extend != 0 || Long.bitCount(op.masks[e]) < op.elementBits)) {
        c.loadConstant(op.masks[e]).land();
      }
      writer.store(op.results[e]);
    }
    writer.later(
        () -> {
          loadSlowly(op, slow);
          c.lstore(LOW);
          if (both) {
            c.aload(T).getfield(THREAD, "port", PORT).getfield(PORT, "high", CD_long);
            c.lstore(HIGH);
          }
          c.goto_(done);
        });
  }

  void store(Store op) {
    CodeBuilder c = writer.code();
    Label slow = c.newLabel();
    Label done = c.newLabel();
    locate(op, slow);
    writer.constant(handle(op.access, op.bytes, true), HANDLE);
    segment();
    c.lload(WHERE);
    writer.load(op.value);
    set(op.access, op.bytes);
    c.labelBinding(done);
    writer.later(
        () -> {
          c.labelBinding(slow);
          c.lload(AT);
          writer.load(op.value);
          c.lconst_0();
          storeSlowly(op);
          c.goto_(done);
        });
  }

  void store(Store.VectorStore op) {
    CodeBuilder c = writer.code();
    Label slow = c.newLabel();
    Label done = c.newLabel();
    boolean both = op.bytes == 16;
    gather(op, 0);
    c.lstore(LOW);
    if (both) {
      gather(op, op.from.length / 2);
      c.lstore(HIGH);
    }
    locate(op, slow);
    int access = wideAccess(op.access, both);
    writer.constant(handle(access, Math.min(op.bytes, 8), true), HANDLE);
    segment();
    c.lload(WHERE).lload(LOW);
    set(access, Math.min(op.bytes, 8));
    if (both) {
      writer.constant(handle(access, 8, true), HANDLE);
      segment();
      c.lload(WHERE).loadConstant(8L).ladd().lload(HIGH);
      set(access, 8);
    }
    c.labelBinding(done);
    writer.later(
        () -> {
          c.labelBinding(slow);
          c.lload(AT).lload(LOW);
          if (both) {
            c.lload(HIGH);
          } else {
            c.lconst_0();
          }
          storeSlowly(op);
          c.goto_(done);
        });
  }

  private void loadSlowly(MemoryOp op, Label slow) {
    CodeBuilder c = writer.code();
    c.labelBinding(slow);
    writer.constant(op);
    c.aload(T).lload(AT);
    c.invokestatic(SLOW, "load", MethodTypeDesc.of(CD_long, OP, THREAD, CD_long));
  }

  /** The address and both halves of the value are on the stack. */
  private void storeSlowly(MemoryOp op) {
    writer.constant(op);
    MethodTypeDesc type = MethodTypeDesc.of(CD_void, CD_long, CD_long, CD_long, OP, THREAD);
    writer.code().aload(T).invokestatic(SLOW, "store", type);
  }

  /** Adapts the access as the direct fabric's port does: two strong halves are released. */
  private static int wideAccess(int access, boolean both) {
    boolean strong = Access.semantics(access) != Access.WEAK;
    return both && strong ? Access.RELEASE : access;
  }

  private void gather(Store.VectorStore op, int first) {
    CodeBuilder c = writer.code();
    int count = Math.min(op.from.length - first, 64 / op.elementBits);
    for (int e = 0; e < count; e++) {
      writer.load(op.from[first + e]);
      keepLow(c, op.elementBits);
      if (e > 0) {
        c.loadConstant(e * op.elementBits).lshl().lor();
      }
    }
  }

  /** Puts the address into AT and the native address into WHERE, or jumps to {@code slow}. */
  private void locate(MemoryOp op, Label slow) {
    CodeBuilder c = writer.code();
    if (writer.isConstant(op.base)) {
      c.loadConstant(writer.constantOf(op.base) + op.offset);
    } else {
      writer.load(op.base);
      if (op.offset != 0) {
        c.loadConstant(op.offset).ladd();
      }
    }
    switch (op.space) {
      case GLOBAL -> checkPage(op, slow);
      case GENERIC -> {
        c.lstore(AT).lload(AT);
        c.aload(T).getfield(THREAD, "scratchBase", CD_long).lsub();
        c.aload(T).getfield(THREAD, "scratchSize", CD_long);
        c.invokestatic(LONG, "compareUnsigned", MethodTypeDesc.of(CD_int, CD_long, CD_long));
        c.iflt(slow).lload(AT);
        checkPage(op, slow);
      }
      case SHARED -> checkWindow(op, "sharedBase", "sharedSize", slow);
      case PARAMETER -> checkWindow(op, "parameterBase", "parameterSize", slow);
      case LOCAL, FRAME -> checkWindow(op, "localBase", "localSize", slow);
    }
  }

  /** The look-up of {@link AddressSpace#accessible}, and the alignment. */
  private void checkPage(MemoryOp op, Label slow) {
    CodeBuilder c = writer.code();
    c.lstore(AT).lload(AT).lstore(WHERE);
    c.lload(AT).loadConstant(pages.base()).lsub().lstore(OFFSET);
    c.lload(OFFSET).loadConstant(12).lushr().loadConstant(pages.pages()).lcmp().ifge(slow);
    writer.constant(pages.accessibleBytes(), ClassDesc.ofDescriptor("[[S"));
    page(c).loadConstant(AddressSpace.PART_SHIFT).iushr().aaload();
    page(c).loadConstant((1 << AddressSpace.PART_SHIFT) - 1).iand().saload();
    c.lload(OFFSET).l2i().loadConstant(AddressSpace.PAGE - 1).iand();
    c.loadConstant(op.bytes).iadd().if_icmplt(slow);
    if (op.bytes > 1) {
      c.lload(AT).l2i().loadConstant(op.bytes - 1).iand().ifne(slow);
    }
  }

  private CodeBuilder page(CodeBuilder c) {
    return c.lload(OFFSET).loadConstant(12).lushr().l2i().loadConstant(pages.first()).iadd();
  }

  private void checkWindow(MemoryOp op, String base, String size, Label slow) {
    CodeBuilder c = writer.code();
    if (op.space == Space.FRAME) {
      c.aload(T).getfield(THREAD, "frame", CD_long).ladd();
    }
    c.lstore(AT);
    c.lload(AT).lconst_0().lcmp().iflt(slow);
    c.lload(AT).aload(T).getfield(THREAD, size, CD_long);
    c.loadConstant((long) op.bytes).lsub().lcmp().ifgt(slow);
    if (op.bytes > 1) {
      c.lload(AT).l2i().loadConstant(op.bytes - 1).iand().ifne(slow);
    }
    c.aload(T).getfield(THREAD, base, CD_long).lload(AT).ladd().lstore(WHERE);
  }

  /** Pushes the zero-extended value of a cell. */
  private void get(int access, int bytes, int offset) {
    CodeBuilder c = writer.code();
    writer.constant(handle(access, bytes, false), HANDLE);
    segment();
    c.lload(WHERE);
    if (offset != 0) {
      c.loadConstant((long) offset).ladd();
    }
    String mode =
        switch (Access.semantics(access)) {
          case Access.WEAK, Access.NON_COHERENT -> "get";
          case Access.ACQUIRE -> "getAcquire";
          default -> "getOpaque";
        };
    c.invokevirtual(HANDLE, mode, MethodTypeDesc.of(cell(bytes), SEGMENT, CD_long));
    if (bytes < 8) {
      c.i2l();
      keepLow(c, bytes * 8);
    }
  }

  /** Stores the long on the stack through the handle, memory and address below it. */
  private void set(int access, int bytes) {
    CodeBuilder c = writer.code();
    switch (bytes) {
      case 1 -> c.l2i().i2b();
      case 2 -> c.l2i().i2s();
      case 4 -> c.l2i();
      default -> {}
    }
    String mode =
        switch (Access.semantics(access)) {
          case Access.WEAK -> "set";
          case Access.RELEASE -> "setRelease";
          default -> "setOpaque";
        };
    c.invokevirtual(HANDLE, mode, MethodTypeDesc.of(CD_void, SEGMENT, CD_long, cell(bytes)));
  }

  private static ClassDesc cell(int bytes) {
    return switch (bytes) {
      case 1 -> CD_byte;
      case 2 -> CD_short;
      case 4 -> CD_int;
      default -> CD_long;
    };
  }

  private static VarHandle handle(int access, int bytes, boolean store) {
    int semantics = Access.semantics(access);
    boolean plain = semantics == Access.WEAK || (!store && semantics == Access.NON_COHERENT);
    return plain ? RawMemory.plainHandle(bytes) : RawMemory.orderedHandle(bytes);
  }

  private void segment() {
    writer.constant(RawMemory.memory(), SEGMENT);
  }
}
