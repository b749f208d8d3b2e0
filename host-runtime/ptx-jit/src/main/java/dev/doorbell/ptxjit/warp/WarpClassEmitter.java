package dev.doorbell.ptxjit.warp;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.ptxjit.emit.HiddenClass;
import dev.doorbell.ptxjit.emit.HiddenClass.ClassData;
import dev.doorbell.ptxjit.flow.DivergenceAnalysis;
import dev.doorbell.ptxjit.flow.WarpSchedule;
import dev.doorbell.ptxjit.warp.CompiledWarp.WarpCode;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Writes a {@link WarpCode}: a method for each stretch of lanes, and drivers that call them. */
final class WarpClassEmitter {
  private static final ClassDesc WARP_CODE = WarpCode.class.describeConstable().orElseThrow();
  private static final ClassDesc NAME = ClassDesc.of(WarpCode.class.getPackageName(), "WarpLanes");
  private static final int OF_A_STEP = 60;

  private final RegisterAllocation registers;
  private final WarpSchedule plan;
  private final DivergenceAnalysis.Semantics semantics;
  private final AddressSpace.PageTable pages;
  private final BitSet mayPoll;
  private final Map<Integer, Integer> numbers = new HashMap<>();
  private final List<WarpSchedule.Stretch> stretches = new ArrayList<>();
  final ClassData classData = new ClassData();

  WarpClassEmitter(
      RegisterAllocation registers,
      WarpSchedule plan,
      DivergenceAnalysis.Semantics semantics,
      AddressSpace.PageTable pages,
      BitSet mayPoll) {
    this.registers = registers;
    this.plan = plan;
    this.semantics = semantics;
    this.pages = pages;
    this.mayPoll = mayPoll;
    plan.chunks().keySet().forEach(first -> numbers.put(first, numbers.size()));
  }

  /** The number of the chunk that begins at an instruction. */
  int number(int first) {
    return numbers.getOrDefault(first, -1);
  }

  /** The class file, its drivers of about {@code partBytes} each. */
  byte[] write(int partBytes) {
    List<List<WarpSchedule.Chunk>> parts = parts(partBytes);
    return HiddenClass.file(
        NAME,
        WARP_CODE,
        type -> {
          for (int p = 0; p < parts.size(); p++) {
            part(type, "part" + p, parts.get(p));
          }
          type.withMethodBody("run", DriverEmitter.TYPE, 0, c -> run(c, parts));
          for (int k = 0; k < stretches.size(); k++) {
            stretch(type, k);
          }
        });
  }

  private List<List<WarpSchedule.Chunk>> parts(int partBytes) {
    List<List<WarpSchedule.Chunk>> parts = new ArrayList<>();
    int room = 0;
    for (WarpSchedule.Chunk chunk : plan.chunks().values()) {
      int bytes = OF_A_STEP * (chunk.steps().size() + 2);
      for (WarpSchedule.Step step : chunk.steps()) {
        if (step instanceof WarpSchedule.Step.Once(int index)) {
          bytes += registers.graph().nodes().get(index).bytes();
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

  private void part(ClassBuilder type, String name, List<WarpSchedule.Chunk> chunks) {
    type.withMethodBody(
        name,
        DriverEmitter.TYPE,
        ClassFile.ACC_STATIC,
        c ->
            new DriverEmitter(registers, classData, pages, NAME, numbers, mayPoll, this::method)
                .write(c, chunks));
  }

  private int method(WarpSchedule.Stretch stretch) {
    int known = stretches.indexOf(stretch);
    if (known < 0) {
      stretches.add(stretch);
      return stretches.size() - 1;
    }
    return known;
  }

  private void stretch(ClassBuilder type, int number) {
    type.withMethodBody(
        DriverEmitter.stretchName(number),
        LaneLoopEmitter.TYPE,
        ClassFile.ACC_STATIC,
        c ->
            new LaneLoopEmitter(registers, classData, pages, semantics, stretches.get(number), c)
                .write());
  }

  /** {@code while (chunk >= 0) chunk = the part that has it}. */
  private void run(CodeBuilder c, List<List<WarpSchedule.Chunk>> parts) {
    // Locals: this, the warp, its leader, the chunk.
    Label loop = c.newLabel();
    Label end = c.newLabel();
    c.labelBinding(loop).iload(3).iflt(end);
    for (int p = 0; p < parts.size(); p++) {
      Label other = c.newLabel();
      if (p + 1 < parts.size()) {
        c.iload(3).loadConstant(number(parts.get(p).getLast().first())).if_icmpgt(other);
      }
      c.aload(1).aload(2).iload(3).invokestatic(NAME, "part" + p, DriverEmitter.TYPE).istore(3);
      c.goto_(loop);
      c.labelBinding(other);
    }
    c.labelBinding(end).iload(3).ireturn();
  }
}
