package dev.doorbell.experiments.report;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.FigureKind;
import dev.doorbell.experiments.config.FigureSpec;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.figures.Figures;
import dev.doorbell.experiments.figures.SampleTables;
import dev.doorbell.experiments.figures.Table;
import dev.doorbell.experiments.figures.Tables;
import dev.doorbell.experiments.figures.Unplottable;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.ModelConstant;
import dev.doorbell.experiments.run.Manifest;
import dev.doorbell.experiments.run.StoredRun;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Writes the page. The same runs give the same bytes. */
public final class HtmlReport {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /** Kinds that are shown whether or not the config asks for one. */
  private static final List<FigureKind> ALWAYS =
      List.of(FigureKind.LINE, FigureKind.HEATMAP, FigureKind.BAR, FigureKind.CDF);

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
   */
  public static byte[] of(
      List<StoredRun> runs, List<FigureSpec> further, Supplier<ExperimentRuntime> runtime) {
    HtmlReport report = new HtmlReport(runs, further, runtime);
    report.write();
    return report.page.toString().getBytes(StandardCharsets.UTF_8);
  }

  private void write() {
    String title =
        runs.size() == 1 ? runs.getFirst().data().experiment() : "%d runs".formatted(runs.size());
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
    long ok = run.data().rows().size();
    page.raw("<p>")
        .text("%d of %d points have a result.".formatted(ok, run.plan().points().size()));
    page.raw("</p>\n");
    expectations(run);
    figures(run, number);
    if (ok > 0) {
      page.element("h3", "Results").table(Tables.summary(run.data()));
      section("Crossovers", Tables.crossovers(run.data()));
      Table counters = Tables.counters(run.data());
      if (run.data().rows().stream().anyMatch(row -> !row.counters().isEmpty())) {
        section("Counted", counters);
      }
      doubts(run);
    }
    failures(run);
    assumptions(run.manifest().constants());
    manifest(run);
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

  /** What the experiment expected and whether it came so, where its summary says. */
  private void expectations(StoredRun run) {
    Table expected = Tables.expectations(run.data());
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
    SequencedMap<String, byte[]> figures = new LinkedHashMap<>();
    Figures maker = Figures.of(run, runtime);
    Figures.Asked asked = maker.asked(List.of());
    figures.putAll(asked.plots().whole());
    List<Problem> missing = new ArrayList<>(asked.missing());
    for (FigureSpec spec : further) {
      try {
        figures.putAll(maker.one(spec).whole());
      } catch (Unplottable e) {
        missing.add(e.problem());
      }
    }
    for (FigureKind kind : ALWAYS) {
      try {
        if (run.data().figures().stream().noneMatch(figure -> figure.kind() == kind)) {
          figures.putAll(maker.one(FigureSpec.of(kind)).whole());
        }
      } catch (Unplottable _) {
        // Runs differ in which kinds they can give; the page shows those that there are.
      }
    }
    if (figures.isEmpty()) {
      return;
    }
    page.element("h3", "Figures");
    page.raw(
        "<p class=\"note\">Click a name in a legend to hide a series, turn the wheel or press");
    page.raw(" + and − to zoom, drag to move, double-click to start over.</p>\n");
    figures.forEach(
        (name, svg) -> {
          page.raw("<figure data-figure=\"%s\" tabindex=\"0\">\n".formatted(Html.escaped(name)));
          page.raw(inline(svg, "run-%d-%s".formatted(number, name)));
          page.raw("<figcaption>").text(name.replace('-', ' ')).raw("</figcaption></figure>\n");
        });
  }

  /** An SVG within the page: no XML declaration, and identifiers that are unique in it. */
  private static String inline(byte[] svg, String prefix) {
    String text = new String(svg, StandardCharsets.UTF_8);
    String element = text.substring(text.indexOf("<svg"));
    double points =
        Double.parseDouble(element.replaceAll("(?s)^<svg[^>]* width=\"([0-9.]+)pt.*", "$1"));
    return "<svg style=\"max-width:%dpx\"".formatted(Math.round(2.2 * points))
        + element.substring("<svg".length()).replace(" id=\"", " id=\"" + prefix + "-");
  }

  private void doubts(StoredRun run) {
    Table doubts = SampleTables.doubts(run.data());
    if (!doubts.rows().isEmpty()) {
      folded("Doubts about the samples", doubts);
    }
  }

  private void failures(StoredRun run) {
    List<List<String>> rows = new ArrayList<>();
    run.entries().stream()
        .filter(
            entry -> !run.data().rows().stream().anyMatch(r -> r.pointId().equals(entry.point())))
        .forEach(
            entry ->
                rows.add(
                    List.of(
                        entry.point(),
                        entry.status().name().toLowerCase(Locale.ROOT),
                        entry.problem() == null ? "" : entry.problem().what())));
    if (!rows.isEmpty()) {
      page.element("h3", "Points without a result");
      page.table(table(List.of("point", "status", "why"), rows));
    }
  }

  private void assumptions(List<ModelConstant> constants) {
    List<List<String>> rows = new ArrayList<>();
    Map<ModelConstant.Origin, Integer> counts = new LinkedHashMap<>();
    for (ModelConstant constant : constants) {
      counts.merge(constant.origin(), 1, Integer::sum);
      rows.add(
          List.of(
              constant.name(),
              "%s %s".formatted(number(constant.value()), constant.unit()).strip(),
              word(constant.origin()),
              constant.source()));
    }
    StringBuilder heading = new StringBuilder("Constants that the model rests on");
    counts.forEach(
        (origin, count) -> heading.append(", ").append(count).append(' ').append(word(origin)));
    folded(heading.toString(), table(List.of("constant", "value", "origin", "source"), rows));
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

  private static Table table(List<String> columns, List<List<String>> rows) {
    return new Table(
        columns.stream().map(name -> new Table.Column(name, false)).toList(), rows, List.of());
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
    List<List<String>> doctor =
        manifest.doctor().stream()
            .map(found -> List.of(found.verdict(), found.code(), found.what()))
            .toList();
    if (!doctor.isEmpty()) {
      page.element("h4", "What the doctor found");
      page.table(table(List.of("verdict", "code", "what"), doctor));
    }
    page.element("h4", "Resolved config");
    page.raw("<pre>").text(run.plan().config().resolved()).raw("</pre></details>\n");
  }

  private static List<String> choice(
      String what, dev.doorbell.experiments.plan.Environment.Choice choice) {
    return List.of(what, "%s (%s)".formatted(choice.name(), choice.reason()));
  }

  private static String resource(String name) {
    try (InputStream in =
        HtmlReport.class.getResourceAsStream("/dev/doorbell/experiments/report/" + name)) {
      if (in == null) {
        throw new IllegalStateException("the build left out report/" + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
