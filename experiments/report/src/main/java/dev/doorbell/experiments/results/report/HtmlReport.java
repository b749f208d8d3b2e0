package dev.doorbell.experiments.results.report;

import static dev.doorbell.experiments.config.figure.FigureReader.numeric;
import static java.util.stream.Collectors.joining;

import dev.doorbell.core.Basis;
import dev.doorbell.core.Resources;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.ModelConstant;
import dev.doorbell.experiments.results.compare.ComparisonReport;
import dev.doorbell.experiments.results.compare.RunComparison;
import dev.doorbell.experiments.results.compare.RunComparison.Rules;
import dev.doorbell.experiments.results.figures.Figures;
import dev.doorbell.experiments.results.figures.Plots;
import dev.doorbell.experiments.results.figures.Unplottable;
import dev.doorbell.experiments.results.print.Table;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.results.tables.RunTables;
import dev.doorbell.experiments.results.tables.SampleTables;
import dev.doorbell.experiments.results.validation.Credit;
import dev.doorbell.experiments.run.Expectations;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.Manifest;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunIndex;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryRow;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.IntSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Writes the page. The same runs give the same bytes. */
public final class HtmlReport {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /** Kinds that are shown whether or not the config asks for one. */
  private static final List<FigureKind> ALWAYS = List.of(FigureKind.HEATMAP, FigureKind.CDF);

  /** A distribution of fewer samples is a staircase that says little. */
  private static final int DISTRIBUTED = 20;

  private final List<StoredRun> runs;
  private final List<FigureSpec> further;
  private final Supplier<ExperimentRuntime> runtime;
  private final Html page = new Html();

  private HtmlReport(
      List<StoredRun> runs, List<FigureSpec> further, Supplier<ExperimentRuntime> runtime) {
    this.runs = List.copyOf(runs);
    this.further = List.copyOf(further);
    this.runtime = runtime;
  }

  /**
   * One page for all runs.
   *
   * @param further figures of each run beside those that its config asks for
   * @param runtime for figures that samples alone do not make
   * @throws RunException when samples cannot be read again, to compare runs
   */
  public static byte[] of(
      List<StoredRun> runs, List<FigureSpec> further, Supplier<ExperimentRuntime> runtime)
      throws RunException {
    HtmlReport report = new HtmlReport(runs, further, runtime);
    report.write();
    return report.page.toString().getBytes(StandardCharsets.UTF_8);
  }

  private String title() {
    String experiments =
        runs.stream().map(run -> run.data().experiment()).distinct().collect(joining(", "));
    return runs.size() == 1 ? experiments : "%s: %d runs".formatted(experiments, runs.size());
  }

  private void write() throws RunException {
    String title = title();
    page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.raw("<link rel=\"icon\" href=\"data:,\">\n");
    page.element("title", title + " · Doorbell");
    page.raw("<style>\n").raw(resource("report.css")).raw("</style>\n</head>\n<body>\n");
    page.raw("<header>\n").element("h1", title);
    if (runs.size() > 1) {
      page.raw("<nav><ul>\n");
      for (int i = 0; i < runs.size(); i++) {
        page.raw("<li><a href=\"#run-%d\">".formatted(i + 1));
        page.text(runs.get(i).data().runId()).raw("</a></li>\n");
      }
      page.raw("</ul></nav>\n");
    }
    page.raw("</header>\n<main>\n");
    for (StoredRun later : runs.subList(1, runs.size())) {
      compared(runs.getFirst(), later);
    }
    for (int i = 0; i < runs.size(); i++) {
      run(runs.get(i), i + 1);
    }
    page.raw("</main>\n<script>\n").raw(resource("report.js")).raw("</script>\n</body>\n</html>\n");
  }

