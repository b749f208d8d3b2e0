package dev.doorbell.ptxjit.block;

import static java.lang.constant.ConstantDescs.CD_long;

import dev.doorbell.ptxjit.emit.ClassData;
import dev.doorbell.ptxjit.emit.HiddenClass;
import dev.doorbell.ptxjit.emit.InstructionEmitter;
import dev.doorbell.ptxjit.emit.MethodEmitter;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Program;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.control.Guarded;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Writes a block as the {@code execute} of a {@link CompiledBlock}: registers are JVM locals in it,
 * loaded from the register file before and stored to it behind.
 */
final class BlockEmitter extends MethodEmitter {
  private static final ClassDesc PARENT = CompiledBlock.class.describeConstable().orElseThrow();
  private static final ClassDesc NAME = ClassDesc.of(CompiledBlock.class.getPackageName(), "Block");
  private static final MethodTypeDesc EXECUTE = MethodTypeDesc.of(OP, THREAD, CD_long.arrayType());

  private final List<Op> ops;

  /** By slot. */
  private final Map<Integer, Integer> locals = new LinkedHashMap<>();

  private final TreeSet<Integer> loaded = new TreeSet<>();
  private final TreeSet<Integer> stored = new TreeSet<>();

  BlockEmitter(Program program, List<Op> ops) {
    super(program, new ClassData());
    this.ops = ops;
  }

  /** The class file. */
  byte[] write() {
    assignLocals();
    return HiddenClass.file(
        NAME,
        PARENT,
        type -> type.withMethodBody("execute", EXECUTE, ClassFile.ACC_PUBLIC, this::body));
  }

  private void assignLocals() {
    for (Op op : ops) {
      Op bare = op.bare();
      for (int slot : InstructionEmitter.sources(bare)) {
        read(slot);
      }
      if (op instanceof Guarded guarded) {
        read(guarded.predicate);
      }
      for (int slot : InstructionEmitter.results(bare)) {
        if (op instanceof Guarded) {
          read(slot); // it keeps its value where the guard does not hold
        }
        local(slot);
        stored.add(slot);
      }
    }
  }

  private void read(int slot) {
    if (!isConstant(slot) && !stored.contains(slot)) {
      local(slot);
      loaded.add(slot);
    }
  }

  private int local(int slot) {
    return locals.computeIfAbsent(slot, key -> FIRST_FREE + 2 * locals.size());
  }

  private void body(CodeBuilder c) {
    begin(c);
    InstructionEmitter instructions = InstructionEmitter.ofArithmetic(this);
    for (int slot : loaded) {
      c.aload(REGISTERS).loadConstant(slot).laload().lstore(local(slot));
    }
    for (Op op : ops) {
      if (!(op instanceof Branch)) {
        compute(op, instructions);
      }
    }
    for (int slot : stored) {
      c.aload(REGISTERS).loadConstant(slot).lload(local(slot)).lastore();
    }
    leave(ops.getLast());
    writeOutOfLine();
  }

  private void compute(Op op, InstructionEmitter instructions) {
    CodeBuilder c = code();
    Label skip = c.newLabel();
    if (op instanceof Guarded guarded) {
      load(guarded.predicate);
      c.loadConstant(guarded.wanted).lcmp().ifne(skip);
    }
    if (!instructions.write(op.bare(), false)) {
      throw new IllegalStateException("no code for " + op.bare().getClass());
    }
    c.labelBinding(skip);
  }

  private void leave(Op last) {
    CodeBuilder c = code();
    if (!(last instanceof Branch branch)) {
      next(last.next);
      return;
    }
    if (branch.p < 0) {
      next(branch.target);
      return;
    }
    Label jump = c.newLabel();
    load(branch.p);
    c.lconst_0().lcmp();
    if (branch.wanted == 1) {
      c.ifne(jump);
    } else {
      c.ifeq(jump);
    }
    next(last.next);
    c.labelBinding(jump);
    next(branch.target);
  }

  private void next(@Nullable Op op) {
    if (op == null) {
      throw new IllegalStateException("control leaves the function");
    }
    ClassData.push(code(), classData.add(op), OP);
    code().areturn();
  }

  @Override
  public void load(int slot) {
    if (isConstant(slot)) {
      code().loadConstant(constantOf(slot));
    } else {
      code().lload(local(slot));
    }
  }

  @Override
  public void store(int slot) {
    code().lstore(local(slot));
  }
}
