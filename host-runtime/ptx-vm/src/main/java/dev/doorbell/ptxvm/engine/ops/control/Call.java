package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.decode.KernelScope;
import dev.doorbell.ptxvm.engine.decode.KernelScope.LateCalls;
import dev.doorbell.ptxvm.engine.machine.LinkedFunction;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.Op.Stop;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.engine.machine.VmThread.Fault;
import dev.doorbell.ptxvm.engine.ops.control.Print.CString;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.ScalarType;
import dev.doorbell.ptxvm.ir.Variable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@code call}, direct and through a pointer. Arguments are bytes: those of the caller's {@code
 * .param} variables are copied into the callee's frame, and its results back.
 */
public final class Call extends Op {
  private final LinkedFunction caller;
  private final @Nullable Target fixed;
  private final int pointer;
  private final Map<Long, Target> pointedTo = new HashMap<>();
  private final @Nullable LateCalls late;
  private final Passing[] arguments;
  private final Passing[] results;

  /** A variable of the caller's frame with its size, or the slots of a register's elements. */
  @SuppressWarnings("ArrayRecordComponent") // compared with nothing
  private record Passing(long offset, long bytes, int... slots) {
    boolean fits(Variable variable) {
      return slots.length > 0
          ? variable.bytes() % slots.length == 0 && element(variable) <= Long.BYTES
          : variable.bytes() == bytes;
    }

    int element(Variable variable) {
      return (int) (variable.bytes() / slots.length);
    }

    void pass(long[] r, long frame, Variable parameter, long to) {
      if (slots.length == 0) {
        copy(frame + offset, to, bytes);
      }
      for (int e = 0; e < slots.length; e++) {
        int size = element(parameter);
        RawMemory.put(to + (long) e * size, size, r[slots[e]]);
      }
    }

    void take(long[] r, long frame, Variable result, long from) {
      if (slots.length == 0) {
        copy(from, frame + offset, bytes);
      }
      for (int e = 0; e < slots.length; e++) {
        int size = element(result);
        r[slots[e]] = RawMemory.get(from + (long) e * size, size);
      }
    }
  }

