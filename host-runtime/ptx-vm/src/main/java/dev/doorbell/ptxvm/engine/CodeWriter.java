package dev.doorbell.ptxvm.engine;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A method that is being written. {@link NativeCode} and {@link MemoryCode} say what an operation
 * does; a writer says where registers are.
 *
 * <p>Locals: 1 is the thread, 2 its register file, 4 to 13 are temporaries.
 */
abstract class CodeWriter {
  static final ClassDesc OP = Op.class.describeConstable().orElseThrow();
  static final ClassDesc THREAD = VmThread.class.describeConstable().orElseThrow();
  static final ClassDesc SLOW = Slow.class.describeConstable().orElseThrow();

  static final int THREAD_LOCAL = 1;
  static final int REGISTERS = 2;
  private static final int FIRST_TEMPORARY = 4;
  static final int FIRST_FREE = 14;

  final Program program;
  final ClassData classData;
  private final List<Runnable> outOfLine = new ArrayList<>();
  private @Nullable CodeBuilder code;

  CodeWriter(Program program, ClassData classData) {
    this.program = program;
    this.classData = classData;
  }

  /** A method begins. */
  final void begin(CodeBuilder builder) {
    code = builder;
  }

  final CodeBuilder code() {
    CodeBuilder builder = code;
    if (builder == null) {
      throw new IllegalStateException("no code is being written");
    }
    return builder;
  }

  /** Pushes the value of a slot. */
  abstract void load(int slot);

  /** Pops a value into a slot; what nobody reads is dropped. */
  abstract void store(int slot);

  /** Runs {@code write} after the method's own code: for what is rarely executed. */
  void later(Runnable write) {
    outOfLine.add(write);
  }

  final void writeOutOfLine() {
    for (int k = 0; k < outOfLine.size(); k++) {
      outOfLine.get(k).run();
    }
    outOfLine.clear();
  }

  final boolean isConstant(int slot) {
    return program.isConstant(slot);
  }

  final long constantOf(int slot) {
    return program.constant(slot);
  }

  /** The local of a temporary, 0 to 4; each holds a long. */
  static int temporary(int index) {
    return FIRST_TEMPORARY + 2 * index;
  }

  /** Pushes an operation. */
  final void constant(Op op) {
    constant(op, OP);
  }

  /** Pushes an object of class data. */
  final void constant(Object object, ClassDesc type) {
    ClassData.push(code(), classData.of(object), type);
  }
}
