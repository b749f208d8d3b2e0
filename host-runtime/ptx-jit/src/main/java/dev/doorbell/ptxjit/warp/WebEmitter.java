package dev.doorbell.ptxjit.warp;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxjit.emit.HiddenClass.ClassData;
import dev.doorbell.ptxjit.emit.InstructionEmitter;
import dev.doorbell.ptxjit.emit.MethodEmitter;
import dev.doorbell.ptxjit.flow.FlowGraph;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.ops.control.Guarded;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;

/**
 * Writes instructions whose registers are found by web: one slot holds different values in turn.
 */
abstract class WebEmitter extends MethodEmitter {
  final RegisterAllocation registers;
  private final InstructionEmitter instructions;

  /** The instruction that is being written. */
  int at;

  WebEmitter(RegisterAllocation registers, ClassData classData, AddressSpace.PageTable pages) {
    super(registers.program(), classData);
    this.registers = registers;
    this.instructions = new InstructionEmitter(this, pages);
  }

  @Override
  public final void later(Runnable write) {
    int here = at;
    super.later(
        () -> {
          at = here;
          write.run();
        });
  }

  final FlowGraph.Node node() {
    return registers.graph().nodes().get(at);
  }

  /** Writes an instruction that goes on with the next one. */
  final void write(int index) {
    at = index;
    CodeBuilder c = code();
    Op op = registers.op(index);
    Op bare = op.bare();
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
    if (!instructions.write(bare)) {
      object(bare);
    }
    c.labelBinding(skip);
  }

  /** An operation without bytecode, which is executed through its object. */
  abstract void object(Op bare);
}
