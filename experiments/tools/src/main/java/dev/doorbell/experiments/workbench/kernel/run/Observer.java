package dev.doorbell.experiments.workbench.kernel.run;

import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelOutcome;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelRun;
import dev.doorbell.ptxvm.engine.probe.Probe;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** Counts instructions, and writes those of chosen threads out. */
final class Observer implements Probe {
  private final KernelRun run;
  private final List<String> text;
  private final IdentityHashMap<Instruction, Tally> tallies = new IdentityHashMap<>();

  private static final class Tally {
    long executed;
    long skipped;
  }

  Observer(KernelRun run) {
    this.run = run;
    this.text = run.ptx().lines().toList();
  }

  @Override
  public boolean follows(long thread) {
    return run.trace().isPresent() && run.trace().get().test(thread);
  }

  @Override
  public void counted(long thread, Instruction instruction, boolean skipped) {
    if (run.profile()) {
      Tally tally = tallies.computeIfAbsent(instruction, _ -> new Tally());
      tally.executed++;
      if (skipped) {
        tally.skipped++;
      }
    }
  }

  @Override
  public void followed(Step step) {
    counted(step.thread(), step.instruction(), step.skipped());
    Instruction instruction = step.instruction();
    StringJoiner values = new StringJoiner(" ");
    step.read().forEach(value -> values.add(show(value)));
    if (step.skipped()) {
      values.add("skipped");
    } else if (!step.written().isEmpty()) {
      values.add("->");
      step.written().forEach(value -> values.add(show(value)));
    }
    String source = instruction.source().toString();
    run.traced()
        .accept(
            "t%-4d %5d  %-44s  %s%s"
                .formatted(
                    step.thread(),
                    instruction.line(),
                    line(instruction),
                    values,
                    source.isEmpty() ? "" : "   (" + source + ")")
                .stripTrailing());
  }

  private String line(Instruction instruction) {
    int line = instruction.line();
    String found = line >= 1 && line <= text.size() ? text.get(line - 1).strip() : "";
    return found.isEmpty() ? instruction.opcode() : found.replaceAll("\\s+", " ");
  }

  /** A register by its type: predicates as 0 or 1, floats as numbers, 64 bits in hexadecimal. */
  private static String show(Value value) {
    Register register = value.register();
    long bits = value.bits();
    String shown =
        switch (register.type()) {
          case PRED -> Long.toString(bits & 1);
          case F32 -> Float.toString(Float.intBitsToFloat((int) bits));
          case F64 -> Double.toString(Double.longBitsToDouble(bits));
          default -> integer(bits, register.type());
        };
    return register.name() + "=" + shown;
  }

  private static String integer(long bits, ScalarType type) {
    boolean small = Long.compareUnsigned(bits & type.mask(), 1 << 16) < 0;
    return small ? Long.toString(bits & type.mask()) : "0x" + Long.toHexString(bits & type.mask());
  }

  List<KernelOutcome.Count> opcodes() {
    Map<String, Tally> byOpcode = new HashMap<>();
    tallies.forEach(
        (instruction, tally) -> {
          Tally sum = byOpcode.computeIfAbsent(instruction.opcode(), _ -> new Tally());
          sum.executed += tally.executed;
          sum.skipped += tally.skipped;
        });
    return byOpcode.entrySet().stream()
        .map(
            entry ->
                new KernelOutcome.Count(
                    entry.getKey(), entry.getValue().executed, entry.getValue().skipped, 0, ""))
        .sorted(MOST_FIRST)
        .toList();
  }

  List<KernelOutcome.Count> lines() {
    return tallies.entrySet().stream()
        .map(
            entry ->
                new KernelOutcome.Count(
                    line(entry.getKey()),
                    entry.getValue().executed,
                    entry.getValue().skipped,
                    entry.getKey().line(),
                    entry.getKey().source().toString()))
        .sorted(MOST_FIRST)
        .toList();
  }

  private static final Comparator<KernelOutcome.Count> MOST_FIRST =
      Comparator.comparingLong(KernelOutcome.Count::executed)
          .reversed()
          .thenComparingInt(KernelOutcome.Count::line)
          .thenComparing(KernelOutcome.Count::what);
}
