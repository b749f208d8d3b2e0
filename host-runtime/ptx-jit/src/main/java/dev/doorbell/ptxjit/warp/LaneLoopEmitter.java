package dev.doorbell.ptxjit.warp;

import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxjit.emit.HiddenClass.ClassData;
import dev.doorbell.ptxjit.flow.DivergenceAnalysis;
import dev.doorbell.ptxjit.flow.FlowGraph;
import dev.doorbell.ptxjit.flow.WarpSchedule;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.ir.Function;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Writes what one lane after the other does as a method with a loop over the lanes. Within a turn
 * registers are JVM locals; between turns, in columns.
 */
final class LaneLoopEmitter extends WebEmitter {
  static final MethodTypeDesc TYPE =
      MethodTypeDesc.of(CD_void, DriverEmitter.WARP, THREAD, CD_long.arrayType(), CD_int);

  /** A lane that jumps back after this many instructions in one turn goes on by itself. */
  private static final int LONGEST_TURN = 2000;

  private static final int WARP_LOCAL = 0;
  private static final int LANE = 3;
  private static final int COLUMNS = FIRST_FREE;
  private static final int LANES = FIRST_FREE + 1;
  private static final int PRESENT = FIRST_FREE + 2;
  private static final int EXECUTED = FIRST_FREE + 3;
  private static final int TURN = FIRST_FREE + 4;
  private static final int FIRST_LOCAL = FIRST_FREE + 5;

  private final WarpSchedule.Stretch stretch;
  private final DivergenceAnalysis.Semantics semantics;
  private final BitSet all = new BitSet();
  private final BitSet reads = new BitSet();
  private final BitSet writes = new BitSet();
  private final Map<Integer, Integer> locals = new HashMap<>();
  private final Map<Integer, Label> labels = new HashMap<>();

  /** Exits of lanes: crossing and label. */
  private final Map<Integer, Label> leaving = new LinkedHashMap<>();

  /** Jumps back: by where from and where to. */
  private final Map<Long, Label> back = new LinkedHashMap<>();

  private int pending;
  private Label end;
  private Label next;

  LaneLoopEmitter(
      RegisterAllocation registers,
      ClassData classData,
      AddressSpace.PageTable pages,
      DivergenceAnalysis.Semantics semantics,
      WarpSchedule.Stretch stretch,
      CodeBuilder c) {
    super(registers, classData, pages);
    this.semantics = semantics;
    this.stretch = stretch;
    this.end = c.newLabel();
    this.next = c.newLabel();
    stretch.straight().forEach(all::set);
    if (stretch.branch() >= 0) {
      all.set(stretch.branch());
    }
    all.or(stretch.region());
    begin(c);
  }

  static boolean mayLeave(WarpSchedule.Stretch stretch) {
    return stretch.branch() >= 0;
  }

  void write() {
    CodeBuilder c = code();
    Label loop = c.newLabel();
    Label skip = c.newLabel();
    Label done = c.newLabel();
    assignLocals();
    prologue();
    c.labelBinding(loop);
    c.iload(LANE).aload(LANES).arraylength().if_icmpge(done);
    c.iload(PRESENT).iload(LANE).iushr().iconst_1().iand().ifeq(skip);
    c.aload(LANES).iload(LANE).aaload().astore(THREAD_LOCAL);
    c.aload(THREAD_LOCAL).getfield(THREAD, "r", CD_long.arrayType()).astore(REGISTERS);
    c.iconst_0().istore(TURN);
    loadColumns();
    stretch.straight().forEach(this::write);
    if (stretch.branch() >= 0) {
      apart();
    }
    c.labelBinding(end);
    saveColumns();
    c.labelBinding(next);
    c.iload(EXECUTED).iload(TURN).iadd().istore(EXECUTED);
    c.labelBinding(skip);
    c.iinc(LANE, 1).goto_(loop);
    writeOutOfLine();
    back.forEach(this::jumpBack);
    leaving.forEach(this::leave);
    c.labelBinding(done);
    c.aload(WARP_LOCAL).dup().getfield(DriverEmitter.WARP, "left", CD_int);
    c.iload(EXECUTED).isub().putfield(DriverEmitter.WARP, "left", CD_int);
    c.return_();
  }

  private void assignLocals() {
    for (int i = all.nextSetBit(0); i >= 0; i = all.nextSetBit(i + 1)) {
      FlowGraph.Node node = registers.graph().nodes().get(i);
      int index = i;
      node.reads().stream().forEach(slot -> reads.set(registers.webBefore(index, slot)));
      node.writes().stream().forEach(slot -> writes.set(registers.webAfter(index, slot)));
    }
    BitSet webs = (BitSet) reads.clone();
    webs.or(writes);
    int local = FIRST_LOCAL;
    for (int web = webs.nextSetBit(0); web >= 0; web = webs.nextSetBit(web + 1)) {
      locals.put(web, local);
      local += 2;
    }
  }

  private void prologue() {
    CodeBuilder c = code();
    ClassDesc warp = DriverEmitter.WARP;
    locals.forEach(
        (web, local) -> {
          if (registers.isVarying(web)) {
            c.lconst_0().lstore(local);
          } else {
            c.aload(WARP_LOCAL).getfield(warp, "uniforms", CD_long.arrayType());
            c.loadConstant(~registers.location(web)).laload().lstore(local);
          }
        });
    for (int k = 0; k < 5; k++) {
      c.lconst_0().lstore(temporary(k));
    }
    c.aload(WARP_LOCAL).getfield(warp, "columns", CD_long.arrayType()).astore(COLUMNS);
    c.aload(WARP_LOCAL).getfield(warp, "lanes", THREAD.arrayType()).astore(LANES);
    c.aload(WARP_LOCAL).getfield(warp, "present", CD_int).istore(PRESENT);
    c.iconst_0().istore(EXECUTED).iconst_0().istore(TURN).iconst_0().istore(LANE);
  }

