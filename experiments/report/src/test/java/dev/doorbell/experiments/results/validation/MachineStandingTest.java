package dev.doorbell.experiments.results.validation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant.Origin;
import dev.doorbell.experiments.workbench.validation.CheckedRow;
import dev.doorbell.experiments.workbench.validation.CheckedRow.State;
import dev.doorbell.experiments.workbench.validation.ModelMachine;
import dev.doorbell.experiments.workbench.validation.Row;
import dev.doorbell.experiments.workbench.validation.ValidationResults;
import java.util.List;
import org.junit.jupiter.api.Test;

class MachineStandingTest {
  private static CheckedRow row(String id, boolean fitted, double modelled) {
    Row row = new Row(id, "lab", "a put", "", "issue", 1, "us", "", 0.15, "rows.csv:2");
    return new CheckedRow(row, "mine", fitted, modelled, State.RUN, "");
  }

  private static ModelMachine machine(String hash) {
    return new ModelMachine(
        "mine",
        List.of("lab"),
        "both, one at a time: median error 12 %",
        List.of(
            new Constant("gpu0.fence_ns", 1, "ns", Origin.FITTED, "one"),
            new Constant("gpu0.load_ns", 1, "ns", Origin.ASSUMED, "")),
        hash);
  }

  private static final ValidationResults STORED =
      ValidationResults.of(
          List.of(machine("new")), List.of(row("one", true, 1.02), row("two", false, 0.8)));

  @Test
  void constants_are_counted_by_origin_and_errors_apart_for_rows_that_were_not_fitted_to() {
    assertThat(MachineStanding.text(machine("new"), STORED))
        .isEqualTo(
            """
            # 2 constants: 0 measured here, 1 fitted, 0 cited, 1 assumed
            # tested on 2 published rows of lab: median error 11 %, worst 20 % (two), 50 % within 15 %
            # of these, not fitted to: 1, median error 20 %, worst 20 % (two), 0.0 % within 15 %
            # left out of the fit: both, one at a time: median error 12 %
            """);
  }

  @Test
  void an_error_of_an_older_topology_is_said_to_be_stale() {
    assertThat(MachineStanding.text(machine("old"), STORED))
        .contains("# STALE: the topology has changed since; doorbell validate-model mine\n");
  }

  @Test
  void a_topology_without_rows_says_so() {
    ModelMachine other = new ModelMachine("other", List.of(), "", List.of(), "");
    assertThat(MachineStanding.text(other, STORED)).endsWith("# tested on no published row\n");
  }
}
