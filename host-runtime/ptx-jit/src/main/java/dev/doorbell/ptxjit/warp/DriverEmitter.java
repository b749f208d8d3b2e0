package dev.doorbell.ptxjit.warp;

import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxjit.emit.HiddenClass.ClassData;
import dev.doorbell.ptxjit.flow.WarpSchedule;
import dev.doorbell.ptxjit.warp.CompiledWarp.WarpCode;
import dev.doorbell.ptxvm.engine.machine.ConvergenceOp;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.ir.Function;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;

/**
 * Writes what is done once for all lanes: a method for some of the chunks, which calls those of
 * {@link LaneLoopEmitter} in between. Common values are in an array.
 */
final class DriverEmitter extends WebEmitter {
  static final ClassDesc WARP = CompiledWarp.class.describeConstable().orElseThrow();

  /** The warp, its leader, the chunk; returns as {@link WarpCode#run}, or the next chunk. */
  static final MethodTypeDesc TYPE = MethodTypeDesc.of(CD_int, WARP, THREAD, CD_int);

  private static final int WARP_LOCAL = 0;
  private static final int CHUNK = 2;
  private static final int UNIFORMS = FIRST_FREE;
  private static final int VALUE = FIRST_FREE + 1;

  private final ClassDesc self;
  private final Map<Integer, Integer> numbers;
  private final BitSet mayPoll;
  private final ToIntFunction<WarpSchedule.Stretch> methods;
  private final Map<Integer, Label> labels = new HashMap<>();
  private final Map<Integer, Label> interrupts = new LinkedHashMap<>();
  private final Map<Integer, Label> diverges = new LinkedHashMap<>();
  private final ConvergenceEmitter convergences = new ConvergenceEmitter(this);
  private int pending;

  /**
   * @param numbers of all chunks, by their first instruction
   * @param mayPoll branches that close loops which may poll
   * @param methods gives the number of the method of a stretch
   */
  DriverEmitter(
      RegisterAllocation registers,
      ClassData classData,
      AddressSpace.PageTable pages,
      ClassDesc self,
      Map<Integer, Integer> numbers,
      BitSet mayPoll,
      ToIntFunction<WarpSchedule.Stretch> methods) {
    super(registers, classData, pages);
    this.self = self;
    this.numbers = numbers;
    this.mayPoll = mayPoll;
    this.methods = methods;
  }

  static String stretchName(int number) {
    return "stretch" + number;
  }

  void write(CodeBuilder c, List<WarpSchedule.Chunk> chunks) {
    begin(c);
    c.aload(WARP_LOCAL).getfield(WARP, "uniforms", CD_long.arrayType()).astore(UNIFORMS);
    c.lconst_0().lstore(VALUE);
    for (int k = 0; k < 5; k++) {
      c.lconst_0().lstore(temporary(k));
    }
    List<SwitchCase> cases = new ArrayList<>();
    for (WarpSchedule.Chunk chunk : chunks) {
      labels.put(chunk.first(), c.newLabel());
      cases.add(SwitchCase.of(number(chunk.first()), label(chunk.first())));
    }
    c.iload(CHUNK);
    c.tableswitch(
        number(chunks.getFirst().first()),
        number(chunks.getLast().first()),
        label(chunks.getFirst().first()),
        cases);
    for (WarpSchedule.Chunk chunk : chunks) {
      c.labelBinding(label(chunk.first()));
      chunk.steps().forEach(this::step);
      end(chunk);
    }
    writeOutOfLine();
    interrupts.forEach(this::interrupt);
    diverges.forEach(
        (crossing, here) -> {
          c.labelBinding(here);
          c.aload(WARP_LOCAL).loadConstant(crossing);
          c.invokevirtual(WARP, "diverge", MethodTypeDesc.of(CD_int, CD_int)).ireturn();
        });
  }

  private int number(int first) {
    Integer number = numbers.get(first);
    if (number == null) {
      throw new IllegalStateException("no chunk begins at instruction " + first);
    }
    return number;
  }

  private Label label(int first) {
    Label label = labels.get(first);
    if (label == null) {
      throw new IllegalStateException("no chunk of this part begins at instruction " + first);
    }
    return label;
  }

  private void step(WarpSchedule.Step step) {
    switch (step) {
      case WarpSchedule.Step.Once(int index) -> {
        pending++;
        write(index);
      }
      case WarpSchedule.Step.Lanes(WarpSchedule.Stretch stretch) -> lanes(stretch);
      case WarpSchedule.Step.Meet(int index) -> {
        flush();
        at = index;
        convergences.write(index, (ConvergenceOp) registers.op(index));
        pending++;
      }
    }
  }