  /** Slots that the turn touches and that are alive where it begins. */
  private void loadColumns() {
    CodeBuilder c = code();
    BitSet seen = new BitSet();
    int first = stretch.first();
    registers.live(first).stream()
        .map(slot -> registers.webBefore(first, slot))
        .filter(web -> locals.containsKey(web) && registers.isVarying(web))
        .forEach(
            web -> {
              if (!seen.get(web)) {
                seen.set(web);
                column(web);
                c.laload().lstore(local(web));
              }
            });
  }

  private void saveColumns() {
    int after = stretch.end();
    if (after >= 0) {
      BitSet alive = new BitSet();
      registers.live(after).stream().forEach(slot -> alive.set(registers.webAt(after, slot)));
      alive.and(writes);
      alive.stream().forEach(this::saveColumn);
    }
  }

  private void saveColumn(int web) {
    column(web);
    code().lload(local(web)).lastore();
  }

  /** Pushes the columns and the index of the lane's value. */
  private void column(int web) {
    code().aload(COLUMNS).iload(LANE).loadConstant(registers.location(web)).iadd();
  }

  private int local(int web) {
    Integer local = locals.get(web);
    if (local == null) {
      throw new IllegalStateException("web " + web + " has no local");
    }
    return local;
  }

  /** The branch at the end, and what lies between it and the join. */
  private void apart() {
    BitSet region = stretch.region();
    BitSet targets = new BitSet();
    for (int i = all.nextSetBit(0); i >= 0; i = all.nextSetBit(i + 1)) {
      if (registers.op(i) instanceof Branch) {
        registers.graph().nodes().get(i).successors().forEach(targets::set);
      }
    }
    branch(stretch.branch());
    for (int i = region.nextSetBit(0); i >= 0; i = region.nextSetBit(i + 1)) {
      if (targets.get(i)) {
        flush();
        code().labelBinding(label(i));
      }
      switch (semantics.kind(i)) {
        case BRANCH -> branch(i);
        case PLAIN -> {
          pending++;
          write(i);
          if (!region.get(i + 1) || i + 1 == stretch.join()) {
            flush();
            code().goto_(to(i, i + 1));
          }
        }
        default -> {
          flush();
          code().goto_(leavingAt(registers.before(i)));
        }
      }
    }
  }

  private void branch(int index) {
    CodeBuilder c = code();
    at = index;
    Branch branch = (Branch) registers.op(index);
    int target = Function.targets(registers.callee().function.code().get(index)).getFirst();
    pending++;
    flush();
    if (branch.p < 0 || target == index + 1) {
      c.goto_(to(index, target));
      return;
    }
    load(branch.p);
    c.l2i();
    if (branch.wanted == 1) {
      c.ifne(to(index, target));
    } else {
      c.ifeq(to(index, target));
    }
    c.goto_(to(index, index + 1));
  }

  /** Returns where a lane goes on that goes from one instruction to another. */
  private Label to(int from, int target) {
    if (target == stretch.join()) {
      return end;
    }
    if (!stretch.region().get(target)) {
      return leavingAt(registers.between(from, target));
    }
    if (target <= from) {
      return back.computeIfAbsent((long) from << 32 | target, key -> code().newLabel());
    }
    return label(target);
  }

  private Label label(int index) {
    return labels.computeIfAbsent(index, key -> code().newLabel());
  }

  private Label leavingAt(int crossing) {
    return leaving.computeIfAbsent(crossing, key -> code().newLabel());
  }

  private void jumpBack(long way, Label here) {
    CodeBuilder c = code();
    int target = (int) way;
    c.labelBinding(here);
    c.iload(TURN).loadConstant(LONGEST_TURN).if_icmplt(label(target));
    c.goto_(leavingAt(registers.before(target)));
  }

  private void leave(int crossing, Label here) {
    CodeBuilder c = code();
    c.labelBinding(here);
    BitSet wanted = new BitSet();
    for (int location : registers.crossing(crossing).locations()) {
      if (location >= 0) {
        wanted.set(location);
      }
    }
    writes.stream()
        .filter(web -> registers.isVarying(web) && wanted.get(registers.location(web)))
        .forEach(this::saveColumn);
    c.aload(WARP_LOCAL).iload(LANE).loadConstant(crossing);
    c.invokevirtual(DriverEmitter.WARP, "leave", MethodTypeDesc.of(CD_void, CD_int, CD_int));
    c.goto_(next);
  }

  private void flush() {
    if (pending > 0) {
      code().iinc(TURN, pending);
      pending = 0;
    }
  }

  @Override
  public void load(int slot) {
    if (isConstant(slot)) {
      code().loadConstant(constantOf(slot));
    } else {
      code().lload(local(registers.webBefore(at, slot)));
    }
  }

  @Override
  public void store(int slot) {
    if (node().writes().get(slot)) {
      code().lstore(local(registers.webAfter(at, slot)));
    } else {
      code().pop2();
    }
  }

  @Override
  void object(Op bare) {
    CodeBuilder c = code();
    node().reads().stream()
        .forEach(
            slot -> {
              c.aload(REGISTERS).loadConstant(slot);
              load(slot);
              c.lastore();
            });
    constant(bare);
    c.aload(THREAD_LOCAL).aload(REGISTERS);
    c.invokestatic(
        SLOW,
        "executeStraight",
        MethodTypeDesc.of(ConstantDescs.CD_void, OP, THREAD, CD_long.arrayType()));
    node().writes().stream()
        .forEach(
            slot -> {
              c.aload(REGISTERS).loadConstant(slot).laload();
              store(slot);
            });
  }
}
