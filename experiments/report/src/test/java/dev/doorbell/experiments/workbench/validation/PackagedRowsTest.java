package dev.doorbell.experiments.workbench.validation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.workbench.validation.RowFile.Bindings;
import dev.doorbell.experiments.workbench.validation.Validation.DmaRow;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The rows that come with the program. */
class PackagedRowsTest {
  private static final List<Row> ROWS = RowFile.builtIn();

  @Test
  void no_two_rows_have_the_same_id() {
    assertThat(ROWS).hasSizeGreaterThan(35).extracting(Row::id).doesNotHaveDuplicates();
  }

  @Test
  void every_row_has_a_config_or_a_reason_that_can_be_read() {
    assertThat(ROWS)
        .allSatisfy(
            row -> {
              assertThat(row.config()).as(row.id()).isNotEmpty();
              if (DmaRow.is(row.config())) {
                assertThat(DmaRow.setting(row.config()).bytes()).as(row.id()).isPositive();
                return;
              }
              RowConfig config = RowConfig.parse(row.id(), row.config());
              assertThat(config.terms().isEmpty()).isEqualTo(config.reason() != null);
            });
  }

  @Test
  void every_binding_is_of_a_row() {
    Set<String> ids = ROWS.stream().map(Row::id).collect(Collectors.toSet());
    assertThat(ids).containsAll(Bindings.builtIn().configs().keySet());
  }

  @Test
  void sources_name_rows_one_by_one_or_by_their_beginning() {
    String source =
        "koc.gda.inline.rtt and koc.order.*, less the stages that loom.write.host shows";
    assertThat(ModelMachine.names(source, "koc.gda.inline.rtt")).isTrue();
    assertThat(ModelMachine.names(source, "koc.order.system.done")).isTrue();
    assertThat(ModelMachine.names(source, "loom.write.host")).isTrue();
    assertThat(ModelMachine.names(source, "koc.gda.inline")).isFalse();
    assertThat(ModelMachine.names("koc.cqe.", "koc.cqe")).isTrue();
    assertThat(ModelMachine.names("koc.cqe: a stage", "koc.cqe")).isTrue();
  }
}
