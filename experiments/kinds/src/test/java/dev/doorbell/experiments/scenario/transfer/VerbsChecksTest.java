package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.Basis;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.SessionRuntime;
import dev.doorbell.experiments.scenario.device.RealHca;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.push.PushKind;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class VerbsChecksTest {
  private static final ExperimentKind<?> TRANSFERS = new TransferKind();
  private static final HcaAttributes CAPABLE = attributes(1 << 20, 256);
  private static final HcaAttributes PLAIN = attributes(0, 0);

  private static HcaAttributes attributes(long onChip, int blueFlame) {
    return new HcaAttributes(64, 4096, 16, 4096, 204, onChip, blueFlame, 1 << 30, 16);
  }

  private static ExecutionBackend on(String hca, HcaAttributes attributes, int ordinal) {
    return new ExecutionBackend.Verbs(
        Objects.requireNonNull(RealHca.of(hca)), attributes, ordinal, Basis.EMULATED);
  }

  private static Point point(String path, String... more) throws Exception {
    String text =
        """
        experiment: checked
        question: Does a device have what a point needs?
        kernel: put_latency
        axes:
          path: [%s]
          size: [64]
        measure:
          metrics: [latency]
          samples: 1
        """
            .formatted(path);
    return Plan.of(
            new ConfigReader(Vocabulary.anything()).read("checked.yaml", text, List.of(more)))
        .points()
        .getFirst();
  }

  private static List<Problem> problems(
      ExperimentKind<?> kind, Point point, ExecutionBackend backend) {
    List<Problem> problems = new ArrayList<>();
    kind.check(point, backend, problems);
    return problems;
  }

  @Test
  void a_capable_device_is_refused_nothing() throws Exception {
    for (TransferPath path : TransferPath.values()) {
      assertThat(
              problems(
                  TRANSFERS, point(path.word()), on("mlx5", CAPABLE, ExecutionBackend.Verbs.VM)))
          .as(path.word())
          .isEmpty();
    }
  }

  @Test
  void paths_of_the_blueflame_register_need_one() throws Exception {
    for (String path : List.of("pull.bf", "push.bf")) {
      assertThat(problems(TRANSFERS, point(path), on("mlx5", PLAIN, ExecutionBackend.Verbs.VM)))
          .singleElement()
          .satisfies(
              problem -> {
                assertThat(problem.code()).isEqualTo("DB-P022");
                assertThat(problem.what()).contains(path, "no BlueFlame register", "hca: mlx5");
                assertThat(problem.fix()).contains("path=pull,push.inline");
              });
    }
    assertThat(problems(TRANSFERS, point("proxy"), on("mlx5", PLAIN, ExecutionBackend.Verbs.VM)))
        .isEmpty();
  }

  @Test
  void on_chip_memory_a_small_ring_and_faults_are_told_with_their_fix() throws Exception {
    assertThat(
            problems(
                TRANSFERS,
                point("push.memic"),
                on("mlx5", attributes(4096, 256), ExecutionBackend.Verbs.VM)))
        .singleElement()
        .satisfies(problem -> assertThat(problem.what()).contains("4096 bytes of on-chip memory"));
    assertThat(
            problems(
                TRANSFERS,
                point("pull", "depth=8"),
                on("mlx5", CAPABLE, ExecutionBackend.Verbs.VM)))
        .singleElement()
        .satisfies(problem -> assertThat(problem.fix()).contains("from 16 to 4096"));
  }

  @Test
  void points_that_need_parts_of_software_hcas_are_refused() throws Exception {
    assertThat(
            problems(new PushKind(), point("pull"), on("mlx5", CAPABLE, ExecutionBackend.Verbs.VM)))
        .singleElement()
        .satisfies(problem -> assertThat(problem.fix()).isEqualTo("use hca: soft"));
  }

  @Test
  void a_real_hca_has_no_virtual_time_and_no_second_process() throws Exception {
    SessionRuntime runtime = new SessionRuntime();
    assertThatThrownBy(() -> runtime.choose(new Environment.Request("vm", "mlx5", "virtual")))
        .isInstanceOfSatisfying(
            EnvironmentException.class,
            refused -> assertThat(refused.problem().fix()).contains("clock: wall"));
  }
}
