package dev.doorbell.ptxjit.emit;

import dev.doorbell.ptxjit.emit.HiddenClass.ClassData;
import dev.doorbell.ptxvm.engine.machine.KernelCode.Program;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A method that is being written. {@link InstructionEmitter} and {@link MemoryEmitter} say what an
 * operation does; a writer says where registers are.
 *
 * <p>Locals: 1 is the thread, 2 its register file, 4 to 13 are temporaries.
 */
public abstract class MethodEmitter {
  public static final ClassDesc OP = Op.class.describeConstable().orElseThrow();
  public static final ClassDesc THREAD = VmThread.class.describeConstable().orElseThrow();
  public static final ClassDesc SLOW = InterpreterFallback.class.describeConstable().orElseThrow();

  public static final int THREAD_LOCAL = 1;
  public static final int REGISTERS = 2;
  private static final int FIRST_TEMPORARY = 4;
  public static final int FIRST_FREE = 14;

  public final Program program;
  public final ClassData classData;
  private final List<Runnable> outOfLine = new ArrayList<>();
  private @Nullable CodeBuilder code;

  public MethodEmitter(Program program, ClassData classData) {
    this.program = program;
    this.classData = classData;
  }

  public final void begin(CodeBuilder builder) {
    code = builder;
  }

  public final CodeBuilder code() {
    CodeBuilder builder = code;
    if (builder == null) {
      throw new IllegalStateException("no code is being written");
    }
    return builder;
  }

  /** Pushes the value of a slot. */
  public abstract void load(int slot);

  /** Pops a value into a slot; a value that is not read is dropped. */
  public abstract void store(int slot);

  /** Runs {@code write} after the method's own code: for what is rarely executed. */
  public void later(Runnable write) {
    outOfLine.add(write);
  }

  public final void writeOutOfLine() {
    for (int k = 0; k < outOfLine.size(); k++) {
      outOfLine.get(k).run();
    }
    outOfLine.clear();
  }

  public final boolean isConstant(int slot) {
    return program.isConstant(slot);
  }

  public final long constantOf(int slot) {
    return program.constant(slot);
  }

  /** The local of a temporary, 0 to 4; each holds a long. */
  public static int temporary(int index) {
    return FIRST_TEMPORARY + 2 * index;
  }

  public final void constant(Op op) {
    constant(op, OP);
  }

  public final void constant(Object object, ClassDesc type) {
    ClassData.push(code(), classData.of(object), type);
  }
}