  private void run(StoredRun run, int number) {
    page.raw("<section class=\"run\" id=\"run-%d\">\n".formatted(number));
    page.element("h2", run.data().runId());
    Basis basis = run.data().basis();
    page.raw("<p class=\"basis basis-%s\">".formatted(basis.word())).text(said(basis));
    page.raw("</p>\n");
    if (!run.data().question().isEmpty()) {
      page.raw("<p class=\"question\">").text(run.data().question()).raw("</p>\n");
    }
    atAGlance(run);
    failures(run);
    figures(run, number);
    expectations(run);
    if (!run.data().rows().isEmpty()) {
      page.element("h3", "Results").table(RunTables.summary(run.data()));
      section("Crossovers", RunTables.crossovers(run.data()));
      if (run.data().rows().stream().anyMatch(row -> !row.counters().isEmpty())) {
        section("Counted", RunTables.counters(run.data()));
      }
      warnings(run);
    }
    assumptions(run.manifest().constants());
    manifest(run);
    page.raw("</section>\n");
  }

  private void atAGlance(StoredRun run) {
    RunData data = run.data();
    List<List<String>> facts = new ArrayList<>();
    Environment environment = run.manifest().environment();
    facts.add(
        List.of(
            "made with",
            "gpu %s, hca %s, clock %s"
                .formatted(
                    environment.gpu().name(),
                    environment.hca().name(),
                    environment.clock().name())));
    int points = run.plan().points().size();
    int without = points - data.rows().size();
    facts.add(
        List.of(
            "points",
            without == 0
                ? "all %d have a result".formatted(points)
                : "%d of %d have a result".formatted(data.rows().size(), points)));
    switch (run.manifest().state()) {
      case RUNNING -> facts.add(List.of("state", "the run goes on, or was killed"));
      case INTERRUPTED -> facts.add(List.of("state", "interrupted; doorbell run --resume RUN"));
      case COMPLETE -> {}
    }
    IntSummaryStatistics counts =
        data.rows().stream()
            .flatMap(row -> row.metrics().values().stream())
            .mapToInt(metric -> metric.samples().size())
            .filter(size -> size > 0)
            .summaryStatistics();
    if (counts.getCount() > 0) {
      facts.add(
          List.of(
              "samples",
              (counts.getMin() == counts.getMax()
                      ? "%d".formatted(counts.getMin())
                      : "%d to %d".formatted(counts.getMin(), counts.getMax()))
                  + " of each metric at a point; medians with 95 % bootstrap intervals"));
    }
    if (!data.rows().isEmpty() && !data.expectations().isEmpty()) {
      Map<String, Integer> verdicts = new LinkedHashMap<>();
      Expectations.of(data)
          .forEach(found -> verdicts.merge(found.verdict().text(), 1, Integer::sum));
      facts.add(
          List.of(
              "expectations",
              verdicts.entrySet().stream()
                  .map(entry -> entry.getValue() + " " + entry.getKey())
                  .collect(joining(", "))));
    }
    if (!data.rows().isEmpty()) {
      Table warnings = SampleTables.warnings(data);
      facts.add(
          List.of(
              "warnings",
              warnings.rows().isEmpty()
                  ? "none about the samples"
                  : "%d about samples, listed below".formatted(warnings.rows().size())));
    }
    if (!run.faults().isEmpty()) {
      facts.add(
          List.of(
              "faults",
              run.faults().stream()
                  .map(f -> "%s fired %d of %d".formatted(f.fault(), f.fired(), f.events()))
                  .collect(joining("; "))));
    }
    page.facts(facts);
  }

  /** Adds the changes from one run to another if their numbers are of one kind. */
  private void compared(StoredRun before, StoredRun after) throws RunException {
    page.raw("<section class=\"compared\">\n");
    page.element("h2", "From %s to %s".formatted(before.data().runId(), after.data().runId()));
    try {
      ComparisonReport compared =
          new ComparisonReport(
              RunComparison.of(
                  RunIndex.read(before.path()), RunIndex.read(after.path()), Rules.DEFAULT));
      page.raw("<p class=\"basis basis-%s\">".formatted(before.data().basis().word()));
      page.text(said(before.data().basis())).raw("</p>\n");
      page.element("p", compared.verdicts() + ".");
      page.table(compared.table());
    } catch (RunException e) {
      page.raw("<p>").text("Not compared: " + e.problem().what() + ".").raw("</p>\n");
    }
    page.raw("</section>\n");
  }

