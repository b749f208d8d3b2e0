package dev.doorbell.experiments.workbench.validation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.run.Interruption;
import dev.doorbell.experiments.run.PointWorkers;
import dev.doorbell.experiments.scenario.SessionRuntime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.math3.linear.RealVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlindTestTest {
  private static final String ROWS =
      """
      id,machine,what,setup,metric,value,unit,config
      near,nfp-bdw,a read,,latency,546,ns,dma: transfer=read-latency bytes=8
      later,nfp-bdw,a read,,latency,,ns,dma: transfer=read-latency bytes=64
      """;

  @TempDir private Path folder;

  private String predict(Path file, List<ModelMachine> machines) throws Exception {
    return BlindTest.predict(
        new Validation(new SessionRuntime(), PointWorkers.ofMachine(new Interruption())),
        RowFile.loadBlind(file),
        machines,
        Instant.parse("2026-11-28T16:00:00.5Z"),
        row -> {});
  }

  @Test
  void rows_are_predicted_without_their_values_and_compared_when_they_have_some() throws Exception {
    Path file = Files.writeString(folder.resolve("rows.csv"), ROWS);
    List<ModelMachine> machines = List.of(ModelMachine.load("pciebench-nfp-bdw"));
    assertThat(RowFile.loadBlind(file)).extracting(Row::value).containsOnly(Double.NaN);
    String predicted = predict(file, machines);
    assertThat(BlindTest.date(predicted)).isEqualTo("2026-11-28T16:00:00Z");
    assertThat(predicted).doesNotContain("546,");
    // What was measured does not change what was predicted.
    Path other = Files.writeString(folder.resolve("other.csv"), ROWS.replace("546", "1000"));
    assertThat(predict(other, machines)).isEqualTo(predicted);
    List<CheckedRow> compared =
        BlindTest.compare("p", predicted, RowFile.loadUnsealed(other), machines);
    assertThat(compared).extracting(row -> row.row().id()).containsExactly("near");
    assertThat(compared.getFirst().error()).isCloseTo(-0.45, within(0.02));
  }

  @Test
  void predictions_that_were_changed_are_refused() throws Exception {
    Path file = Files.writeString(folder.resolve("rows.csv"), ROWS);
    List<ModelMachine> machines = List.of(ModelMachine.load("pciebench-nfp-bdw"));
    String changed =
        predict(file, machines).replace("read-latency bytes=8", "read-latency bytes=9");
    assertThatThrownBy(() -> BlindTest.compare("p", changed, RowFile.loadUnsealed(file), machines))
        .isInstanceOfSatisfying(
            ConfigException.class,
            e -> assertThat(e.problems().getFirst().what()).contains("were changed"));
  }

  @Test
  void a_row_that_is_a_sum_of_others_joins_no_basis() {
    List<RealVector> basis = new ArrayList<>();
    assertThat(LeastSquares.joins(new double[] {1, 0, 2}, basis, 0.2)).isTrue();
    assertThat(LeastSquares.joins(new double[] {0, 3, 1}, basis, 0.2)).isTrue();
    assertThat(LeastSquares.joins(new double[] {2, 3, 5}, basis, 0.2)).isFalse();
    assertThat(LeastSquares.joins(new double[] {0, 0, 0}, basis, 0.2)).isFalse();
    assertThat(LeastSquares.joins(new double[] {1, 1, 0}, basis, 0.2)).isTrue();
    assertThat(basis).hasSize(3);
  }

  @Test
  void a_step_brings_rows_to_what_was_measured() {
    // Two parameters, three rows, of which one is left out.
    double[] step =
        LeastSquares.step(
            new double[] {0.1, 0.3, Double.NaN},
            List.of(new double[] {1, 0, 5}, new double[] {0, 1, 7}));
    assertThat(step[0]).isCloseTo(0.1, within(1e-3));
    assertThat(step[1]).isCloseTo(0.3, within(1e-3));
  }
}
