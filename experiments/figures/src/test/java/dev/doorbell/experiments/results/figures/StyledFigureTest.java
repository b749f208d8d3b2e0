package dev.doorbell.experiments.results.figures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.config.figure.FigureReader;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.results.figures.Plots.PlotFormat;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a figure's description says about its looks is what is drawn. */
class StyledFigureTest {
  private static final RunData RUN = ModelledRun.of(List.of("cross-rc"), 10, 42);

  private static Plots plots(RunData run, String figure) throws ConfigException, Unplottable {
    return figures(run).one(FigureReader.ofText("--figure", figure));
  }

  private static Figures figures(RunData run) {
    return new Figures(
        run,
        List.of(),
        () -> {
          throw new IllegalStateException("samples suffice");
        });
  }

  private static String svg(RunData run, String figure) throws ConfigException, Unplottable {
    return new String(
        plots(run, figure).files(Set.of(PlotFormat.SVG)).firstEntry().getValue(),
        StandardCharsets.UTF_8);
  }

  private static String svg(String figure) throws ConfigException, Unplottable {
    return svg(RUN, figure);
  }

  /** The run with other samples of latency at each point. */
  private static RunData with(Function<SummaryRow, double[]> samples) {
    return RUN.with(
        RUN.axes(),
        RUN.rows().stream()
            .map(
                row -> {
                  SequencedMap<String, MetricRow> metrics = new LinkedHashMap<>();
                  metrics.put(
                      "latency",
                      new MetricRow(
                          Samples.of("latency", "ns", samples.apply(row)), Optional.empty()));
                  return new SummaryRow(
                      row.pointId(), row.axes(), metrics, row.counters(), row.seed());
                })
            .toList());
  }

  @Test
  void names_stand_in_the_legend_and_at_the_axes_while_identifiers_stay() throws Exception {
    String svg =
        svg("{y: latency, names: {pull: NIC pull, size: Bytes, latency: Time, cross-rc: Far}}");
    assertThat(svg)
        .contains(">NIC pull<", ">Bytes<", ">Time<", ">Far<", "class=\"series-pull\"")
        .doesNotContain(">pull<", ">message size<", ">latency, median<");
  }

  /** The run as a sweep of another axis, at some sizes. */
  private static RunData swept(long... sizes) {
    List<Value> small = LongStream.of(sizes).<Value>mapToObj(Value.Whole::new).toList();
    List<Axis> axes = new ArrayList<>(RUN.axes().subList(0, 2));
    axes.add(new Axis("size", "B", small));
    axes.add(new Axis("qps", "", RUN.axes().get(2).values().subList(0, 4)));
    List<SummaryRow> rows = new ArrayList<>();
    for (SummaryRow row : RUN.rows()) {
      if (ModelledRun.size(row) <= 64) {
        for (Value size : small) {
          SequencedMap<String, Value> at = new LinkedHashMap<>(row.axes());
          at.put("qps", new Value.Whole(ModelledRun.size(row)));
          at.put("size", size);
          String id = row.pointId() + "-" + size.text();
          rows.add(new SummaryRow(id, at, row.metrics(), row.counters(), row.seed()));
        }
      }
    }
    return RUN.with(axes, rows);
  }

  private static List<String> asked(RunData run) {
    return figures(run).asked(List.of()).plots().drawings().values().stream()
        .map(drawing -> new String(drawing.svg(), StandardCharsets.UTF_8))
        .toList();
  }

  @Test
  void figures_go_over_the_axis_that_was_swept_where_the_abscissa_of_the_config_has_less_values()
      throws Exception {
    assertThat(asked(swept(64)))
        .hasSize(3)
        .allSatisfy(svg -> assertThat(svg).contains(">qps<").doesNotContain(">qps 8"));
    assertThat(svg(swept(64), "{y: latency, xunit: KiB, x: size}")).contains(">message size (KiB)");
    assertThat(svg(swept(64), "{y: latency}")).contains(">qps<");
    assertThat(asked(swept(8, 64)).getFirst()).contains(">qps<", "message size 64");
    assertThat(asked(swept(8, 16, 32, 64)).getFirst()).contains(">message size<", "qps 8");
  }

  @Test
  void panels_are_not_called_after_what_does_not_vary_and_their_titles_keep_out_of_the_next()
      throws Exception {
    String svg =
        svg(
            swept(8, 16, 32, 64),
            "{y: latency, width: column, names: {qps=16: sixteen queue pairs"
                + " between the two ends}}");
    assertThat(svg)
        .contains(">qps 8<", ">sixteen queue pairs<", ">between the two ends<")
        .doesNotContain("cross-rc,");
  }

