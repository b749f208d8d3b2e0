package dev.doorbell.ptxjit.emit;

import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Moves;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.BinaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.LongTernaryOperator;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.TernaryOp;
import dev.doorbell.ptxvm.engine.ops.arithmetic.Rows.UnaryOp;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.memory.Fence;
import dev.doorbell.ptxvm.engine.ops.memory.Load;
import dev.doorbell.ptxvm.engine.ops.memory.MemoryOp;
import dev.doorbell.ptxvm.engine.ops.memory.Store;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.VarHandle;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/**
 * Bytecode for the operations that kernels are made of. Whatever only computes is written as
 * arithmetic on JVM locals, or as a call of the table row's own function, which HotSpot inlines. A
 * load or store is a look-up in the page table and one access, in place.
 */
public final class InstructionEmitter {
  private static final ClassDesc HANDLE = VarHandle.class.describeConstable().orElseThrow();
  private static final ClassDesc UNARY = LongUnaryOperator.class.describeConstable().orElseThrow();
  private static final ClassDesc BINARY =
      LongBinaryOperator.class.describeConstable().orElseThrow();
  private static final ClassDesc TERNARY =
      LongTernaryOperator.class.describeConstable().orElseThrow();

  private final MethodEmitter writer;
  private final MemoryEmitter memoryEmitter;

  public InstructionEmitter(MethodEmitter writer, AddressSpace.PageTable pages) {
    this.writer = writer;
    this.memoryEmitter = new MemoryEmitter(writer, pages);
  }

  /** True when {@link #write} has bytecode for the operation. */
  public static boolean knows(Op op) {
    return switch (op) {
      case Fence fence -> true;
      case Load load -> true;
      case Load.VectorLoad load -> true;
      case Store store -> true;
      case Store.VectorStore store -> true;
      case UnaryOp unary -> true;
      case BinaryOp binary -> true;
      case TernaryOp ternary -> true;
      case Moves.Move move -> true;
      case Moves.Pack pack -> true;
      case Moves.Unpack unpack -> true;
      default -> false;
    };
  }

  /** The slots that the bytecode reads; constants are among them. */
  public static int[] sources(Op op) {
    return switch (op) {
      case UnaryOp unary -> new int[] {unary.a};
      case BinaryOp binary -> new int[] {binary.a, binary.b};
      case TernaryOp ternary -> new int[] {ternary.a, ternary.b, ternary.c};
      case Moves.Move move -> new int[] {move.a};
      case Moves.Pack pack -> pack.a;
      case Moves.Unpack unpack -> new int[] {unpack.a};
      case Store store -> new int[] {store.base, store.value};
      case Store.VectorStore store -> store.sources();
      case MemoryOp memory -> new int[] {memory.base};
      case Branch branch -> branch.p < 0 ? new int[0] : new int[] {branch.p};
      default -> new int[0];
    };
  }

  /**
   * Writes the operation.
   *
   * @return false when there is no bytecode for it
   */
  public boolean write(Op op) {
    switch (op) {
      case UnaryOp unary -> unary(unary);
      case BinaryOp binary -> binary(binary);
      case TernaryOp ternary -> ternary(ternary);
      case Moves.Move move -> {
        writer.load(move.a);
        writer.store(move.d);
      }
      case Moves.Pack pack -> pack(pack);
      case Moves.Unpack unpack -> unpack(unpack);
      case Fence fence -> fence(fence);
      case Load load -> memoryEmitter.load(load);
      case Load.VectorLoad load -> memoryEmitter.load(load);
      case Store store -> memoryEmitter.store(store);
      case Store.VectorStore store -> memoryEmitter.store(store);
      default -> {
        return false;
      }
    }
    return true;
  }

  private void fence(Fence fence) {
    CodeBuilder c = writer.code();
    MethodTypeDesc nothing = MethodTypeDesc.of(CD_void);
    if (Access.semantics(fence.access) == Access.SC) {
      c.invokestatic(HANDLE, "fullFence", nothing);
    } else {
      c.invokestatic(HANDLE, "releaseFence", nothing);
      c.invokestatic(HANDLE, "acquireFence", nothing);
    }
  }

  private void pack(Moves.Pack op) {
    CodeBuilder c = writer.code();
    for (int e = 0; e < op.a.length; e++) {
      writer.load(op.a[e]);
      MemoryEmitter.keepLow(c, op.bits);
      if (e > 0) {
        c.loadConstant(e * op.bits).lshl().lor();
      }
    }
    writer.store(op.d);
  }

