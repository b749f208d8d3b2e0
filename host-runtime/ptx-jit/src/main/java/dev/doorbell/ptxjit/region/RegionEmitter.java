package dev.doorbell.ptxjit.region;

import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxjit.emit.ClassData;
import dev.doorbell.ptxjit.emit.HiddenClass;
import dev.doorbell.ptxjit.emit.InstructionEmitter;
import dev.doorbell.ptxjit.emit.MethodEmitter;
import dev.doorbell.ptxjit.flow.DirtyRegisters;
import dev.doorbell.ptxjit.flow.FlowGraph;
import dev.doorbell.ptxjit.flow.Regions;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Program;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.control.Guarded;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.PollingLoops;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes one region of a function as the {@code execute} of an {@link CompiledRegion}: a state
 * machine whose registers are JVM locals. On the way in it loads the registers that are alive at
 * the entry; on each way out it saves those that are alive there and were written since they were
 * saved last.
 *
 * <p>Objects that the code needs are class data, by index, and constants to HotSpot.
 */
public final class RegionEmitter extends MethodEmitter {
  private static final int LEFT = 3;

  private static final ClassDesc ENTRY = CompiledRegion.class.describeConstable().orElseThrow();
  private static final ClassDesc NAME =
      ClassDesc.of(CompiledRegion.class.getPackageName(), "Region");
  private static final MethodTypeDesc EXECUTE = MethodTypeDesc.of(OP, THREAD, CD_long.arrayType());
  private static final MethodTypeDesc SLOW_EXECUTE =
      MethodTypeDesc.of(OP, OP, THREAD, CD_long.arrayType());
  private static final MethodTypeDesc ROUND_FAILED =
      MethodTypeDesc.of(ConstantDescs.CD_boolean, THREAD, OP, OP);

  private final LinkedFunction callee;
  private final FlowGraph graph;
  private final List<BitSet> live;
  private final Regions plan;
  private final BitSet members;
  private final BitSet tracked;
  private final AddressSpace.PageTable pages;

  /** Where in the class data the operation at an index has to be put when all regions exist. */
  public final Map<Integer, Integer> elsewhere = new HashMap<>();

  /** The entries, by index of the instruction. */
  public final List<Integer> entries = new ArrayList<>();

  private final Map<Integer, Integer> locals = new HashMap<>();
  private final DirtyRegisters dirty;
  private final Map<Integer, Label> labels = new HashMap<>();
  private final Map<Integer, Label> exits = new HashMap<>();
  private final Map<Integer, Label> yields = new HashMap<>();
  private @Nullable Label returning;
  private int pending;

  public RegionEmitter(
      Program program,
      LinkedFunction callee,
      FlowGraph graph,
      List<BitSet> live,
      Regions plan,
      BitSet members,
      BitSet tracked,
      AddressSpace.PageTable pages) {
    super(program, new ClassData());
    this.callee = callee;
    this.graph = graph;
    this.live = live;
    this.plan = plan;
    this.members = members;
    this.tracked = tracked;
    this.pages = pages;
    this.dirty = new DirtyRegisters(graph, members, this::isInFile);
  }

  /** True for an operation that is executed through its object, by {@link #execute(int, Op)}. */
  private boolean isInFile(int index) {
    Op bare = callee.op(index).bare();
    return !(bare instanceof Branch) && !InstructionEmitter.knows(bare);
  }

  /** The class file. */
  public byte[] write() {
    assignLocals();
    members.stream().filter(plan.entries()::get).forEach(entries::add);
    return HiddenClass.file(
        NAME,
        ENTRY,
        type -> type.withMethodBody("execute", EXECUTE, ClassFile.ACC_PUBLIC, this::body));
  }

  private void assignLocals() {
    Map<Integer, Integer> uses = new HashMap<>();
    for (int i = members.nextSetBit(0); i >= 0; i = members.nextSetBit(i + 1)) {
      FlowGraph.Node node = graph.nodes().get(i);
      int weight = 1 + Math.min(node.count(), 1 << 16);
      node.reads().stream().forEach(slot -> uses.merge(slot, weight, Integer::sum));
      node.writes().stream().forEach(slot -> uses.merge(slot, weight, Integer::sum));
    }
    List<Integer> slots = new ArrayList<>(uses.keySet());
    slots.sort((x, y) -> Integer.compare(uses.getOrDefault(y, 0), uses.getOrDefault(x, 0)));
    int local = FIRST_FREE;
    for (int slot : slots) {
      locals.put(slot, local);
      local += 2;
    }
  }