  private static String said(Basis basis) {
    return switch (basis) {
      case MODELLED -> "Modelled: virtual time. Not a hardware measurement.";
      case EMULATED -> "Emulated: wall time of the emulation. Says nothing about an HCA.";
      case MEASURED -> "Measured: wall time on this hardware.";
    };
  }

  private void section(String heading, Table table) {
    if (!table.rows().isEmpty()) {
      page.element("h3", heading).table(table);
    }
  }

  private void expectations(StoredRun run) {
    Table expected = RunTables.expectations(run.data());
    String text = run.plan().config().expectation();
    if (text.isEmpty() && expected.rows().isEmpty()) {
      return;
    }
    page.element("h3", "Expected");
    if (!text.isEmpty()) {
      page.raw("<p>").text(text).raw("</p>\n");
    }
    if (!expected.rows().isEmpty()) {
      page.table(new Table(expected.columns(), expected.rows(), List.of()));
    }
  }

  private static String plain(JsonNode node) {
    return node.isString() ? node.asString() : node.isMissingNode() ? "" : node.toString();
  }

  private void figures(StoredRun run, int number) {
    Figures maker = Credit.figures(run, runtime);
    Figures.Asked asked = maker.asked(List.of());
    List<Plots.Shown> figures = new ArrayList<>(asked.plots().whole());
    List<Problem> missing = new ArrayList<>(asked.missing());
    for (FigureSpec spec : further) {
      try {
        figures.addAll(maker.one(spec).whole());
      } catch (Unplottable e) {
        missing.add(e.problem());
      }
    }
    kinds(run.data(), !figures.isEmpty())
        .forEach(
            kind -> {
              try {
                figures.addAll(maker.one(FigureSpec.of(kind)).whole());
              } catch (Unplottable _) {
                // Runs differ in which kinds they can give; the page shows those that there are.
              }
            });
    if (figures.isEmpty() && missing.isEmpty()) {
      return;
    }
    page.element("h3", "Figures");
    page.raw(
        "<p class=\"note\">Click a name in a legend to hide a series. Click a figure, then turn"
            + " the");
    page.raw(" wheel or press + and − to zoom; drag to move; double-click to start over.</p>\n");
    SequencedMap<String, Plots.Shown> distinct = new LinkedHashMap<>();
    figures.forEach(figure -> distinct.putIfAbsent(figure.name(), figure));
    distinct.forEach(
        (name, figure) -> {
          page.raw("<figure data-figure=\"%s\" tabindex=\"0\">\n".formatted(Html.escaped(name)));
          page.raw(inline(figure.svg(), "run-%d-%s".formatted(number, name)));
          page.raw("<figcaption><b>").text(name).raw("</b> ").text(figure.caption());
          page.raw("</figcaption></figure>\n");
        });
    missing.forEach(problem -> page.raw("<p class=\"note\">").text(problem.what()).raw("</p>\n"));
  }

  /** Returns the kinds of figures beside those that the config asks for. */
  private static List<FigureKind> kinds(RunData run, boolean any) {
    List<FigureKind> kinds = new ArrayList<>();
    if (!any) {
      kinds.add(
          run.axes().stream().anyMatch(axis -> axis.values().size() > 1 && numeric(axis))
              ? FigureKind.LINE
              : FigureKind.BAR);
    }
    for (FigureKind kind : ALWAYS) {
      boolean few =
          kind == FigureKind.CDF
              && run.rows().stream()
                  .flatMap(row -> row.metrics().values().stream())
                  .noneMatch(metric -> metric.samples().size() >= DISTRIBUTED);
      if (!few && run.figures().stream().noneMatch(figure -> figure.kind() == kind)) {
        kinds.add(kind);
      }
    }
    return kinds;
  }

  /** An SVG within the page: no XML declaration, and identifiers that are unique in it. */
  private static String inline(String text, String prefix) {
    String element = text.substring(text.indexOf("<svg"));
    double points =
        Double.parseDouble(element.replaceAll("(?s)^<svg[^>]* width=\"([0-9.]+)pt.*", "$1"));
    return "<svg style=\"max-width:%dpx\"".formatted(Math.round(2.2 * points))
        + element.substring("<svg".length()).replace(" id=\"", " id=\"" + prefix + "-");
  }

