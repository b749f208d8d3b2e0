package dev.doorbell.ptxjit.block;

import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import dev.doorbell.ptxjit.block.JitBlockCompiler.CompiledBlock;
import dev.doorbell.ptxjit.emit.HiddenClass;
import dev.doorbell.ptxjit.emit.HiddenClass.ClassData;
import dev.doorbell.ptxjit.emit.InstructionEmitter;
import dev.doorbell.ptxjit.emit.MethodEmitter;
import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.control.Guarded;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes a trace as the {@code execute} of a {@link CompiledBlock}. Between two accesses registers
 * are JVM locals, too; the register file is always up to date, because what parks goes on in the
 * interpreter. Instructions and what they waited for are counted before each access and each jump.
 */
final class BlockEmitter extends MethodEmitter {
  private static final ClassDesc PARENT = CompiledBlock.class.describeConstable().orElseThrow();
  private static final ClassDesc NAME = ClassDesc.of(CompiledBlock.class.getPackageName(), "Block");
  private static final MethodTypeDesc EXECUTE = MethodTypeDesc.of(OP, THREAD, CD_long.arrayType());
  private static final MethodTypeDesc AWAIT =
      MethodTypeDesc.of(CD_boolean, THREAD, CD_int.arrayType());

  /** The local of what an access returned. */
  private static final int FOLLOWING = temporary(0);

  private final Trace trace;
  private final List<Label> labels = new ArrayList<>();

  /** The local of a slot. */
  private final Map<Integer, Integer> locals = new HashMap<>();

  /** Slots whose locals hold what the register file holds. */
  private final Set<Integer> current = new HashSet<>();

  /** Instructions that have been executed and not been counted, and what they waited for. */
  private int executed;

  private long stalled;

  BlockEmitter(Program program, Trace trace) {
    super(program, new ClassData());
    this.trace = trace;
  }

  byte[] write() {
    return HiddenClass.file(
        NAME,
        PARENT,
        type -> type.withMethodBody("execute", EXECUTE, ClassFile.ACC_PUBLIC, this::body));
  }

  private void body(CodeBuilder c) {
    begin(c);
    InstructionEmitter instructions = InstructionEmitter.ofArithmetic(this);
    trace.runs().forEach(run -> labels.add(c.newLabel()));
    for (int i = 0; i < trace.runs().size(); i++) {
      Trace.Run run = trace.runs().get(i);
      c.labelBinding(labels.get(i));
      current.clear();
      for (int j = 0; j < run.steps().size(); j++) {
        Trace.Step step = run.steps().get(j);
        if (j > 0) {
          stalled += step.at().stall; // the first one's was added by whoever came here
        }
        write(step, instructions);
        executed++;
      }
      end(run, i);
    }
    writeOutOfLine();
  }

  private void write(Trace.Step step, InstructionEmitter instructions) {
    if (step.awaited() != null) {
      await(step, step.awaited());
    }
    if (step.op() instanceof Branch) {
      return;
    }
    if (step.computes()) {
      compute(step.op(), instructions);
    } else {
      access(step.op());
    }
  }

  private void await(Trace.Step step, int[] slots) {
    CodeBuilder c = code();
    count(executed);
    c.aload(THREAD_LOCAL);
    ClassData.push(c, classData.add(slots), CD_int.arrayType());
    c.invokestatic(PARENT, "await", AWAIT);
    Label arrived = c.newLabel();
    c.ifne(arrived);
    c.aload(THREAD_LOCAL);
    constant(step.at());
    c.invokevirtual(THREAD, "park", MethodTypeDesc.of(OP, OP)).areturn();
    c.labelBinding(arrived);
    current.clear();
  }

  /** An access is executed as the interpreter does. */
  private void access(Op op) {
    CodeBuilder c = code();
    count(executed);
    c.aload(THREAD_LOCAL);
    constant(op);
    c.putfield(THREAD, "op", OP); // an error there names its place
    constant(op);
    c.aload(THREAD_LOCAL).aload(REGISTERS).invokevirtual(OP, "execute", EXECUTE);
    c.astore(FOLLOWING).aload(FOLLOWING);
    constant(following(op));
    Label goesOn = c.newLabel();
    c.if_acmpeq(goesOn);
    c.aload(FOLLOWING).areturn();
    c.labelBinding(goesOn);
    current.clear();
  }

  private static Op following(Op op) {
    Op next = op.next;
    if (next == null) {
      throw new IllegalStateException("control leaves the function");
    }
    return next;
  }

  private void compute(Op op, InstructionEmitter instructions) {
    CodeBuilder c = code();
    Op bare = op.bare();
    int[] results = InstructionEmitter.results(bare);
    for (int slot : InstructionEmitter.sources(bare)) {
      bring(slot);
    }
    Label skip = c.newLabel();
    if (op instanceof Guarded guarded) {
      for (int slot : results) {
        bring(slot); // it keeps its value where the guard does not hold
      }
      bring(guarded.predicate);
      load(guarded.predicate);
      c.loadConstant(guarded.wanted).lcmp().ifne(skip);
    }
    if (!instructions.write(bare)) {
      throw new IllegalStateException("no code for " + bare.getClass());
    }
    c.labelBinding(skip);
    for (int slot : results) {
      current.add(slot);
    }
  }

  private void bring(int slot) {
    if (!isConstant(slot) && current.add(slot)) {
      code().aload(REGISTERS).loadConstant(slot).laload().lstore(local(slot));
    }
  }

  private int local(int slot) {
    return locals.computeIfAbsent(slot, key -> FIRST_FREE + 2 * locals.size());
  }

  private void end(Trace.Run run, int index) {
    Branch jump = run.jump();
    int before = executed;
    long waited = stalled;
    if (jump != null && jump.target != null) {
      if (jump.p < 0) {
        go(jump.target, index);
        return;
      }
      CodeBuilder c = code();
      Label stays = c.newLabel();
      bring(jump.p);
      load(jump.p);
      c.lconst_0().lcmp();
      if (jump.wanted == 1) {
        c.ifeq(stays);
      } else {
        c.ifne(stays);
      }
      go(jump.target, index);
      c.labelBinding(stays);
      executed = before;
      stalled = waited;
    }
    go(run.next(), index);
  }

  /** Goes on at an operation: inside of the trace, or in the interpreter. */
  private void go(Op to, int from) {
    CodeBuilder c = code();
    int run = trace.run(to);
    if (run < 0) {
      // Whoever executes this counts one instruction.
      count(executed - 1);
      constant(to);
      c.areturn();
    } else {
      stalled += to.stall;
      count(executed);
      if (run <= from) {
        c.aload(THREAD_LOCAL).getfield(THREAD, "left", CD_int).loadConstant(trace.size());
        c.if_icmpge(labels.get(run));
        stalled = -to.stall;
        count(-1);
        constant(to);
        c.areturn();
      } else {
        c.goto_(labels.get(run));
      }
    }
    executed = 0;
    stalled = 0;
  }

  private void count(int instructions) {
    CodeBuilder c = code();
    if (instructions != 0) {
      c.aload(THREAD_LOCAL).dup().getfield(THREAD, "left", CD_int);
      c.loadConstant(instructions).isub().putfield(THREAD, "left", CD_int);
    }
    if (stalled != 0) {
      c.aload(THREAD_LOCAL).dup().getfield(THREAD, "stalled", CD_long);
      c.loadConstant(stalled).ladd().putfield(THREAD, "stalled", CD_long);
    }
    executed = 0;
    stalled = 0;
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
    code().aload(REGISTERS).loadConstant(slot).lload(local(slot)).lastore();
  }
}
