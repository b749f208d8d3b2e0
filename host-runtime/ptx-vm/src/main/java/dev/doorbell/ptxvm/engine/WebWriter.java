package dev.doorbell.ptxvm.engine;

import dev.doorbell.ptxvm.compiler.FlowGraph;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;

/** Writes instructions whose registers are found by web: one slot holds different values in turn. */
abstract class WebWriter extends CodeWriter {
  final WideHomes homes;
  private final NativeCode nativeCode;

  /** The instruction that is being written. */
  int at;

  WebWriter(WideHomes homes, ClassData classData, NativeCode.Memory memory) {
    super(homes.program(), classData);
    this.homes = homes;
    this.nativeCode = new NativeCode(this, memory);
  }

  @Override
  final void later(Runnable write) {
    int here = at;
    super.later(
        () -> {
          at = here;
          write.run();
        });
  }

  final FlowGraph.Node node() {
    return homes.graph().nodes().get(at);
  }

  /** Writes an instruction that goes on with the next one. */
  final void write(int index) {
    at = index;
    CodeBuilder c = code();
    Op op = homes.op(index);
    Op bare = Shape.bare(op);
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
    if (!nativeCode.write(bare, false)) {
      object(bare);
    }
    c.labelBinding(skip);
  }

  /** An operation without bytecode, which is executed through its object. */
  abstract void object(Op bare);
}
