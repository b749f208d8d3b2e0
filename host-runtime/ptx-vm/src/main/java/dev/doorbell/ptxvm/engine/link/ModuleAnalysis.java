package dev.doorbell.ptxvm.engine.link;

import dev.doorbell.ptxvm.ir.ControlFlow;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.PollingLoops;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Slots;
import java.util.HashMap;
import java.util.Map;

/**
 * Analysis of a module and its functions, found once: each GPU whose compiler may change operations
 * has copies of its own of these, and of nothing here. Safe for several threads.
 */
public final class ModuleAnalysis {
  final PtxModule module;
  final CallGraph calls;

  private final PollingLoops loops;
  private final Map<String, OfFunction> functions = new HashMap<>();

  /**
   * Facts about a function.
   *
   * @param loops those that may poll or spin, by the index of the branch that closes them
   */
  record OfFunction(ControlFlow flow, Slots slots, Map<Integer, PollingLoops.Loop> loops) {}

  public ModuleAnalysis(PtxModule module) {
    this.module = module;
    this.calls = new CallGraph(module);
    this.loops = new PollingLoops(module.functions());
  }

  synchronized OfFunction of(Function function) {
    OfFunction known = functions.get(function.name());
    if (known == null) {
      ControlFlow flow = new ControlFlow(function);
      known = new OfFunction(flow, Slots.of(function, flow), Map.copyOf(loops.of(function, flow)));
      functions.put(function.name(), known);
    }
    return known;
  }
}
