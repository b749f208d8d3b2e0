package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.PointBench;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  private final PointBench bench = new PointBench();

  private PointResult run(String... faults) throws Exception {
    return runOn("pull", faults);
  }

  private PointResult runOn(String path, String... faults) throws Exception {
    String text =
        CONFIG.replace("[pull]", "[%s]".formatted(path))
            + "  - "
            + String.join("\n  - ", faults)
            + "\n";
    return bench.run(PointBench.points(text).getFirst());
  }

  @Test
  void a_lossy_wire_costs_goodput_and_no_byte() throws Exception {
    PointResult sound = run("{ do: lose, at: packet 1000000 }");
    assertThat(bench.tallies()).singleElement().satisfies(t -> assertThat(t.fired()).isZero());
    PointResult lossy =
        run(
            "{ do: lose, at: packet 10-400, every: 37, target: rank0 }",
            "{ do: duplicate, chance: 2% }",
            "{ do: reorder, chance: 2%, by: 3 }");
    assertThat(lossy.verifiedBytes()).isEqualTo(sound.verifiedBytes()).isPositive();
    assertThat(lossy.samples().getFirst().values()[0])
        .isLessThan(sound.samples().getFirst().values()[0]);
    assertThat(bench.tallies()).hasSize(3).allSatisfy(t -> assertThat(t.fired()).isPositive());
    List<FaultTally> first = List.copyOf(bench.tallies());
    assertThat(
            run(
                "{ do: lose, at: packet 10-400, every: 37, target: rank0 }",
                "{ do: duplicate, chance: 2% }",
                "{ do: reorder, chance: 2%, by: 3 }"))
        .as("the same seed")
        .isEqualTo(lossy);
    assertThat(bench.tallies()).isEqualTo(first);
  }

  @Test
  void an_error_cqe_ends_a_kernel_and_says_which_wqe_and_why() {
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class,
            () ->
                run(
                    "{ do: cqe-error, at: wqe 7, target: rank0, syndrome: 0x15, must_fire: true"
                        + " }"));
    assertThat(failure.problem().text())
        .contains("DB-P001", "error completion", "syndrome 0x15", "WQE 7");
    assertThat(bench.tallies()).singleElement().satisfies(t -> assertThat(t.fired()).isOne());
  }

  @Test
  void without_on_chip_memory_pushing_to_it_fails_and_says_what_was_asked_for() {
    PointFailure failure =
        catchThrowableOfType(
            PointFailure.class,
            () -> runOn("push.memic", "{ do: memic-exhausted, target: rank0, must_fire: true }"));
    assertThat(failure.problem().text())
        .contains("DB-P008", "262144 bytes of on-chip memory", "fault plan");
    assertThat(bench.tallies())
        .singleElement()
        .satisfies(
            tally -> {
              assertThat(tally.fired()).isOne();
              assertThat(tally.missed()).isFalse();
            });
  }

  @Test
  void a_fault_that_a_path_never_meets_is_missed_if_it_must_fire() throws Exception {
    assertThat(run("{ do: memic-exhausted, must_fire: true }").verifiedBytes()).isPositive();
    assertThat(run("{ do: rnr, must_fire: true }").verifiedBytes())
        .as("a put takes no receive")
        .isPositive();
    assertThat(bench.tallies())
        .singleElement()
        .satisfies(
            tally -> {
              assertThat(tally.events()).isZero();
              assertThat(tally.missed()).isTrue();
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lose, at: packet 20",
        "duplicate, at: packet 20",
        "reorder, at: packet 20, by: 2",
        "delay, at: packet 20, for: 10us",
        "corrupt, at: packet 20",
        "cqe-error, at: wqe 3, syndrome: 0x15",
        "qp-error, at: wqe 3",
        "qp-error, at: packet 20",
        "doorbell-lost, at: doorbell 3",
        "doorbell-late, at: doorbell 3, for: 10us",
        "doorbell-twice, at: doorbell 3",
        "record-stale, at: doorbell 0",
        "cqe-late, at: cqe 3, for: 10us",
        "link-down, at: packet 20, for: 10us",
        "mtu-mismatch, at: connect 0, mtu: 4096",
        "wrong-gid, at: connect 0",
        "relaxed-ordering, at: payload 3, for: 10us"
      })
  void every_fault_that_a_put_can_meet_happens_and_is_counted(String fault) throws Exception {
    try {
      assertThat(run("{ do: " + fault + ", must_fire: true }").verifiedBytes()).isPositive();
    } catch (PointFailure e) {
      // What the fault is meant to do; that it says so is the business of other tests.
      assertThat(e.problem().text()).contains("DB-P");
    }
    assertThat(bench.tallies())
        .singleElement()
        .satisfies(
            tally -> {
              assertThat(tally.fired()).as(fault).isPositive();
              assertThat(tally.events()).isGreaterThanOrEqualTo(tally.fired());
              assertThat(tally.missed()).isFalse();
            });
  }
}