  private void body(CodeBuilder c) {
    begin(c);
    returning = c.newLabel();
    InstructionEmitter instructions = new InstructionEmitter(this, pages);
    enter();
    for (int i = members.nextSetBit(0); i >= 0; i = members.nextSetBit(i + 1)) {
      if (plan.leaders().get(i)) {
        flush();
        c.labelBinding(label(i));
      }
      instruction(i, instructions);
    }
    writeOutOfLine();
    exits.forEach(this::exit);
    yields.forEach(this::giveWay);
    c.labelBinding(returning);
    storeLeft();
    c.areturn();
  }

  /** Loads what is alive at the entry and goes there. */
  private void enter() {
    CodeBuilder c = code();
    for (int local : locals.values().stream().sorted().toList()) {
      c.lconst_0().lstore(local);
    }
    c.aload(THREAD_LOCAL).getfield(THREAD, "left", CD_int).istore(LEFT);
    List<SwitchCase> cases = new ArrayList<>();
    for (int entry = 0; entry < entries.size(); entry++) {
      cases.add(SwitchCase.of(entry, c.newLabel()));
    }
    if (cases.size() > 1) {
      c.aload(0).getfield(ENTRY, "entry", CD_int);
      c.tableswitch(0, cases.size() - 1, cases.getFirst().target(), cases);
    }
    for (SwitchCase entry : cases) {
      c.labelBinding(entry.target());
      int at = entries.get(entry.caseValue());
      live.get(at).stream().filter(locals::containsKey).forEach(this::reload);
      c.goto_(label(at));
    }
  }

  private void instruction(int i, InstructionEmitter instructions) {
    CodeBuilder c = code();
    Op op = callee.op(i);
    Op bare = op.bare();
    pending++;
    if (bare instanceof Branch branch) {
      branch(i, branch);
      return;
    }
    boolean falls = graph.nodes().get(i).successors().contains(i + 1);
    boolean diverts = graph.nodes().get(i).diverts();
    if (diverts) {
      flush();
    }
    Label skip = c.newLabel();
    if (op instanceof Guarded guarded) {
      load(guarded.predicate);
      c.l2i();
      if (guarded.wanted == 1) {
        c.ifeq(skip);
      } else {
        c.ifne(skip);
      }
    }
    if (diverts) {
      divert(i, bare, falls);
    } else if (!instructions.write(bare, tracked.get(i))) {
      execute(i, bare);
    }
    c.labelBinding(skip);
    if (falls && !members.get(i + 1)) {
      flush();
      c.goto_(exitLabel(i + 1));
    }
  }

  private void branch(int i, Branch branch) {
    CodeBuilder c = code();
    flush();
    int target = Function.targets(callee.function.code().get(i)).getFirst();
    if (target == i + 1) {
      if (!members.get(target)) {
        c.goto_(exitLabel(target));
      }
      return; // whichever way, it goes on with the next
    }
    boolean back = target <= i;
    PollingLoops.Loop loop = back && tracked.get(i) ? branch.loop : null;
    if (branch.p < 0) {
      jump(target, back, loop, branch);
      return;
    }
    load(branch.p);
    c.l2i();
    if (!back) {
      Label to = members.get(target) ? label(target) : exitLabel(target);
      if (branch.wanted == 1) {
        c.ifne(to);
      } else {
        c.ifeq(to);
      }
    } else {
      Label skip = c.newLabel();
      if (branch.wanted == 1) {
        c.ifeq(skip);
      } else {
        c.ifne(skip);
      }
      jump(target, true, loop, branch);
      c.labelBinding(skip);
    }
    if (!members.get(i + 1)) {
      c.goto_(exitLabel(i + 1));
    }
  }