  private void warnings(StoredRun run) {
    Table warnings = SampleTables.warnings(run.data());
    if (!warnings.rows().isEmpty()) {
      folded("Warnings about the samples", warnings);
    }
  }

  private void failures(StoredRun run) {
    Set<String> finished =
        run.data().rows().stream().map(SummaryRow::pointId).collect(Collectors.toSet());
    Table table =
        new TableBuilder<JournalEntry>()
            .left("point", JournalEntry::point)
            .left("status", entry -> entry.status().name().toLowerCase(Locale.ROOT))
            .left("why", entry -> entry.problem() == null ? "" : entry.problem().what())
            .table(
                run.entries().stream().filter(e -> !finished.contains(e.point())).toList(),
                List.of());
    section("Points without a result", table);
  }

  private void assumptions(List<ModelConstant> constants) {
    Map<ModelConstant.Origin, Integer> counts = new LinkedHashMap<>();
    constants.forEach(constant -> counts.merge(constant.origin(), 1, Integer::sum));
    StringBuilder heading = new StringBuilder("Constants that the model rests on");
    counts.forEach(
        (origin, count) -> heading.append(", ").append(count).append(' ').append(word(origin)));
    folded(
        heading.toString(),
        new TableBuilder<ModelConstant>()
            .left("constant", ModelConstant::name)
            .right("value", each -> "%s %s".formatted(number(each.value()), each.unit()).strip())
            .left("origin", each -> word(each.origin()))
            .left("source", ModelConstant::source)
            .table(constants, List.of()));
  }

  private static String number(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }

  private static String word(ModelConstant.Origin origin) {
    return origin.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private void folded(String heading, Table table) {
    if (!table.rows().isEmpty()) {
      page.raw("<details><summary>").text("%s (%d)".formatted(heading, table.rows().size()));
      page.raw("</summary>\n").table(table).raw("</details>\n");
    }
  }

  private void manifest(StoredRun run) {
    Manifest manifest = run.manifest();
    List<List<String>> facts = new ArrayList<>();
    facts.add(List.of("experiment", manifest.experiment()));
    facts.add(List.of("config", run.data().configHash()));
    facts.add(List.of("command", "doorbell " + String.join(" ", manifest.arguments())));
    facts.add(List.of("started", manifest.started().toString()));
    facts.add(List.of("finished", String.valueOf(manifest.finished())));
    facts.add(List.of("state", manifest.state().name().toLowerCase(Locale.ROOT)));
    facts.add(
        List.of("points", "%d of %d recorded".formatted(manifest.recorded(), manifest.points())));
    facts.add(List.of("seed", Long.toString(run.data().seed())));
    facts.add(List.of("doorbell", manifest.doorbell()));
    facts.add(choice("gpu", manifest.environment().gpu()));
    facts.add(choice("hca", manifest.environment().hca()));
    facts.add(choice("clock", manifest.environment().clock()));
    JsonNode machine = MAPPER.valueToTree(manifest.machine());
    machine
        .properties()
        .forEach(entry -> facts.add(List.of("machine " + entry.getKey(), plain(entry.getValue()))));
    page.raw("<details><summary>Manifest</summary>\n").facts(facts);
    if (!manifest.doctor().isEmpty()) {
      page.element("h4", "What the doctor found");
      page.table(
          new TableBuilder<Manifest.Diagnosed>()
              .left("verdict", Manifest.Diagnosed::verdict)
              .left("code", Manifest.Diagnosed::code)
              .left("what", Manifest.Diagnosed::what)
              .table(manifest.doctor(), List.of()));
    }
    page.element("h4", "Resolved config");
    page.raw("<pre>").text(run.plan().config().resolved()).raw("</pre></details>\n");
  }

  private static List<String> choice(String what, Environment.Choice choice) {
    return List.of(what, "%s (%s)".formatted(choice.name(), choice.reason()));
  }

  private static String resource(String name) {
    return Resources.text(HtmlReport.class, "/dev/doorbell/experiments/report/" + name);
  }
}
