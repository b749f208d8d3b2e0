package dev.doorbell.experiments.results.validation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.run.Interruption;
import dev.doorbell.experiments.run.PointWorkers;
import dev.doorbell.experiments.scenario.SessionRuntime;
import dev.doorbell.experiments.workbench.validation.CheckedRow;
import dev.doorbell.experiments.workbench.validation.ModelMachine;
import dev.doorbell.experiments.workbench.validation.RowFile;
import dev.doorbell.experiments.workbench.validation.StoredResults;
import dev.doorbell.experiments.workbench.validation.Validation;
import dev.doorbell.experiments.workbench.validation.ValidationResults;
import dev.doorbell.experiments.workbench.validation.ValidationResults.RowErrors;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** docs/validation.md and the results that come along are what the command says. */
class ValidationPageTest {
  private static final Path PAGE = Path.of("../docs/validation.md");
  private static final String REWRITE =
      "run: ./doorbell validate-model -o experiments/validation --fmt md > docs/validation.md";

  private final ExperimentRuntime runtime = new SessionRuntime();

  @Test
  void the_page_is_made_of_the_stored_results() throws Exception {
    ValidationPage.Background background = ValidationPage.Background.of(runtime.names());
    assertThat(Files.readString(PAGE))
        .as(REWRITE)
        .isEqualTo(new ValidationPage(StoredResults.builtIn(), background).text());
  }

  @Test
  void the_readme_has_the_errors_of_rows_to_which_nothing_was_fitted() throws Exception {
    List<CheckedRow> posts =
        StoredResults.builtIn().rows().stream()
            .filter(row -> !row.row().config().startsWith(ValidationPage.DMA))
            .toList();
    RowErrors predicted = RowErrors.of(ValidationResults.predicted(posts));
    int follow = RowErrors.of(ValidationResults.following(posts)).rows();
    assertThat(Files.readString(Path.of("../README.md")).replaceAll("\\s+", " "))
        .contains("fitted to %d of the".formatted(predicted.rows() + follow))
        .contains("%d follow from others, and".formatted(follow))
        .contains(
            "the other %d is off by %s, the worst by %s;"
                .formatted(
                    predicted.rows(),
                    ValidationTables.percent(predicted.median()),
                    ValidationTables.percent(predicted.worst())));
  }

  @Test
  void the_stored_results_are_of_these_rows_and_machines() {
    ValidationResults stored = StoredResults.builtIn();
    List<ModelMachine> machines =
        ModelMachine.builtIn().stream().filter(machine -> !machine.rows().isEmpty()).toList();
    assertThat(stored.rows())
        .as(REWRITE)
        .extracting(checked -> checked.row().id())
        .containsAll(RowFile.builtIn().stream().map(row -> row.id()).toList());
    assertThat(stored.machines())
        .as(REWRITE)
        .extracting(ValidationResults.Machine::topology)
        .containsExactlyElementsOf(machines.stream().map(ModelMachine::topology).toList());
  }

  @Test
  @Tag("slow")
  void the_stored_results_are_what_the_rows_give() throws Exception {
    List<ModelMachine> machines =
        ModelMachine.builtIn().stream().filter(machine -> !machine.rows().isEmpty()).toList();
    List<CheckedRow> rows =
        new Validation(runtime, PointWorkers.ofMachine(new Interruption()))
            .check(RowFile.builtIn(), machines);
    assertThat(StoredResults.text(ValidationResults.of(machines, rows)))
        .as(REWRITE)
        .isEqualTo(StoredResults.text(StoredResults.builtIn()));
  }
}
