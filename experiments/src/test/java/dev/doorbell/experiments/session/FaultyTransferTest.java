package dev.doorbell.experiments.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.Vocabulary;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Kernels whose transfers a fault plan hurts, in virtual time. */
class FaultyTransferTest {
  private static final String CONFIG =
      """
      experiment: faulty
      question: Do kernels get over it?
      kernel: put_bandwidth
      axes:
        path: [pull]
        size: [16K]
      fixed:
        mtu: 1024
      measure:
        metrics: [goodput]
        samples: 1
      faults:
      """;

  private final List<FaultTally> tallies = new ArrayList<>();

  private final PointContext context =
      new PointContext() {
        @Override
        public boolean cancelled() {
          return false;
        }

        @Override
        public void log(String line) {}

        @Override
        public void faults(List<FaultTally> told) {
          tallies.clear();
          tallies.addAll(told);
        }
      };

  private PointResult run(String... faults) throws Exception {
    String text = CONFIG + "  - " + String.join("\n  - ", faults) + "\n";
    SessionRuntime runtime = new SessionRuntime();
    List<Point> points =
        Plan.of(new ConfigReader(Vocabulary.anything()).read("faulty.yaml", text, List.of()))
            .points();
    return runtime
        .runner(runtime.choose(new Environment.Wish("auto", "auto", "virtual")))
        .run(points.getFirst(), context);
  }

  @Test
  void a_lossy_wire_costs_goodput_and_no_byte() throws Exception {
    PointResult sound = run("{ do: lose, at: packet 1000000 }");
    assertThat(tallies).singleElement().satisfies(t -> assertThat(t.fired()).isZero());
    PointResult lossy =
        run(
            "{ do: lose, at: packet 10-400, every: 37, target: rank0 }",
            "{ do: duplicate, chance: 2% }",
            "{ do: reorder, chance: 2%, by: 3 }");
    assertThat(lossy.verifiedBytes()).isEqualTo(sound.verifiedBytes()).isPositive();
    assertThat(lossy.samples().getFirst().values()[0])
        .isLessThan(sound.samples().getFirst().values()[0]);
    assertThat(tallies).hasSize(3).allSatisfy(t -> assertThat(t.fired()).isPositive());
    List<FaultTally> first = List.copyOf(tallies);
    assertThat(
            run(
                "{ do: lose, at: packet 10-400, every: 37, target: rank0 }",
                "{ do: duplicate, chance: 2% }",
                "{ do: reorder, chance: 2%, by: 3 }"))
        .as("the same seed")
        .isEqualTo(lossy);
    assertThat(tallies).isEqualTo(first);
  }

  @Test
  void an_error_cqe_ends_a_kernel_and_says_which_wqe_and_why() {
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class,
            () ->
                run(
                    "{ do: cqe-error, at: wqe 7, target: rank0, syndrome: 0x15, must_fire: true }"));
    assertThat(failure.problem().text())
        .contains("DB-P001", "error completion", "syndrome 0x15", "WQE 7");
    assertThat(tallies).singleElement().satisfies(t -> assertThat(t.fired()).isOne());
  }
}