  private void lanes(WarpSchedule.Stretch stretch) {
    CodeBuilder c = code();
    pending += stretch.straight().size();
    boolean mayLeave = LaneLoopEmitter.mayLeave(stretch);
    if (mayLeave) {
      flush();
    }
    c.aload(WARP_LOCAL).aload(THREAD_LOCAL).aconst_null().iconst_0();
    c.invokestatic(self, stretchName(methods.applyAsInt(stretch)), LaneLoopEmitter.TYPE);
    if (mayLeave) {
      c.aload(WARP_LOCAL).getfield(WARP, "present", CD_int);
      c.ifeq(diverge(registers.before(stretch.first())));
    }
  }

  private void end(WarpSchedule.Chunk chunk) {
    CodeBuilder c = code();
    flush();
    switch (chunk.end()) {
      case WarpSchedule.End.Jump(int from, int to) -> jump(from, to);
      case WarpSchedule.End.Leave(int index) -> c.goto_(diverge(registers.before(index)));
      case WarpSchedule.End.Gone() -> c.goto_(diverge(registers.before(chunk.first())));
      case WarpSchedule.End.Choice(int index, boolean agree) -> {
        at = index;
        pending++;
        flush();
        Branch branch = (Branch) registers.op(index);
        Label taken = c.newLabel();
        if (agree) {
          c.aload(WARP_LOCAL)
              .loadConstant(registers.location(registers.webBefore(index, branch.p)));
          c.invokevirtual(WARP, "agreement", MethodTypeDesc.of(CD_int, CD_int));
          c.istore(CHUNK);
          c.iload(CHUNK).iconst_2().if_icmpeq(diverge(registers.before(index)));
          c.iload(CHUNK);
        } else {
          load(branch.p);
          c.l2i();
        }
        if (branch.wanted == 1) {
          c.ifne(taken);
        } else {
          c.ifeq(taken);
        }
        jump(index, index + 1);
        c.labelBinding(taken);
        jump(index, Function.targets(registers.callee().function.code().get(index)).getFirst());
      }
    }
  }

  private void jump(int from, int to) {
    CodeBuilder c = code();
    if (!numbers.containsKey(to)) {
      c.goto_(diverge(registers.between(from, to)));
      return;
    }
    if (to <= from) {
      c.aload(WARP_LOCAL).loadConstant(mayPoll.get(from) ? 1 : 0);
      c.invokevirtual(WARP, "isOver", MethodTypeDesc.of(CD_boolean, CD_boolean));
      c.ifne(interrupts.computeIfAbsent(to, key -> c.newLabel()));
    }
    if (labels.containsKey(to)) {
      c.goto_(label(to));
    } else {
      c.loadConstant(number(to)).ireturn();
    }
  }

  private void interrupt(int to, Label here) {
    CodeBuilder c = code();
    c.labelBinding(here);
    c.aload(WARP_LOCAL).loadConstant(number(to)).loadConstant(registers.before(to));
    c.invokevirtual(WARP, "interrupt", MethodTypeDesc.of(CD_int, CD_int, CD_int)).ireturn();
  }

  /** Writes the exits where each lane goes on by itself. */
  Label diverge(int crossing) {
    return diverges.computeIfAbsent(crossing, key -> code().newLabel());
  }

  /** Takes what was executed off the budget, for every lane that is there. */
  private void flush() {
    if (pending > 0) {
      CodeBuilder c = code();
      c.aload(WARP_LOCAL).dup().getfield(WARP, "left", CD_int);
      c.loadConstant(pending).aload(WARP_LOCAL).getfield(WARP, "count", CD_int).imul();
      c.isub().putfield(WARP, "left", CD_int);
      pending = 0;
    }
  }

  @Override
  public void load(int slot) {
    CodeBuilder c = code();
    if (isConstant(slot)) {
      c.loadConstant(constantOf(slot));
    } else {
      c.aload(UNIFORMS).loadConstant(~registers.location(registers.webBefore(at, slot))).laload();
    }
  }

  @Override
  public void store(int slot) {
    CodeBuilder c = code();
    if (!node().writes().get(slot)) {
      c.pop2();
      return;
    }
    int location = registers.location(registers.webAfter(at, slot));
    c.lstore(VALUE);
    if (location < 0) {
      c.aload(UNIFORMS).loadConstant(~location).lload(VALUE).lastore();
    } else {
      c.aload(WARP_LOCAL).loadConstant(location).lload(VALUE);
      c.invokevirtual(WARP, "fill", MethodTypeDesc.of(CD_void, CD_int, CD_long));
    }
  }

  @Override
  void object(Op bare) {
    throw new IllegalStateException(
        "'" + bare.getClass().getSimpleName() + "' is never done once for all lanes");
  }
}