  /** A sweep of axes whose values have the same names, and of numbers. */
  private static RunData queues() {
    return queues(List.of("gpu", "host"));
  }

  private static RunData queues(List<String> sqs) {
    List<Value> first = sqs.stream().<Value>map(Value.Text::new).toList();
    List<Value> places = List.of(new Value.Text("gpu"), new Value.Text("host"));
    List<Value> numbers = List.of(new Value.Whole(1), new Value.Whole(8));
    List<Axis> axes =
        List.of(
            new Axis("sq", "", first), new Axis("cq", "", places), new Axis("blocks", "", numbers));
    List<SummaryRow> rows = new ArrayList<>();
    for (Value sq : first) {
      for (Value cq : places) {
        for (Value blocks : numbers) {
          SummaryRow like = RUN.rows().get(rows.size());
          SequencedMap<String, Value> at = new LinkedHashMap<>();
          at.put("sq", sq);
          at.put("cq", cq);
          at.put("blocks", blocks);
          rows.add(
              new SummaryRow(
                  sq.text() + cq.text() + blocks.text(), at, like.metrics(), like.counters(), 1));
        }
      }
    }
    return RUN.with(axes, rows);
  }

  @Test
  void a_name_for_a_value_of_one_axis_stands_for_no_other_axis() throws Exception {
    String names = "names: {sq=gpu: SQ on GPU, cq=gpu: CQ on GPU, cq=host: CQ on host}";
    String bars =
        svg(queues(), "{kind: bar, x: sq, y: latency, series: cq, facet: blocks, " + names + "}");
    assertThat(bars)
        .contains(">SQ on GPU<", ">host<")
        .containsOnlyOnce(">CQ on GPU<")
        .containsOnlyOnce(">CQ on host<");
    String one =
        svg(
            queues(List.of("gpu")),
            "{x: blocks, y: latency, series: cq, facet: sq, names: {cq=gpu: CQ on GPU}}");
    assertThat(one).containsOnlyOnce(">CQ on GPU<").containsOnlyOnce(">sq gpu<");
    assertThat(
            svg(
                queues(List.of("gpu")),
                "{x: blocks, y: latency, series: cq, facet: sq, names: {sq=gpu: ''}}"))
        .doesNotContain(">sq gpu<", ">gpu, ");
  }

  @Test
  void the_name_of_an_axis_stands_beside_its_values_everywhere() throws Exception {
    String named = "names: {blocks: Queue pairs}";
    String x = "x: sq, y: latency, ";
    assertThat(svg(queues(), "{kind: bar, %s series: blocks, facet: cq, %s}".formatted(x, named)))
        .contains(">Queue pairs 8<")
        .doesNotContain(">blocks 8<");
    assertThat(svg(queues(), "{kind: bar, %s series: cq, facet: blocks, %s}".formatted(x, named)))
        .contains(">Queue pairs 8<")
        .doesNotContain(">blocks 8<");
    assertThat(svg(queues(), "{kind: bar, %s series: cq, %s}".formatted(x, named)))
        .contains(">Queue pairs 8<")
        .doesNotContain(">blocks 8<");
  }

  @Test
  void a_renamed_metric_says_what_it_is_relative_to() throws Exception {
    assertThat(svg("{y: latency, relative: pull, names: {latency: Time, pull: NIC pull}}"))
        .contains(">Time, relative to NIC pull<");
    assertThat(svg(ModelledRun.counted(RUN), "{y: goodput, per: fences, names: {goodput: Speed}}"))
        .contains(">Speed per fences (GB/s)<");
  }

  @Test
  void nobody_wins_a_place_by_less_than_what_counts_as_a_change() throws Exception {
    double[] first = {1000, 1000, 1000, 1000, 1000, 1000};
    double[] second = {1005, 1005, 1005, 1005, 1005, 1005};
    double[] third = {1020, 1020, 1020, 1020, 1020, 1020};
    String figure = "{kind: heatmap, x: size, rows: placement, series: path, y: latency,";
    RunData close =
        with(row -> path(row).equals("pull") ? first : path(row).equals("staged") ? second : third);
    assertThat(svg(close, figure + "}"))
        .contains("legend-undecided", "1 %")
        .doesNotContain("legend-pull");
    RunData apart = with(row -> path(row).equals("pull") ? first : third);
    assertThat(svg(apart, figure + "}"))
        .contains("legend-pull")
        .doesNotContain("legend-undecided", "at most");
  }

