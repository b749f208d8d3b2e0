package dev.doorbell.ptxvm.engine.link;

import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Unsupported;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Stop;
import dev.doorbell.ptxvm.engine.ops.OpTable;
import dev.doorbell.ptxvm.engine.ops.control.Branch;
import dev.doorbell.ptxvm.engine.ops.control.Guarded;
import dev.doorbell.ptxvm.ir.ControlFlow;
import dev.doorbell.ptxvm.ir.Instruction;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decodes the instructions of one function into operations and links them. */
final class FunctionLinker {
  private final KernelLinker kernel;
  private final LinkedFunction function;
  private final Assembler assembler;

  FunctionLinker(KernelLinker kernel, LinkedFunction function, Assembler assembler) {
    this.kernel = kernel;
    this.function = function;
    this.assembler = assembler;
  }

  /** Links the function. */
  void run(ControlFlow flow, LinkOptions options) {
    List<Instruction> code = function.function.code();
    List<@Nullable Op> ops = new ArrayList<>();
    for (Instruction instruction : code) {
      assembler.at = ops.size();
      ops.add(decode(instruction));
    }
    if (options.loadsAhead()) {
      ScoreboardPass.apply(code, flow, ops, function::slot);
    }
    if (options.pipeline().known()) {
      IssuePass.apply(function.function, flow, ops, options.pipeline());
    }
    if (options.hasBlocks()) {
      BlockPass.apply(flow, ops, options.blocksAfter());
    }
    Op after = null;
    for (Op op : ops.reversed()) {
      if (op != null) {
        op.follow(after);
      }
      after = op;
    }
    function.ops = ops;
    function.first = after;
    assembler.link();
  }

  private @Nullable Op decode(Instruction instruction) {
    try {
      int place = kernel.place(instruction, function::slot);
      Op op = OpTable.make(instruction, assembler);
      if (op instanceof Stop stop) {
        kernel.stops(instruction, stop.reason());
      }
      op.place = place;
      if (instruction.guard() == null || op instanceof Branch) {
        return op;
      }
      int predicate = assembler.slot(instruction.guard().predicate());
      Guarded guarded = Guarded.of(op, predicate, instruction.guard().negated());
      guarded.place = place;
      return guarded;
    } catch (Unsupported e) {
      kernel.refuse(instruction, String.valueOf(e.getMessage()));
      return null;
    }
  }
}
