package dev.doorbell.experiments.results.figures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.results.print.Names;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.Table.Column;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.results.tables.RunTables;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TablesTest {

  private static final RunData RUN = ModelledRun.USUAL;

  private static final Table TINY =
      new Table(
          List.of(new Column("path", false), new Column("p50 µs", true)),
          List.of(List.of("push_a|b", "1.5"), List.of("pull", "−0.3\u00A0%")),
          List.of("basis: modelled"));

  @Test
  void text_lines_columns_up_and_leaves_no_space_at_the_end() {
    assertThat(TINY.text())
        .isEqualTo(
            """
            path      p50 µs
            push_a|b     1.5
            pull      −0.3 %
            basis: modelled
            """);
  }

  @Test
  void markdown_aligns_numbers_and_escapes_bars() {
    assertThat(TINY.markdown())
        .isEqualTo(
            """
            | path | p50 µs |
            | --- | ---: |
            | push_a\\|b | 1.5 |
            | pull | −0.3 % |

            basis: modelled
            """);
  }

  @Test
  void latex_uses_booktabs_and_escapes_what_is_special() {
    assertThat(TINY.latex())
        .isEqualTo(
            """
            \\sbox0{\\begin{tabular}{lr}
            \\toprule
            path & p50 $\\mu$s \\\\
            \\midrule
            push\\_a$|$b & 1.5 \\\\
            pull & $-$0.3~\\% \\\\
            \\bottomrule
            \\end{tabular}}%
            \\parbox{\\wd0}{\\usebox0\\par\\vskip2pt\\footnotesize\\raggedright
            basis: modelled\\par
            }
            """);
  }

  @Test
  void the_summary_has_a_row_a_point_with_interval_model_and_basis() {
    RunData run = ModelledRun.of(1, 42);
    List<SummaryRow> one =
        run.rows().stream().filter(row -> row.pointId().equals("pull-same-switch-512")).toList();
    String text = RunTables.summary(run.with(run.axes(), one)).text();
    assertThat(text)
        .contains("latency p50 µs", "goodput p50 GB/s", "≤ 27.76")
        .containsPattern("2\\.69 +1 +2\\.69 ") // a3 at 512 B by hand: 2691 ns; one sample
        .doesNotContain("CI]", "p99")
        .contains("basis: modelled (virtual time)");
    assertThat(RunTables.summary(RUN).rows()).hasSize(RUN.rows().size());
  }

  @Test
  void the_column_of_credits_says_which_rows_test_a_point_once_for_all_metrics() {
    RunTables.Look look =
        new RunTables.Look(
            List.of(RunTables.Statistic.P50, RunTables.Statistic.CREDIT),
            Map.of(RUN.rows().getFirst().pointId(), "3 rows, worst 9 %"));
    String text = RunTables.summary(RUN, look, false).text(10_000);
    assertThat(text).containsOnlyOnce("tested by").containsOnlyOnce("3 rows, worst 9 %");
    assertThat(RunTables.summary(RUN).text(10_000)).doesNotContain("tested by");
  }

  @Test
  void a_narrow_terminal_gets_blocks_that_each_say_which_row_it_is() {
    RunData counted = ModelledRun.counted(RUN);
    Table table = RunTables.summary(counted, new RunTables.Look(RunTables.USUAL), true).ascii();
    String text = table.text(80);
    assertThat(text.lines()).allMatch(line -> line.length() <= 80);
    assertThat(text.split("\n\n")).hasSizeGreaterThan(1);
    assertThat(text.split("\n\n")).allMatch(block -> block.startsWith("path "));
    for (Column column : table.columns()) {
      assertThat(text).contains(column.heading());
    }
    assertThat(table.text(10_000)).isEqualTo(table.text());
  }

  @Test
  void a_tabular_alone_has_neither_box_nor_notes() {
    Table table =
        new TableBuilder<String>()
            .left("path", row -> row)
            .right("size", row -> row.equals("pull") ? "4 KiB" : "1 MiB")
            .group("metric latency")
            .right("latency p50 µs", row -> row.equals("pull") ? "12.00579" : Names.NONE)
            .left("[95 % CI]", row -> row.equals("pull") ? "[0.005, 12.3]" : Names.NONE)
            .right("vs. form", row -> row.equals("pull") ? "−0.3\u00A0%" : "+11.25\u00A0%")
            .table(List.of("pull", "push"), List.of("a note"));
    assertThat(table.bareLatex())
        .contains("{lrrlr}", "latency p50 $\\mu$s &", "push & 1 MiB & --")
        .doesNotContain("a note", "sbox", "{latency");
  }

  @Test
  void crossovers_say_who_leads_up_to_where() {
    String text = RunTables.crossovers(ModelledRun.of(1, 42)).text();
    assertThat(text).containsPattern("pull\\.bf / staged +cross-socket +pull\\.bf +1[67]\\S* KiB");
    assertThat(text).containsPattern("pull / push\\.memic +cross-socket +push\\.memic +all sizes");
  }

  @Test
  void tables_have_the_same_bytes_when_rebuilt() {
    RunData once = ModelledRun.of(6, 42);
    RunData again = ModelledRun.of(6, 42);
    assertThat(RunTables.summary(again).text()).isEqualTo(RunTables.summary(once).text());
    assertThat(RunTables.crossovers(again).latex()).isEqualTo(RunTables.crossovers(once).latex());
    assertThat(RunTables.summary(again).markdown()).isEqualTo(RunTables.summary(once).markdown());
  }

  @Test
  void an_axis_with_one_value_is_a_note_and_no_column() {
    Table table = RunTables.summary(ModelledRun.of(List.of("cross-rc"), 3, 1));
    assertThat(table.columns()).extracting(Column::heading).doesNotContain("placement");
    assertThat(table.notes()).startsWith("all at placement cross-rc");
  }

  @Test
  void a_run_without_counters_has_no_table_of_them() {
    assertThat(RunTables.counters(ModelledRun.of(1, 1)).rows()).isEmpty();
  }

  @Test
  void counters_are_shown_in_full() {
    RunData counted = ModelledRun.counted(ModelledRun.of(List.of("cross-rc"), 1, 1));
    assertThat(RunTables.counters(counted).text())
        .contains("tlp bytes B", "fences")
        .containsPattern("pull +1 MiB +1048576 +2");
  }
}
