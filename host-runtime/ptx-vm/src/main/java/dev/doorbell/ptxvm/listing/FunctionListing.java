package dev.doorbell.ptxvm.listing;

import dev.doorbell.ptxvm.ir.ControlFlow;
import dev.doorbell.ptxvm.ir.Dataflow;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.PollingLoops;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Slots;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A function as the interpreter sees it.
 *
 * @param function what was decoded
 * @param slots registers that its code needs at once; {@link Slots} puts the others into them
 * @param loops its loops that may poll, in the order of the branches that close them
 */
public record FunctionListing(Function function, Slots slots, List<Polling> loops) {

  /**
   * A loop that may poll.
   *
   * @param head index of the instruction that it begins with
   * @param branch index of the branch that closes it
   * @param body indices of its instructions
   */
  public record Polling(int head, int branch, BitSet body, PollingLoops.Loop kind) {}

  /** The functions of a module that have code, in the order of the file. */
  public static List<FunctionListing> of(PtxModule module) {
    PollingLoops loops = new PollingLoops(module.functions());
    return module.functions().values().stream()
        .filter(Function::defined)
        .map(function -> of(function, loops))
        .toList();
  }

  private static FunctionListing of(Function function, PollingLoops finder) {
    ControlFlow flow = new ControlFlow(function);
    List<Polling> polling = new ArrayList<>();
    for (Map.Entry<Integer, PollingLoops.Loop> loop :
        new TreeMap<>(finder.of(function, flow)).entrySet()) {
      if (!loop.getValue().polls()) {
        continue;
      }
      int branch = loop.getKey();
      for (int target : Function.targets(function.code().get(branch))) {
        if (target <= branch) {
          polling.add(new Polling(target, branch, flow.loop(target, branch), loop.getValue()));
        }
      }
    }
    return new FunctionListing(function, Slots.of(function, flow), polling);
  }

  /** The registers that an instruction writes, each once. */
  public static Set<Register> written(Instruction instruction) {
    Set<Register> registers = new LinkedHashSet<>();
    Dataflow.writes(instruction, registers::add);
    return registers;
  }

  /** The registers that an instruction reads, guard included, each once. */
  public static Set<Register> read(Instruction instruction) {
    Set<Register> registers = new LinkedHashSet<>();
    Dataflow.reads(instruction, registers::add);
    return registers;
  }
}