  private void unpack(Moves.Unpack op) {
    CodeBuilder c = writer.code();
    for (int e = 0; e < op.d.length; e++) {
      writer.load(op.a);
      if (e > 0) {
        c.loadConstant(e * op.bits).lushr();
      }
      MemoryEmitter.keepLow(c, op.bits);
      writer.store(op.d[e]);
    }
  }

  private void unary(UnaryOp op) {
    CodeBuilder c = writer.code();
    switch (op.key) {
      case "cvt.cvt.u64.u32/-1", "cvt.cvt.u32.u64/4294967295", "cvt.cvt.u32.u32/4294967295" -> {
        writer.load(op.a);
        MemoryEmitter.keepLow(c, 32);
      }
      case "cvt.cvt.u16.u32/65535", "cvt.cvt.u32.u16/4294967295", "cvt.cvt.u64.u16/-1" -> {
        writer.load(op.a);
        MemoryEmitter.keepLow(c, 16);
      }
      case "cvt.cvt.s64.s32/-1" -> {
        writer.load(op.a);
        c.l2i().i2l();
      }
      default -> function(op.f, UNARY, "applyAsLong", op.a);
    }
    writer.store(op.d);
  }

  private void binary(BinaryOp op) {
    switch (op.key) {
      case "add.u64", "add.s64" -> operands(op).ladd();
      case "sub.u64", "sub.s64" -> operands(op).lsub();
      case "mul.lo.u64", "mul.lo.s64" -> operands(op).lmul();
      case "add.u32", "add.s32" -> MemoryEmitter.keepLow(operands(op).ladd(), 32);
      case "sub.u32", "sub.s32" -> MemoryEmitter.keepLow(operands(op).lsub(), 32);
      case "mul.lo.u32", "mul.lo.s32" -> MemoryEmitter.keepLow(operands(op).lmul(), 32);
      case "add.u16", "add.s16" -> MemoryEmitter.keepLow(operands(op).ladd(), 16);
      case "sub.u16", "sub.s16" -> MemoryEmitter.keepLow(operands(op).lsub(), 16);
      case "mov", "and.pred", "and.b16", "and.b32", "and.b64" -> operands(op).land();
      case "or.pred", "or.b16", "or.b32", "or.b64" -> operands(op).lor();
      case "xor.pred", "xor.b16", "xor.b32", "xor.b64" -> operands(op).lxor();
      default -> function(op.f, BINARY, "applyAsLong", op.a, op.b);
    }
    writer.store(op.d);
  }

  private CodeBuilder operands(BinaryOp op) {
    writer.load(op.a);
    writer.load(op.b);
    return writer.code();
  }

  private void ternary(TernaryOp op) {
    CodeBuilder c = writer.code();
    switch (op.key) {
      case "selp" -> {
        Label no = c.newLabel();
        Label end = c.newLabel();
        writer.load(op.c);
        c.l2i().ifeq(no);
        writer.load(op.a);
        c.goto_(end).labelBinding(no);
        writer.load(op.b);
        c.labelBinding(end);
      }
      case "mad.lo.u64", "mad.lo.s64" -> product(op).ladd();
      case "mad.lo.u32", "mad.lo.s32" -> MemoryEmitter.keepLow(product(op).ladd(), 32);
      case "prmt.b32" -> permute(op);
      default -> function(op.f, TERNARY, "apply", op.a, op.b, op.c);
    }
    writer.store(op.d);
  }

  /** Calls the function of the operation's row. */
  private void function(Object f, ClassDesc type, String method, int... operands) {
    writer.constant(f, type);
    ClassDesc[] longs = new ClassDesc[operands.length];
    for (int i = 0; i < operands.length; i++) {
      writer.load(operands[i]);
      longs[i] = CD_long;
    }
    writer.code().invokeinterface(type, method, MethodTypeDesc.of(CD_long, longs));
  }

  private CodeBuilder product(TernaryOp op) {
    writer.load(op.a);
    writer.load(op.b);
    writer.code().lmul();
    writer.load(op.c);
    return writer.code();
  }

  /** Bytes in reverse, which is how a big-endian field is made, in one instruction. */
  private void permute(TernaryOp op) {
    CodeBuilder c = writer.code();
    if (!writer.isConstant(op.c) || (writer.constantOf(op.c) & 0xffff) != 0x0123) {
      function(op.f, TERNARY, "apply", op.a, op.b, op.c);
      return;
    }
    writer.load(op.a);
    c.l2i();
    c.invokestatic(
        Integer.class.describeConstable().orElseThrow(),
        "reverseBytes",
        MethodTypeDesc.of(CD_int, CD_int));
    c.i2l();
    MemoryEmitter.keepLow(c, 32);
  }
}