  private Call(
      LinkedFunction caller,
      @Nullable LinkedFunction fixed,
      int pointer,
      KernelScope kernel,
      Passing[] arguments,
      Passing[] results) {
    this.caller = caller;
    this.fixed = fixed == null ? null : new Target(fixed);
    this.pointer = pointer;
    this.arguments = arguments;
    this.results = results;
    this.late = fixed == null ? kernel.late() : null;
    if (fixed == null) {
      kernel.pointedTo().forEach((address, callee) -> pointedTo.put(address, new Target(callee)));
    }
  }

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    List<Operand> operands = i.operands();
    int at = operands.getFirst() instanceof Operand.Arguments ? 1 : 0;
    Passing[] results = at == 1 ? passings(operands.getFirst(), a, true) : new Passing[0];
    Operand target = operands.get(at);
    boolean hasArguments =
        operands.size() > at + 1 && operands.get(at + 1) instanceof Operand.Arguments;
    Passing[] arguments = hasArguments ? passings(operands.get(at + 1), a, false) : new Passing[0];
    if (target instanceof Operand.FunctionName(String name)) {
      LinkedFunction callee = a.kernel().function(name);
      if (callee == null) {
        return builtIn(name, arguments, results);
      }
      if (!fits(callee, arguments, results)) {
        throw Unsupported.malformed("'" + name + "' has other parameters or results");
      }
      return new Call(a.function(), callee, -1, a.kernel(), arguments, results);
    }
    int pointer = a.source(target, ScalarType.U64);
    return new Call(a.function(), null, pointer, a.kernel(), arguments, results);
  }

  private static Op builtIn(String name, Passing[] arguments, Passing[] results) {
    if (name.equals("vprintf") && have(arguments, 8, 8) && have(results, 4)) {
      return new Print(arguments[0].offset, arguments[1].offset, results[0].offset);
    }
    if (name.equals("__assertfail") && have(arguments, 8, 8, 4, 8, 8)) {
      return Op.failing((t, r) -> assertFail(t, arguments));
    }
    if (name.equals("free") && have(arguments, 8) && results.length == 0) {
      return Op.of((t, r) -> free(t, arguments[0].offset));
    }
    if (name.equals("malloc")) {
      return new Stop("malloc in a kernel is not supported");
    }
    return new Stop("function '" + name + "' is not defined in this file");
  }

  /** {@code __assertfail(message, file, line, function, charSize)}: what {@code assert} calls. */
  private static @Nullable Op assertFail(VmThread t, Passing[] arguments) {
    long frame = t.localBase + t.frame;
    AddressSpace memory = t.grid.memory;
    throw new Fault(
        "assertion '%s' failed in %s, %s:%d"
            .formatted(
                CString.read(memory, RawMemory.getLong(frame + arguments[0].offset)),
                CString.read(memory, RawMemory.getLong(frame + arguments[3].offset)),
                CString.read(memory, RawMemory.getLong(frame + arguments[1].offset)),
                RawMemory.getInt(frame + arguments[2].offset)));
  }

  /** {@code free(pointer)}, which destructors name: nothing is ever allocated but null. */
  private static void free(VmThread t, long pointer) {
    long address = RawMemory.getLong(t.localBase + t.frame + pointer);
    if (address != 0) {
      throw new Fault("free of 0x%x, which no malloc returned".formatted(address));
    }
  }

  private static boolean have(Passing[] passings, int... bytes) {
    boolean match = passings.length == bytes.length;
    for (int e = 0; match && e < bytes.length; e++) {
      match = passings[e].slots.length == 0 && passings[e].bytes == bytes[e];
    }
    return match;
  }

  private static boolean fit(Passing[] passings, List<Variable> variables) {
    boolean match = passings.length == variables.size();
    for (int e = 0; match && e < passings.length; e++) {
      match = passings[e].fits(variables.get(e));
    }
    return match;
  }

  private static boolean fits(LinkedFunction callee, Passing[] arguments, Passing[] results) {
    return fit(arguments, callee.function.parameters()) && fit(results, callee.function.results());
  }

  private static Passing[] passings(Operand list, Assembler a, boolean writes) throws Unsupported {
    if (!(list instanceof Operand.Arguments(List<Operand> elements))) {
      throw Unsupported.malformed("arguments in parentheses are needed");
    }
    Passing[] passings = new Passing[elements.size()];
    for (int e = 0; e < passings.length; e++) {
      Operand element = elements.get(e);
      if (element instanceof Operand.Symbol symbol && a.inFrame(symbol.variable())) {
        passings[e] = new Passing(a.windowOffset(symbol.variable()), symbol.variable().bytes());
      } else {
        List<Operand> parts =
            element instanceof Operand.Vector(List<Operand> each) ? each : List.of(element);
        int[] slots = new int[parts.size()];
        for (int at = 0; at < slots.length; at++) {
          slots[at] = writes ? a.result(parts.get(at)) : a.source(parts.get(at), ScalarType.B64);
        }
        passings[e] = new Passing(0, 0, slots);
      }
    }
    return passings;
  }

  @Override
  public List<Op> following() {
    Stream<Target> targets = fixed != null ? Stream.of(fixed) : pointedTo.values().stream();
    return Stream.concat(
            targets.flatMap(target -> Stream.ofNullable(target.callee.first)),
            Stream.ofNullable(next))
        .toList();
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    Target target = fixed != null ? fixed : pointedTo.get(r[pointer]);
    LateCalls linker = late;
    if (linker != null) {
      target = target == null ? link(linker, r[pointer]) : target;
      if (r.length < linker.slots()) {
        t.grow();
        return t.again(this);
      }
    }
    if (target == null) {
      throw new Fault("call through 0x%x, which is no function's address".formatted(r[pointer]));
    }
    return target.enter(t, r);
  }

  private @Nullable Target link(LateCalls linker, long address) {
    LinkedFunction function;
    try {
      function = linker.function(address);
    } catch (GpuException e) {
      throw new Fault(String.valueOf(e.getMessage()));
    }
    if (function == null) {
      return null;
    }
    Target target = new Target(function);
    pointedTo.put(address, target);
    return target;
  }

  /** A function that the call may enter, and what is executed when it returns. */
  private final class Target extends Op {
    private final LinkedFunction callee;

    Target(LinkedFunction callee) {
      this.callee = callee;
    }

    @Nullable Op enter(VmThread t, long[] r) {
      if (fixed == null && !fits(callee, arguments, results)) {
        throw new Fault(
            "call through a pointer to '%s', which has other parameters or results"
                .formatted(callee.function.name()));
      }
      long frame = t.frame + caller.frameBytes;
      if (frame + callee.frameBytes > t.localSize) {
        throw new Fault(
            "stack overflow in '%s': %d calls deep, %d bytes of local memory"
                .formatted(callee.function.name(), t.calls.depth(), t.localSize));
      }
      List<Variable> parameters = callee.function.parameters();
      for (int e = 0; e < arguments.length; e++) {
        long to = t.localBase + frame + callee.parameterOffsets[e];
        arguments[e].pass(r, t.localBase + t.frame, parameters.get(e), to);
      }
      t.calls.push(this, t.frame);
      if (callee.recursive) {
        t.calls.save(r, callee.firstSlot, callee.lastSlot);
      }
      t.frame = frame;
      return callee.first;
    }

    /** The callee is done: its results become the caller's. */
    @Override
    public @Nullable Op execute(VmThread t, long[] r) {
      if (callee.recursive) {
        t.calls.restore(r, callee.firstSlot, callee.lastSlot);
      }
      long calleeFrame = t.frame;
      t.frame = t.calls.pop();
      List<Variable> given = callee.function.results();
      for (int e = 0; e < results.length; e++) {
        long from = t.localBase + calleeFrame + callee.resultOffsets[e];
        results[e].take(r, t.localBase + t.frame, given.get(e), from);
      }
      return Call.this.next;
    }
  }

  private static void copy(long from, long to, long bytes) {
    if (bytes == 8) {
      RawMemory.putLong(to, RawMemory.getLong(from));
    } else if (bytes == 4) {
      RawMemory.putInt(to, RawMemory.getInt(from));
    } else if (bytes > 0) {
      RawMemory.copy(from, to, bytes);
    }
  }
}