  private void jump(int target, boolean back, PollingLoops.@Nullable Loop loop, Branch branch) {
    CodeBuilder c = code();
    if (loop != null) {
      c.aload(THREAD_LOCAL);
      constant(branch);
      elsewhere(target);
      c.invokestatic(SLOW, "roundFailed", ROUND_FAILED);
      c.ifne(yields.computeIfAbsent(target, key -> c.newLabel()));
    }
    if (!members.get(target)) {
      c.goto_(exitLabel(target));
    } else if (back) {
      c.iload(LEFT).ifgt(label(target));
      c.goto_(exitLabel(target));
    } else {
      c.goto_(label(target));
    }
  }

  /** An operation that may wait, jump or end the thread: everything alive is saved before. */
  private void divert(int i, Op bare, boolean falls) {
    CodeBuilder c = code();
    spill(live.get(i), dirty.before(i));
    constant(bare);
    c.aload(THREAD_LOCAL).aload(REGISTERS).invokestatic(SLOW, "execute", SLOW_EXECUTE);
    if (!falls || !members.get(i + 1)) {
      storeLeft();
      c.areturn();
      return;
    }
    c.dup();
    constant(bare);
    c.getfield(OP, "next", OP);
    c.if_acmpne(returningLabel());
    c.pop();
    graph.nodes().get(i).writes().stream().forEach(this::reload);
  }

  /** One that always goes on: only its own registers go through the register file. */
  private void execute(int i, Op bare) {
    CodeBuilder c = code();
    spill(graph.nodes().get(i).reads(), dirty.before(i));
    constant(bare);
    c.aload(THREAD_LOCAL).aload(REGISTERS);
    c.invokestatic(
        SLOW,
        "executeStraight",
        MethodTypeDesc.of(ConstantDescs.CD_void, OP, THREAD, CD_long.arrayType()));
    graph.nodes().get(i).writes().stream().forEach(this::reload);
  }

  private void exit(int target, Label at) {
    CodeBuilder c = code();
    c.labelBinding(at);
    spill(live.get(target), dirty.leavingFor(target));
    storeLeft();
    elsewhere(target);
    c.areturn();
  }

  private void giveWay(int target, Label at) {
    CodeBuilder c = code();
    c.labelBinding(at);
    spill(live.get(target), dirty.leavingFor(target));
    storeLeft();
    c.aconst_null().areturn();
  }

  /** The thread's loop takes one off for the entry itself, which is no instruction. */
  private void storeLeft() {
    code().aload(THREAD_LOCAL).iload(LEFT).iconst_1().iadd().putfield(THREAD, "left", CD_int);
  }

  private void flush() {
    if (pending > 0) {
      code().iinc(LEFT, -pending);
      pending = 0;
    }
  }

  /** Saves those of {@code slots} that the register file may not have. */
  private void spill(BitSet slots, BitSet notSaved) {
    CodeBuilder c = code();
    for (int slot = slots.nextSetBit(0); slot >= 0; slot = slots.nextSetBit(slot + 1)) {
      if (notSaved.get(slot)) {
        c.aload(REGISTERS).loadConstant(slot);
        load(slot);
        c.lastore();
      }
    }
  }

  private void reload(int slot) {
    Integer local = locals.get(slot);
    if (local != null) {
      code().aload(REGISTERS).loadConstant(slot).laload().lstore(local);
    }
  }

  @Override
  public void load(int slot) {
    if (program.isConstant(slot)) {
      code().loadConstant(program.constant(slot));
      return;
    }
    Integer local = locals.get(slot);
    if (local == null) {
      throw new IllegalStateException("slot " + slot + " is read and has no local");
    }
    code().lload(local);
  }

  @Override
  public void store(int slot) {
    Integer local = locals.get(slot);
    if (local == null) {
      code().pop2();
    } else {
      code().lstore(local);
    }
  }

  /** Pushes what stands at an index of the function when all regions are linked. */
  private void elsewhere(int index) {
    int at = elsewhere.computeIfAbsent(index, key -> classData.add(callee.op(index)));
    ClassData.push(code(), at, OP);
  }

  private Label label(int index) {
    return labels.computeIfAbsent(index, key -> code().newLabel());
  }

  private Label exitLabel(int index) {
    return exits.computeIfAbsent(index, key -> code().newLabel());
  }

  private Label returningLabel() {
    Label label = returning;
    if (label == null) {
      throw new IllegalStateException("no code is being written");
    }
    return label;
  }
}
