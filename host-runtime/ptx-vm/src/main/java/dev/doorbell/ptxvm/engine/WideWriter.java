package dev.doorbell.ptxvm.engine;

import dev.doorbell.ptxvm.compiler.Convergence;
import dev.doorbell.ptxvm.compiler.WidePlan;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Writes a {@link WideCode}: a method for each stretch of lanes, and drivers that call them. */
final class WideWriter {
  private static final ClassDesc WIDE = WideCode.class.describeConstable().orElseThrow();
  private static final ClassDesc NAME = ClassDesc.of(WideCode.class.getPackageName(), "Wide");
  private static final int OF_A_STEP = 60;

  private final WideHomes homes;
  private final WidePlan plan;
  private final Convergence.Semantics semantics;
  private final NativeCode.Memory memory;
  private final BitSet mayPoll;
  private final Map<Integer, Integer> numbers = new HashMap<>();
  private final List<WidePlan.Stretch> stretches = new ArrayList<>();
  final ClassData classData = new ClassData();

  WideWriter(
      WideHomes homes,
      WidePlan plan,
      Convergence.Semantics semantics,
      NativeCode.Memory memory,
      BitSet mayPoll) {
    this.homes = homes;
    this.plan = plan;
    this.semantics = semantics;
    this.memory = memory;
    this.mayPoll = mayPoll;
    plan.chunks().keySet().forEach(first -> numbers.put(first, numbers.size()));
  }

  /** The number of the chunk that begins at an instruction. */
  int number(int first) {
    return numbers.getOrDefault(first, -1);
  }

  /** The class file, its drivers of about {@code partBytes} each. */
  byte[] write(int partBytes) {
    List<List<WidePlan.Chunk>> parts = parts(partBytes);
    return ClassFile.of()
        .build(
            NAME,
            type -> {
              type.withSuperclass(WIDE).withFlags(ClassFile.ACC_FINAL);
              type.withMethodBody(
                  ConstantDescs.INIT_NAME,
                  ConstantDescs.MTD_void,
                  0,
                  c ->
                      c.aload(0)
                          .invokespecial(WIDE, ConstantDescs.INIT_NAME, ConstantDescs.MTD_void)
                          .return_());
              for (int p = 0; p < parts.size(); p++) {
                part(type, "part" + p, parts.get(p));
              }
              type.withMethodBody("run", DriverWriter.TYPE, 0, c -> run(c, parts));
              for (int k = 0; k < stretches.size(); k++) {
                stretch(type, k);
              }
            });
  }

  private List<List<WidePlan.Chunk>> parts(int partBytes) {
    List<List<WidePlan.Chunk>> parts = new ArrayList<>();
    int room = 0;
    for (WidePlan.Chunk chunk : plan.chunks().values()) {
      int bytes = OF_A_STEP * (chunk.steps().size() + 2);
      for (WidePlan.Step step : chunk.steps()) {
        if (step instanceof WidePlan.Step.Once(int index)) {
          bytes += homes.graph().nodes().get(index).bytes();
        }
      }
      if (bytes > room) {
        parts.add(new ArrayList<>());
        room = partBytes;
      }
      room -= bytes;
      parts.getLast().add(chunk);
    }
    return parts;
  }

  private void part(ClassBuilder type, String name, List<WidePlan.Chunk> chunks) {
    type.withMethodBody(
        name,
        DriverWriter.TYPE,
        ClassFile.ACC_STATIC,
        c ->
            new DriverWriter(homes, classData, memory, NAME, numbers, mayPoll, this::method)
                .write(c, chunks));
  }

  private int method(WidePlan.Stretch stretch) {
    int known = stretches.indexOf(stretch);
    if (known < 0) {
      stretches.add(stretch);
      return stretches.size() - 1;
    }
    return known;
  }

  private void stretch(ClassBuilder type, int number) {
    type.withMethodBody(
        DriverWriter.stretchName(number),
        LaneWriter.TYPE,
        ClassFile.ACC_STATIC,
        c ->
            new LaneWriter(homes, classData, memory, semantics, stretches.get(number), c).write());
  }

  /** {@code while (chunk >= 0) chunk = the part that has it}. */
  private void run(CodeBuilder c, List<List<WidePlan.Chunk>> parts) {
    // Locals: this, the warp, its leader, the chunk.
    Label loop = c.newLabel();
    Label end = c.newLabel();
    c.labelBinding(loop).iload(3).iflt(end);
    for (int p = 0; p < parts.size(); p++) {
      Label other = c.newLabel();
      if (p + 1 < parts.size()) {
        c.iload(3).loadConstant(number(parts.get(p).getLast().first())).if_icmpgt(other);
      }
      c.aload(1).aload(2).iload(3).invokestatic(NAME, "part" + p, DriverWriter.TYPE).istore(3);
      c.goto_(loop);
      c.labelBinding(other);
    }
    c.labelBinding(end).iload(3).ireturn();
  }
}
