package dev.doorbell.ptxvm.engine;

import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.doorbell.ptxvm.compiler.WidePlan;
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
 * {@link LaneWriter} in between. Common values are in an array.
 */
final class DriverWriter extends WebWriter {
  static final ClassDesc WARP = WideWarp.class.describeConstable().orElseThrow();

  /** The warp, its leader, the chunk; returns as {@link WideCode#run}, or the next chunk. */
  static final MethodTypeDesc TYPE = MethodTypeDesc.of(CD_int, WARP, THREAD, CD_int);

  private static final int WARP_LOCAL = 0;
  private static final int CHUNK = 2;
  private static final int UNIFORMS = FIRST_FREE;
  private static final int VALUE = FIRST_FREE + 1;

  private final ClassDesc self;
  private final Map<Integer, Integer> numbers;
  private final BitSet mayPoll;
  private final ToIntFunction<WidePlan.Stretch> methods;
  private final Map<Integer, Label> labels = new HashMap<>();
  private final Map<Integer, Label> interrupts = new LinkedHashMap<>();
  private final Map<Integer, Label> scatters = new LinkedHashMap<>();
  private final MeetingWriter meetings = new MeetingWriter(this);
  private int pending;

  /**
   * @param numbers of all chunks, by their first instruction
   * @param mayPoll branches that close loops which may poll
   * @param methods gives the number of the method of a stretch
   */
  DriverWriter(
      WideHomes homes,
      ClassData classData,
      NativeCode.Memory memory,
      ClassDesc self,
      Map<Integer, Integer> numbers,
      BitSet mayPoll,
      ToIntFunction<WidePlan.Stretch> methods) {
    super(homes, classData, memory);
    this.self = self;
    this.numbers = numbers;
    this.mayPoll = mayPoll;
    this.methods = methods;
  }

  static String stretchName(int number) {
    return "stretch" + number;
  }

  /** Writes a method for consecutive chunks. */
  void write(CodeBuilder c, List<WidePlan.Chunk> chunks) {
    begin(c);
    c.aload(WARP_LOCAL).getfield(WARP, "uniforms", CD_long.arrayType()).astore(UNIFORMS);
    c.lconst_0().lstore(VALUE);
    for (int k = 0; k < 5; k++) {
      c.lconst_0().lstore(temporary(k));
    }
    List<SwitchCase> cases = new ArrayList<>();
    for (WidePlan.Chunk chunk : chunks) {
      labels.put(chunk.first(), c.newLabel());
      cases.add(SwitchCase.of(number(chunk.first()), label(chunk.first())));
    }
    c.iload(CHUNK);
    c.tableswitch(
        number(chunks.getFirst().first()),
        number(chunks.getLast().first()),
        label(chunks.getFirst().first()),
        cases);
    for (WidePlan.Chunk chunk : chunks) {
      c.labelBinding(label(chunk.first()));
      chunk.steps().forEach(this::step);
      end(chunk);
    }
    writeOutOfLine();
    interrupts.forEach(this::interrupt);
    scatters.forEach(
        (crossing, here) -> {
          c.labelBinding(here);
          c.aload(WARP_LOCAL).loadConstant(crossing);
          c.invokevirtual(WARP, "scatter", MethodTypeDesc.of(CD_int, CD_int)).ireturn();
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

  private void step(WidePlan.Step step) {
    switch (step) {
      case WidePlan.Step.Once(int index) -> {
        pending++;
        write(index);
      }
      case WidePlan.Step.Lanes(WidePlan.Stretch stretch) -> lanes(stretch);
      case WidePlan.Step.Meet(int index) -> {
        flush();
        at = index;
        meetings.write(index, (MeetingOp) homes.op(index));
        pending++;
      }
    }
  }

  private void lanes(WidePlan.Stretch stretch) {
    CodeBuilder c = code();
    pending += stretch.straight().size();
    boolean mayLeave = LaneWriter.mayLeave(stretch);
    if (mayLeave) {
      flush();
    }
    c.aload(WARP_LOCAL).aload(THREAD_LOCAL).aconst_null().iconst_0();
    c.invokestatic(self, stretchName(methods.applyAsInt(stretch)), LaneWriter.TYPE);
    if (mayLeave) {
      c.aload(WARP_LOCAL).getfield(WARP, "present", CD_int);
      c.ifeq(scatter(homes.before(stretch.first())));
    }
  }

  private void end(WidePlan.Chunk chunk) {
    CodeBuilder c = code();
    flush();
    switch (chunk.end()) {
      case WidePlan.End.Jump(int from, int to) -> jump(from, to);
      case WidePlan.End.Leave(int index) -> c.goto_(scatter(homes.before(index)));
      case WidePlan.End.Gone() -> c.goto_(scatter(homes.before(chunk.first())));
      case WidePlan.End.Choice(int index, boolean agree) -> {
        at = index;
        pending++;
        flush();
        Branch branch = (Branch) homes.op(index);
        Label taken = c.newLabel();
        if (agree) {
          c.aload(WARP_LOCAL).loadConstant(homes.home(homes.webBefore(index, branch.p)));
          c.invokevirtual(WARP, "agreement", MethodTypeDesc.of(CD_int, CD_int));
          c.istore(CHUNK);
          c.iload(CHUNK).iconst_2().if_icmpeq(scatter(homes.before(index)));
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
        jump(
            index, Function.targets(homes.callee().function.code().get(index)).getFirst());
      }
    }
  }

  private void jump(int from, int to) {
    CodeBuilder c = code();
    if (!numbers.containsKey(to)) {
      c.goto_(scatter(homes.between(from, to)));
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
    c.aload(WARP_LOCAL).loadConstant(number(to)).loadConstant(homes.before(to));
    c.invokevirtual(WARP, "interrupt", MethodTypeDesc.of(CD_int, CD_int, CD_int)).ireturn();
  }

  /** Where each lane goes on by itself. */
  Label scatter(int crossing) {
    return scatters.computeIfAbsent(crossing, key -> code().newLabel());
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
  void load(int slot) {
    CodeBuilder c = code();
    if (isConstant(slot)) {
      c.loadConstant(constantOf(slot));
    } else {
      c.aload(UNIFORMS).loadConstant(~homes.home(homes.webBefore(at, slot))).laload();
    }
  }

  @Override
  void store(int slot) {
    CodeBuilder c = code();
    if (!node().writes().get(slot)) {
      c.pop2();
      return;
    }
    int home = homes.home(homes.webAfter(at, slot));
    c.lstore(VALUE);
    if (home < 0) {
      c.aload(UNIFORMS).loadConstant(~home).lload(VALUE).lastore();
    } else {
      c.aload(WARP_LOCAL).loadConstant(home).lload(VALUE);
      c.invokevirtual(WARP, "fill", MethodTypeDesc.of(CD_void, CD_int, CD_long));
    }
  }

  @Override
  void object(Op bare) {
    throw new IllegalStateException(
        "'" + bare.getClass().getSimpleName() + "' is never done once for all lanes");
  }

}
