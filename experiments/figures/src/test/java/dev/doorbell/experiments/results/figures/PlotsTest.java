package dev.doorbell.experiments.results.figures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.plan.ModelConstant;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.plan.Timeline.Kind;
import dev.doorbell.experiments.plan.Timeline.Step;
import dev.doorbell.experiments.results.figures.Plots.PlotFormat;
import dev.doorbell.experiments.run.RunData;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Figures compared byte by byte with those that somebody has looked at. After a change that is
 * meant: {@code -Ddoorbell.golden=write}, and look at what has changed.
 */
class PlotsTest {
  private static final Path GOLDEN =
      Path.of("figures/src/test/resources/dev/doorbell/experiments/figures");

  private static final RunData RUN = ModelledRun.USUAL;

  /** One size of it, so that bars and distributions have one panel a placement. */
  private static RunData oneSize() {
    return ModelledRun.with(
        RUN,
        RUN.axes(),
        RUN.rows().stream().filter(row -> ModelledRun.size(row) == 64).toList(),
        RUN.figures(),
        RUN.basis());
  }

  /** The point whose prediction and message are shown. */
  private static final List<Point> POINTS =
      List.of(
          new Point(
              0,
              "pull_64",
              "7f3a91c2",
              List.of(),
              new LinkedHashMap<>(),
              new LinkedHashMap<>(),
              1,
              List.of("latency"),
              0,
              1,
              1,
              Duration.ofSeconds(1),
              FaultPlan.NONE));

  private static RunData run(FigureKind kind) {
    return switch (kind) {
      case BAR, CDF -> narrowed(oneSize());
      default -> RUN;
    };
  }

  private static RunData narrowed(RunData data) {
    return ModelledRun.with(
        data,
        data.axes().stream()
            .map(
                axis ->
                    axis.name().equals("size")
                        ? new dev.doorbell.experiments.config.value.Axis(
                            "size", "B", List.of(axis.values().get(3)))
                        : axis)
            .toList(),
        data.rows(),
        data.figures(),
        data.basis());
  }

  static Plots plots(FigureKind kind) throws Unplottable {
    return figures(run(kind)).one(FigureSpec.of(kind));
  }

  private static Figures figures(RunData run) {
    return new Figures(run, POINTS, () -> new Explaining(influences(), timeline()));
  }

  private static List<Influence> influences() {
    List<Influence> influences = new ArrayList<>();
    for (int i = 0; i < 15; i++) {
      ModelConstant constant =
          new ModelConstant(
              "near.gpu0.price" + i + "_ns", 100 + i, "ns", ModelConstant.Origin.CITED, "a book");
      double swing = 400.0 / (i + 1);
      influences.add(
          new Influence(constant, 80 + i, 120 + i, 2000 - swing, 2000 + swing / 2, "±20 %"));
    }
    return influences;
  }

  private static Timeline timeline() {
    String gpu = "rank0.gpu0";
    String nic = "rank0.nic0";
    String far = "rank1.nic0";
    return new Timeline(
        "one message, pull_64",
        List.of(
            new Step(0, 25, gpu, gpu, Kind.WQE_STORE, 48, "WQE"),
            new Step(25, 285, gpu, gpu, Kind.FENCE, 0, "fence"),
            new Step(285, 285, gpu, gpu, Kind.DOORBELL_STORE, 8, "doorbell"),
            new Step(285, 945, gpu, nic, Kind.WRITE_TLP, 8, "MWr"),
            new Step(945, 945, nic, nic, Kind.DOORBELL, 8, "doorbell"),
            new Step(995, 1655, nic, gpu, Kind.READ_TLP, 64, "MRd"),
            new Step(1955, 2615, gpu, nic, Kind.COMPLETION_TLP, 64, "CplD"),
            new Step(2615, 2615, nic, nic, Kind.WQE, 64, "WQE"),
            new Step(2700, 3700, nic, far, Kind.PACKET, 146, "frame"),
            new Step(3700, 3700, nic, nic, Kind.CQE, 64, "CQE")));
  }

