package dev.doorbell.ptxvm.engine;

import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Register;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.memory.Layout;
import java.util.List;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** A kernel, ready to run: its operations, its register file, its windows. */
public final class KernelCode {
  private final PtxModule module;
  private final String name;
  private final Layout parameters;
  private final List<Variable> parameterList;
  private final @Nullable Op first;
  private final long[] constants;
  private final SpecialRegister[] specials;
  private final int[] specialSlots;
  private final List<Instruction> places;
  private final List<ToIntFunction<Register>> slotsAt;
  private final long sharedBytes;
  private final long localBytes;
  private final Program program;
  private final boolean ordersSharedByBarriers;

  /** How often each operation was executed, by place, while that is counted; else null. */
  int @Nullable [] counts;

  private long untilCompiled = Long.MAX_VALUE;
  private String engine = "interpreter";
  private boolean wideWanted;
  private @Nullable WideProgram wide;
  private boolean settled;

  KernelCode(
      PtxModule module,
      String name,
      Layout parameters,
      List<Variable> parameterList,
      @Nullable Op first,
      long[] constants,
      List<SpecialRegister> specials,
      int[] specialSlots,
      List<Instruction> places,
      List<ToIntFunction<Register>> slotsAt,
      long sharedBytes,
      long localBytes,
      Program program) {
    this.module = module;
    this.name = name;
    this.parameters = parameters;
    this.parameterList = parameterList;
    this.first = first;
    this.constants = constants;
    this.specials = specials.toArray(new SpecialRegister[0]);
    this.specialSlots = specialSlots;
    this.places = places;
    this.slotsAt = slotsAt;
    this.sharedBytes = sharedBytes;
    this.localBytes = localBytes;
    this.program = program;
    this.ordersSharedByBarriers =
        places.stream().noneMatch(i -> i.name().equals("mbarrier") || i.name().equals("cp"));
  }

  /**
   * False where shared memory is also ordered by {@code mbarrier} objects or filled by asynchronous
   * copies, which are not told to a fabric.
   */
  boolean ordersSharedByBarriers() {
    return ordersSharedByBarriers;
  }

  /** The entry's name. */
  public String name() {
    return name;
  }

  /** The layout of the parameter block. */
  public Layout parameters() {
    return parameters;
  }

  /** The parameters in order. */
  public List<Variable> parameterList() {
    return parameterList;
  }

  /** Bytes of static shared memory, rounded up to where dynamic shared memory begins. */
  public long sharedBytes() {
    return sharedBytes;
  }

  /** Bytes of a thread's local memory. */
  public long localBytes() {
    return localBytes;
  }

  @Nullable Op first() {
    Callee entry = program.callees().isEmpty() ? null : program.callees().getFirst();
    return entry == null ? first : entry.first;
  }

  /** What executes the kernel, in words. */
  public String engine() {
    return engine;
  }

  /** True when bytecode executes it. */
  boolean isCompiled() {
    return engine.startsWith("compiled") || isWide();
  }

  /** True when lanes that meet may go on together. */
  boolean isWide() {
    return wide != null;
  }

  /** Where lanes that have met go on together; null when each goes on by itself. */
  @Nullable WideDoor door(MeetingOp op, VmThread[] lanes, int members) {
    return wide == null ? null : wide.door(op, lanes, members);
  }

  /**
   * A launch begins. Over a direct fabric the kernel is compiled when it has executed {@code after}
   * instructions in all; what it does until then tells which of its paths belong together.
   *
   * @param wide whether warps are to go on together where their lanes meet
   */
  void launching(Fabric fabric, long after, boolean wide) {
    wideWanted = wide;
    if (settled || after == Long.MAX_VALUE) {
      return;
    }
    if (!(fabric instanceof DirectFabric)) {
      settled = true;
      engine = "interpreter (accesses take virtual time)";
    } else if (after == 0) {
      compile(fabric.memory());
    } else if (counts == null) {
      counts = new int[places.size()];
      untilCompiled = after;
    }
  }

  /** Threads have executed {@code instructions} more. */
  void executed(int instructions, AddressSpace memory) {
    untilCompiled -= instructions;
    if (untilCompiled < 0 && counts != null) {
      compile(memory);
    }
  }

  private void compile(AddressSpace memory) {
    int[] seen = counts == null ? new int[0] : counts;
    counts = null;
    settled = true;
    untilCompiled = Long.MAX_VALUE;
    String reason = Compiler.compile(program, memory, seen);
    if (reason != null) {
      engine = "interpreter (" + reason + ")";
    } else if (!wideWanted) {
      engine = "compiled";
    } else if (WideProgram.suits(program)) {
      wide = new WideProgram(program, memory, seen);
      engine = "warp";
    } else {
      engine = "compiled (its lanes never meet)";
    }
  }

  /** The register file of a new thread: constants, and what is fixed for the thread. */
  long[] registers(VmThread thread) {
    long[] r = constants.clone();
    for (int i = 0; i < specials.length; i++) {
      r[specialSlots[i]] = specials[i].value(thread);
    }
    return r;
  }

  /** What an operation was made of. */
  Instruction instruction(Op op) {
    return places.get(op.place);
  }

  /** The slots of the registers of the function that an operation belongs to. */
  ToIntFunction<Register> slots(Op op) {
    return slotsAt.get(op.place);
  }

  /** Where an operation stands: {@code put.ptx:88 'ld.global.u32 %r1, [%rd2];' (put.cu:17)}. */
  String describe(Op op) {
    Instruction instruction = places.get(op.place);
    String at = "%s:%d '%s'".formatted(module.name(), instruction.line(), text(instruction));
    return instruction.source().isEmpty() ? at : at + " (" + instruction.source() + ")";
  }

  /** Where an operation stands, part by part. */
  SourcePlace source(Op op) {
    Instruction instruction = places.get(op.place);
    return new SourcePlace(
        module.name(), instruction.line(), text(instruction), instruction.source().toString());
  }

  private String text(Instruction instruction) {
    String text = module.text(instruction.line());
    return text.isEmpty() ? instruction.opcode() : text;
  }
}
