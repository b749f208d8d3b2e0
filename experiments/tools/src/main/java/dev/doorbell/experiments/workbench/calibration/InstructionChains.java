package dev.doorbell.experiments.workbench.calibration;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.stats.Summary;
import dev.doorbell.experiments.workbench.calibration.Calibration.Measurement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Measures what instructions of one thread cost that touch no memory: {@value #LENGTH} operations
 * in a row, of which each needs the result of the one before it, or does not, or decides about the
 * next.
 *
 * <p>A sample is the time between two readings of {@code %clock64}, less that of the same kernel
 * without the operations. There is no loop between the readings: its branch would be in the
 * samples.
 */
final class InstructionChains {
  private static final int LENGTH = 64;

  /** Chains side by side: operations that do not wait for the one before. */
  private static final int SIDE_BY_SIDE = 4;

  /**
   * An operation.
   *
   * @param name of the quantity
   * @param what it is
   * @param body of one; {@code %a$k} is the value of a chain, {@code $i} a number of its own,
   *     {@code $o} an operation
   */
  private record Operation(String name, String what, String body) {}

  private static final Operation NOTHING = new Operation("nothing", "", "");

  private static final List<Operation> OPERATIONS =
      List.of(
          // Two kinds in turn, of which an assembler cannot make one of three operands.
          new Operation(
              "instruction", "addition or exclusive or that waits for none", "$o %a$k, %a$k, %x;"),
          // Not an addition, of which an assembler makes one of three operands for two.
          new Operation(
              "instruction.chain",
              "multiplication and addition that waits for the last one",
              "mad.lo.u32 %a0, %a0, %y, %x;"),
          new Operation(
              "instruction.decision",
              "comparison and addition under its guard",
              "setp.lt.u32 %q, %a0, %x;\n\t@%q add.u32 %a0, %a0, %y;"),
          new Operation(
              "instruction.jump",
              "comparison, branch that is not taken, and addition",
              "setp.gt.u32 %q, %a0, %m;\n\t@%q bra past$i;\n\tadd.u32 %a0, %a0, %y;\npast$i:"),
          new Operation(
              "instruction.call",
              "call of a function that adds, and its return",
              """
              {
              	.param .b32 in;
              	.param .b32 back;
              	st.param.b32 [in], %a0;
              	call.uni (back), increment, (in);
              	ld.param.b32 %a0, [back];
              	}\
              """));

  private static final String FUNCTION = PriceKernels.template("increment.ptx");

  private final PriceRig rig;
  private final double nanosPerCycle;
  private final Consumer<String> progress;

  InstructionChains(PriceRig rig, double nanosPerCycle, Consumer<String> progress) {
    this.rig = rig;
    this.nanosPerCycle = nanosPerCycle;
    this.progress = progress;
  }

  List<Measurement> measure() {
    double without = Summary.of(cycles(NOTHING), 1).median();
    List<Measurement> found = new ArrayList<>();
    for (Operation operation : OPERATIONS) {
      progress.accept(operation.name());
      double[] nanos = cycles(operation);
      for (int i = 0; i < nanos.length; i++) {
        nanos[i] = Math.max(0, nanos[i] - without) * nanosPerCycle / LENGTH;
      }
      found.add(new Measurement(operation.what(), Samples.of(operation.name(), "ns", nanos)));
    }
    return found;
  }

  private double[] cycles(Operation operation) {
    try (GpuModule module = rig.load("chain", ptx(operation))) {
      rig.launch(
          module.kernel("chain"), 1, 1, new KernelArguments().add(rig.out).add(rig.total()).add(1));
      return rig.samples();
    }
  }

  /** A module of one kernel. ISA and target are those of {@link PriceKernels}. */
  private static String ptx(Operation operation) {
    StringBuilder body = new StringBuilder();
    for (int i = 0; i < LENGTH && !operation.body().isEmpty(); i++) {
      String chain = Integer.toString(i % SIDE_BY_SIDE);
      String kind = i / SIDE_BY_SIDE % 2 == 0 ? "add.u32" : "xor.b32";
      String one =
          operation
              .body()
              .replace("$k", chain)
              .replace("$i", Integer.toString(i))
              .replace("$o", kind);
      body.append('\t').append(one).append('\n');
    }
    return PriceKernels.HEAD + FUNCTION + PriceKernels.template("chain.ptx").formatted(body);
  }
}