  private static String path(SummaryRow row) {
    Value path = row.axes().get("path");
    return path == null ? "" : path.text();
  }

  @Test
  void series_stand_in_the_order_that_is_asked_for() throws Exception {
    String svg = svg("{y: latency, order: [staged, pull]}");
    assertThat(svg.indexOf("legend-staged")).isLessThan(svg.indexOf("legend-pull\""));
    assertThat(svg.indexOf("legend-pull\"")).isLessThan(svg.indexOf("legend-pull-bf"));
  }

  @Test
  void a_title_is_printed_and_a_footer_is_not() throws Exception {
    assertThat(svg("{y: latency, title: Who wins, footer: false, caption: All of it}"))
        .contains(">Who wins<", "<title>All of it</title>", "basis=\"modelled\"")
        .doesNotContain(">modelled (", ">run ");
  }

  @ParameterizedTest
  @CsvSource({"column,240pt", "page,504pt", "100mm,283.46pt"})
  void a_width_is_kept_whatever_the_size_of_the_text(String width, String points) throws Exception {
    assertThat(svg("{y: latency, width: %s, fontsize: 10}".formatted(width)))
        .contains("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + points)
        .contains("font-size=\"10\"")
        .doesNotContain("font-size=\"7\"");
  }

  @Test
  void an_axis_has_the_unit_and_the_ends_that_are_asked_for_and_nothing_is_drawn_beyond()
      throws Exception {
    String svg = svg("{y: latency, yunit: us, logy: false, yrange: 2..4, xrange: 64..4K}");
    assertThat(svg).contains(">latency, median (µs)<", ">2<", ">4<", ">64\u00A0B<", ">4\u00A0KiB<");
    assertThat(svg).doesNotContain(">8\u00A0B<", ">1\u00A0MiB<", ">0<");
    Matcher frame =
        Pattern.compile("M([0-9.]+) ([0-9.]+)L\\1 ([0-9.]+)L([0-9.]+) \\3\"").matcher(svg);
    assertThat(frame.find()).isTrue();
    double top = Double.parseDouble(frame.group(2)) - 3;
    double right = Double.parseDouble(frame.group(4)) + 3;
    Matcher lines =
        Pattern.compile("d=\"M[^\"]*\" fill=\"none\" stroke=\"#[0-9a-f]{6}\" stroke-width=\"1.15")
            .matcher(svg.substring(svg.indexOf("panel-")));
    int seen = 0;
    while (lines.find()) {
      Matcher place = Pattern.compile("([0-9.]+) ([0-9.]+)").matcher(lines.group());
      while (place.find()) {
        seen++;
        assertThat(Double.parseDouble(place.group(1))).isLessThan(right);
        assertThat(Double.parseDouble(place.group(2))).isGreaterThan(top);
      }
    }
    assertThat(seen).isGreaterThan(4);
  }

  @Test
  void a_series_relative_to_itself_is_one_and_the_others_are_multiples() throws Exception {
    FigureSpec spec = FigureReader.ofText("--figure", "{y: latency, relative: pull, series: path}");
    FigureValues values = new FigureValues(RUN, spec);
    var readings =
        values.of(RUN.rows(), "pull", StyledFigureTest::path, row -> row.axes().get("size"));
    Map<String, Double> multiples = new HashMap<>();
    for (SummaryRow row : RUN.rows()) {
      if (ModelledRun.size(row) == 8) {
        multiples.put(path(row), readings.apply(row).orElseThrow().value());
      }
    }
    assertThat(multiples).containsEntry("pull", 1.0);
    assertThat(multiples.get("push.bf")).isBetween(0.1, 0.99);
  }

  @Test
  void a_statistic_is_the_one_of_the_samples_or_is_refused_with_what_it_needs() throws Exception {
    RunData run = with(_ -> new double[] {1000, 2000, 9000});
    for (String[] each :
        new String[][] {{"mean", "4000"}, {"min", "1000"}, {"max", "9000"}, {"median", "2000"}}) {
      FigureSpec spec =
          FigureReader.ofText("--figure", "{y: latency, statistic: %s}".formatted(each[0]));
      assertThat(new FigureValues(run, spec).of(run.rows().getFirst()).orElseThrow().value())
          .isEqualTo(Double.parseDouble(each[1]));
    }
    assertThatThrownBy(() -> plots(run, "{y: latency, statistic: p99}"))
        .hasMessage("p99 needs 100 samples, and no point has more than 3 of latency");
  }

  @Test
  void counters_and_quotients_are_drawn() throws Exception {
    RunData run = ModelledRun.counted(RUN);
    assertThat(svg(run, "{y: fences}")).contains(">fences<", "counted, once a point");
    assertThat(svg(run, "{y: goodput, per: fences}"))
        .contains(">goodput per fences, median (GB/s)<");
  }

  @Test
  void a_long_whisker_is_cut_at_the_end_of_a_scale_that_medians_make() throws Exception {
    RunData run =
        with(
            row ->
                ModelledRun.size(row) == 64
                    ? new double[] {1000, 1000, 1000, 1e6, 1e6, 1e6, 1000}
                    : new double[] {900, 1000, 1000, 1000, 1000, 1000, 1100});
    assertThat(svg(run, "{y: latency, logy: true}"))
        .contains("arrows: whiskers go on")
        .doesNotContain(">1\u00A0ms<", ">100\u00A0µs<");
  }

  @Test
  void a_panel_of_zeros_says_so_and_equal_lines_lie_side_by_side() throws Exception {
    String svg = svg(with(_ -> new double[] {0, 0, 0, 0, 0, 0}), "{y: latency}");
    assertThat(svg).contains(">all 0<", "equal lines lie side by side");
    Matcher markers =
        Pattern.compile("<g id=\"pull-cross-rc\"[^>]*>\\s+<path d=\"M([0-9.]+)").matcher(svg);
    Matcher others =
        Pattern.compile("<g id=\"staged-cross-rc\"[^>]*>\\s+<path d=\"M([0-9.]+)").matcher(svg);
    assertThat(markers.find() && others.find()).isTrue();
    assertThat(markers.group(1)).isNotEqualTo(others.group(1));
  }

  @Test
  void too_few_samples_have_no_whiskers_and_the_footer_says_so() throws Exception {
    assertThat(svg(with(_ -> new double[] {1000, 2000, 9000}), "{y: latency}"))
        .contains("n = 3 a point, too few for intervals");
  }

  @Test
  void a_palette_gives_colours_in_the_order_of_the_series() throws Exception {
    assertThat(svg("{y: latency, palette: '#123456,#abcdef', order: [staged]}"))
        .containsPattern("(?s)legend-staged.{0,200}#123456.{0,900}legend-pull\".{0,200}#abcdef");
  }

  @Test
  void notes_stand_in_every_panel_and_a_legend_where_it_is_asked_for() throws Exception {
    assertThat(svg("{y: latency, annotate: ['x=4K: MTU', 'y=2us: limit', 'x=64,y=1us: here']}"))
        .contains(">MTU<", ">limit<", ">here<");
    assertThat(svg("{y: latency, legend: none}")).doesNotContain("id=\"legend\"");
    String bottom = svg("{y: latency, legend: bottom}");
    assertThat(bottom.indexOf("id=\"legend\"")).isGreaterThan(bottom.indexOf("panel-"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {y: latency, order: [stagd]}              | order names 'stagd', which is no series  - did you mean 'staged'?
          {y: latency, relative: pul}               | relative names 'pul', which is no series
          {y: latency, names: {pul: x}}             | names has 'pul', which is nothing of the run
          {y: latency, yunit: GB/s}                 | yunit GB/s: the values are in ns
          {y: latency, yrange: 4..2}                | yrange begins at 4 and ends at 2
          {y: latency, logy: true, yrange: 0..2}    | yrange reaches 0, which a logarithmic axis cannot show
          {y: latencies}                            | unknown y 'latencies'
          {y: latency, per: fences}                 | it has no samples of 'fences'
          {kind: heatmap, y: latency, yunit: us}    | 'yunit' means nothing in a figure of kind heatmap
          {y: latency, width: 3in}                  | width is '3in', and must be column, page
          {y: latency, annotate: ['4K']}            | must be a place and a text
          """)
  void what_cannot_be_drawn_is_refused_in_the_words_of_the_figure(String figure, String said) {
    assertThatThrownBy(() -> plots(RUN, figure))
        .satisfiesAnyOf(
            e -> assertThat(e).hasMessageContaining(said),
            e -> assertThat(((ConfigException) e).problems().getFirst().text()).contains(said));
  }
}
