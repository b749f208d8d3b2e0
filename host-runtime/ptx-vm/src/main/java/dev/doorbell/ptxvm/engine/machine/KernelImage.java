package dev.doorbell.ptxvm.engine.machine;

import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.memory.Layout;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Properties of a kernel that linking fixes.
 *
 * @param parameters the layout of the parameter block
 * @param parameterList the parameters in order
 * @param constants the register file of a thread that has not begun
 * @param written how many slots, the first ones, hold all that operations write
 * @param specials the slots of special registers
 * @param places the instructions of all operations, by {@link Op#place}
 * @param sharedBytes of static shared memory, rounded up to where dynamic shared memory begins
 * @param localBytes of a thread's local memory
 * @param late constants of all functions that were linked until now, where more may be linked when
 *     a thread calls them; else null
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, never compared
public record KernelImage(
    PtxModule module,
    String name,
    Layout parameters,
    List<Variable> parameterList,
    long[] constants,
    int written,
    Special[] specials,
    List<Instruction> places,
    long sharedBytes,
    long localBytes,
    @Nullable Supplier<long[]> late) {

  /** A special register and its slot. */
  public record Special(SpecialRegister register, int slot) {}

  public KernelImage with(long[] others, @Nullable Supplier<long[]> grown) {
    return new KernelImage(
        module,
        name,
        parameters,
        parameterList,
        others,
        written,
        specials,
        places,
        sharedBytes,
        localBytes,
        grown);
  }

  /** Returns true if functions may be linked while the kernel runs. */
  boolean growsLate() {
    return late != null;
  }

  /** The register file of a thread with slots for all functions that were linked until now. */
  long[] grown(long[] before, GridContext grid, int block, int thread) {
    long[] r = registers(grid, block, thread);
    System.arraycopy(before, 0, r, 0, before.length);
    return r;
  }

  /** The instruction that an operation was decoded from, by its {@link Op#place}. */
  public Instruction instruction(int place) {
    return places.get(place);
  }

  /**
   * Describes an operation's place: {@code put.ptx:88 'ld.global.u32 %r1, [%rd2];' (put.cu:17)}.
   */
  public String describe(int place) {
    Instruction instruction = instruction(place);
    String at = "%s '%s'".formatted(module.place(instruction.line()), text(instruction));
    return instruction.source().isEmpty() ? at : at + " (" + instruction.source() + ")";
  }

  /** Returns an operation's place, part by part. */
  SourcePlace source(int place) {
    Instruction instruction = instruction(place);
    PtxModule.Place where = module.place(instruction.line());
    return new SourcePlace(
        where.file(), where.line(), text(instruction), instruction.source().toString());
  }

  /** The register file of a new thread: constants, and what is fixed for the thread. */
  long[] registers(GridContext grid, int block, int thread) {
    long[] r = late == null ? constants.clone() : late.get();
    for (Special special : specials) {
      r[special.slot] = special.register.value(grid, block, thread);
    }
    return r;
  }

  private String text(Instruction instruction) {
    String text = module.text(instruction.line());
    return text.isEmpty() ? instruction.opcode() : text;
  }
}