  @ParameterizedTest
  @EnumSource
  void a_figure_has_the_bytes_that_were_looked_at(FigureKind kind) throws IOException, Unplottable {
    var drawing = plots(kind).drawings().firstEntry().getValue();
    String svg = new String(drawing.svg(), StandardCharsets.UTF_8);
    Path golden = GOLDEN.resolve(kind.word() + ".svg");
    if ("write".equals(System.getProperty("doorbell.golden"))) {
      Files.createDirectories(GOLDEN);
      Files.writeString(golden, svg);
      Files.write(
          Files.createDirectories(Path.of("figures/target/figures")).resolve(kind.word() + ".png"),
          drawing.png(drawing.pdf()));
    }
    assertThat(svg).isEqualTo(Files.readString(golden));
  }

  @ParameterizedTest
  @EnumSource
  void a_figure_says_its_basis_run_and_config_and_is_one_or_two_columns_wide(FigureKind kind)
      throws Unplottable {
    plots(kind)
        .drawings()
        .forEach(
            (name, drawing) -> {
              String svg = new String(drawing.svg(), StandardCharsets.UTF_8);
              assertThat(svg)
                  .as(name)
                  .contains(">modelled (", "run " + RUN.runId(), "config=\"7f3a91c2\"");
              assertThat(drawing.width()).as(name).isIn(240.0, 504.0);
            });
  }

  @Test
  void every_type_is_written_on_demand() throws Unplottable {
    assertThat(plots(FigureKind.TORNADO).files(EnumSet.allOf(PlotFormat.class)).keySet())
        .containsExactly(
            "tornado-latency-pull-64.svg",
            "tornado-latency-pull-64.pdf",
            "tornado-latency-pull-64.png");
  }

  @Test
  void a_tornado_puts_what_matters_most_on_top_and_counts_what_it_leaves_out() throws Unplottable {
    String svg =
        new String(
            plots(FigureKind.TORNADO).drawings().firstEntry().getValue().svg(),
            StandardCharsets.UTF_8);
    assertThat(svg.indexOf("row-gpu0-price0-ns")).isLessThan(svg.indexOf("row-gpu0-price1-ns"));
    assertThat(svg).contains("3 weaker left out").doesNotContain("row-gpu0-price12-ns");
  }

  @Test
  void a_heat_map_names_the_winner_and_calls_nobody_ahead_where_intervals_overlap()
      throws Unplottable {
    String svg =
        new String(
            plots(FigureKind.HEATMAP).drawings().firstEntry().getValue().svg(),
            StandardCharsets.UTF_8);
    // At 8 bytes one trip beats all others everywhere.
    assertThat(svg).contains("id=\"cell-0-0\" class=\"series-push-bf\"");
    RunData same =
        ModelledRun.with(
            RUN,
            RUN.axes(),
            RUN.rows().stream()
                .map(
                    row ->
                        new dev.doorbell.experiments.run.SummaryRow(
                            row.pointId(),
                            row.axes(),
                            RUN.rows().getFirst().metrics(),
                            row.counters(),
                            row.seed()))
                .toList(),
            RUN.figures(),
            RUN.basis());
    assertThat(
            new String(
                figures(same)
                    .one(FigureSpec.of(FigureKind.HEATMAP))
                    .drawings()
                    .firstEntry()
                    .getValue()
                    .svg(),
                StandardCharsets.UTF_8))
        .contains("undecided");
  }

  @Test
  void what_a_run_cannot_give_is_refused_with_advice() {
    Figures figures = figures(RUN);
    assertThatThrownBy(() -> figures.one(FigureSpec.of(FigureKind.CDF)))
        .isInstanceOf(Unplottable.class)
        .hasMessageContaining("54 panels");
    assertThatThrownBy(() -> figures.one(lines("sise", "latency")))
        .hasMessageContaining("did you mean 'size'");
    assertThatThrownBy(() -> figures.one(lines("placement", "latency")))
        .hasMessageContaining("holds words");
    assertThatThrownBy(() -> figures.one(lines("size", "latencies")))
        .hasMessageContaining("no samples of 'latencies'");
  }

  private static FigureSpec lines(String x, String y) {
    return ModelledRun.line("f", x, y, "path", "", true, true);
  }
}
