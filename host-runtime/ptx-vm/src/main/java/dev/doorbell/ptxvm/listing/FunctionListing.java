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
import java.util.Arrays;
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
 * @param blocks its basic blocks, in the order of the code
 * @param loops its loops that may poll, in the order of the branches that close them
 */
public record FunctionListing(
    Function function, Slots slots, List<Block> blocks, List<Polling> loops) {

  /**
   * Instructions that run one after the other.
   *
   * @param first index of the first instruction
   * @param end index behind the last one
   * @param successors numbers of the blocks that may follow
   */
  public record Block(int number, int first, int end, List<Integer> successors) {}

  /**
   * A loop that may poll.
   *
   * @param head number of the block that it begins with
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
    int[] starts = starts(function);
    List<Block> blocks = new ArrayList<>();
    for (int i = 0; i < starts.length; i++) {
      int end = i + 1 < starts.length ? starts[i + 1] : function.code().size();
      List<Integer> successors =
          Arrays.stream(flow.successors(end - 1)).map(at -> number(starts, at)).boxed().toList();
      blocks.add(new Block(i, starts[i], end, successors));
    }
    List<Polling> polling = new ArrayList<>();
    for (Map.Entry<Integer, PollingLoops.Loop> loop :
        new TreeMap<>(finder.of(function, flow)).entrySet()) {
      if (!loop.getValue().polls()) {
        continue;
      }
      int branch = loop.getKey();
      for (int target : Function.targets(function.code().get(branch))) {
        if (target <= branch) {
          polling.add(
              new Polling(
                  number(starts, target), branch, flow.loop(target, branch), loop.getValue()));
        }
      }
    }
    return new FunctionListing(function, Slots.of(function, flow), blocks, polling);
  }

  /**
   * Returns the starts of blocks: the top, targets, and instructions behind those that go
   * elsewhere.
   */
  private static int[] starts(Function function) {
    BitSet starts = new BitSet();
    List<Instruction> code = function.code();
    if (!code.isEmpty()) {
      starts.set(0);
    }
    for (int i = 0; i < code.size(); i++) {
      List<Integer> targets = Function.targets(code.get(i));
      targets.stream().filter(target -> target < code.size()).forEach(starts::set);
      if ((!targets.isEmpty() || code.get(i).endsFlow()) && i + 1 < code.size()) {
        starts.set(i + 1);
      }
    }
    return starts.stream().toArray();
  }

  private static int number(int[] starts, int at) {
    int found = Arrays.binarySearch(starts, at);
    return found >= 0 ? found : -found - 2;
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
