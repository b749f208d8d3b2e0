package dev.doorbell.ptxvm.engine.link;

import dev.doorbell.ptxvm.engine.decode.KernelScope;
import dev.doorbell.ptxvm.engine.machine.KernelCode;
import dev.doorbell.ptxvm.engine.machine.KernelImage;
import dev.doorbell.ptxvm.engine.machine.Program;
import dev.doorbell.ptxvm.ir.Variable;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * A kernel with all of its operations, for any number of GPUs: what differs between them are the
 * addresses of variables, which lie in slots of the register file.
 *
 * <p>Interpreting it changes nothing in it but what its blocks know of themselves, so that threads
 * of different GPUs may execute it at the same time. A compiler links code into the operations: a
 * kernel that may be compiled is linked for one GPU alone.
 *
 * @param image its constants at the addresses of variables are 0
 * @param variables slots of addresses
 */
public record LinkedKernel(
    KernelImage image, Program program, List<KernelScope.VariableSlot> variables) {

  public LinkedKernel {
    variables = List.copyOf(variables);
  }

  /** Returns the kernel of a module whose variables are where {@code addressOf} says. */
  public KernelCode at(ToLongFunction<Variable> addressOf) {
    long[] constants = image.constants().clone();
    for (KernelScope.VariableSlot each : variables) {
      constants[each.slot()] = addressOf.applyAsLong(each.variable()) + each.offset();
    }
    return new KernelCode(image.with(constants), program.with(constants));
  }
}
