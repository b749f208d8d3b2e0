package dev.doorbell.experiments.cli.results;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.RecordCopy;
import dev.doorbell.experiments.results.figures.Figures;
import dev.doorbell.experiments.results.figures.ModelledRun;
import dev.doorbell.experiments.results.figures.Plots;
import dev.doorbell.experiments.results.figures.Plots.PlotFormat;
import dev.doorbell.experiments.results.figures.Unplottable;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * The gallery of the docs: each of its figures is drawn by the options that stand above it. {@code
 * -Ddocs.write=true} writes the page and its pictures anew.
 */
class GalleryTest {
  private static final Path DOCS = Path.of("..", "docs");

  /** What a figure shows, and the options that draw it. */
  private record Shown(String name, String what, String options) {}

  private static final List<Shown> FIGURES =
      List.of(
          new Shown(
              "latency",
              "Lines with intervals and crossovers: what a run draws by itself.",
              "-x size -y latency --series path --facet placement"),
          new Shown(
              "column",
              "One column of a paper: names, order, title, unit, ranges, notes, legend inside, no"
                  + " footer.",
              "-y latency --only 'placement=cross-rc,path=pull|push.memic|staged'"
                  + " --names pull='NIC pull' --names push.memic='GPU push'"
                  + " --names size='Message size' --names latency='Latency'"
                  + " --order push.memic,pull --title 'Push or pull' --width column --fontsize 8"
                  + " --xrange 64..64K --yrange 1..20 --yunit us --legend top-left --footer false"
                  + " --annotate 'x=4K: MTU' --annotate 'x=1K,y=2.5: flat'"),
          new Shown(
              "relative",
              "Every series as a multiple of one, the legend beside it.",
              "-y latency --only 'placement=cross-rc,path=pull|push.memic|staged'"
                  + " --relative pull --logy false --legend right --palette grey"
                  + " --annotate 'y=1: pull'"),
          new Shown(
              "p99",
              "A percentile; any statistic is shown so.",
              "-y latency --statistic p99 --only 'placement=cross-rc,path=pull|push.memic|staged'"),
          new Shown(
              "counted",
              "Bars of a counter, the legend below.",
              "--kind bar -x path -y fences --series placement --only size=64 --legend bottom"),
          new Shown(
              "per",
              "A quotient of two metrics.",
              "-y goodput --per latency --only 'placement=cross-rc,path=pull|push.memic|staged'"
                  + " --palette '#4477AA,#EE6677,#228833'"),
          new Shown(
              "bars",
              "Means side by side, in the colours of P. Tol.",
              "--kind bar -x placement -y latency --statistic mean --yunit us --palette bright"
                  + " --only size=4096"),
          new Shown(
              "cdf",
              "Shares of samples.",
              "--kind cdf -y latency --series path --xunit us --only size=4096 --width page"),
          new Shown(
              "heatmap",
              "Who is ahead, where, and by how much.",
              "--kind heatmap -x size --rows placement -y latency --series path"
                  + " --names placement=Placement --names same-switch='one switch'"));

  /** The part of the run that a figure shows. */
  private static RunData run(FigureSpec spec) {
    RunData run = ModelledRun.counted(ModelledRun.of(120, 42));
    List<SummaryRow> rows =
        run.rows().stream()
            .filter(row -> spec.only().stream().allMatch(c -> c.holds(row.axes())))
            .toList();
    List<Axis> axes =
        run.axes().stream()
            .map(
                axis ->
                    new Axis(
                        axis.name(),
                        axis.unit(),
                        axis.values().stream()
                            .filter(
                                value ->
                                    rows.stream()
                                        .anyMatch(row -> value.equals(row.axes().get(axis.name()))))
                            .toList()))
            .toList();
    return run.with(axes, rows);
  }

  private static List<String> words(String options) {
    List<String> words = new ArrayList<>();
    Matcher word = Pattern.compile("(?:[^\\s']|'[^']*')+").matcher(options);
    while (word.find()) {
      words.add(word.group().replace("'", ""));
    }
    return words;
  }

  private static byte[] svg(Shown shown) throws Exception {
    FigureOptions options = new FigureOptions();
    CommandSpec command = CommandSpec.create();
    options.addTo(command);
    new CommandLine(command).parseArgs(words(shown.options()).toArray(String[]::new));
    FigureSpec spec = Objects.requireNonNull(options.figure());
    return plots(run(spec), RecordCopy.with(spec, Map.of("only", List.of())).named(shown.name()))
        .firstEntry()
        .getValue();
  }

  private static SequencedMap<String, byte[]> plots(RunData run, FigureSpec spec)
      throws Unplottable {
    Plots plots =
        new Figures(
                run,
                List.of(),
                () -> {
                  throw new IllegalStateException("samples suffice");
                })
            .one(spec);
    return plots.files(Set.of(PlotFormat.SVG));
  }

  @Test
  void the_gallery_is_what_its_options_draw() throws Exception {
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    StringBuilder page =
        new StringBuilder(
            """
            # Gallery

            <!-- Generated by GalleryTest with -Ddocs.write=true; edit that, not this. -->

            Each figure is drawn by the options above it, which are the keys of `figures:` in a config, too
            ([plots.md](plots.md) lists them). The run is one of the tests: closed forms with a few percent of noise.
            """);
    for (Shown shown : FIGURES) {
      files.put("gallery/" + shown.name() + ".svg", svg(shown));
      page.append("\n## ").append(shown.what()).append("\n\n    ./doorbell plot RUN ");
      page.append(shown.options()).append("\n\n");
      page.append("![%s](gallery/%s.svg)\n".formatted(shown.name(), shown.name()));
    }
    files.put("gallery.md", page.toString().getBytes(StandardCharsets.UTF_8));
    for (var file : files.entrySet()) {
      Path at = DOCS.resolve(file.getKey());
      if (Boolean.getBoolean("docs.write")) {
        Files.createDirectories(at.getParent());
        Files.write(at, file.getValue());
      }
      assertThat(new String(file.getValue(), StandardCharsets.UTF_8))
          .as("%s; write it with ./doorbell test experiments GalleryTest -Ddocs.write=true", at)
          .isEqualTo(Files.readString(at));
    }
  }

  /** Every key of a figure's looks has an option of its name. */
  @Test
  void every_key_of_a_config_is_an_option() throws IOException {
    CommandSpec command = CommandSpec.create();
    new FigureOptions().addTo(command);
    Set<String> options = command.optionsMap().keySet();
    List<String> looks =
        Schema.experiment().root().at("/$defs/figure/properties").propertyNames().stream()
            .filter(FigureKind::isLook)
            .map(key -> "--" + key)
            .toList();
    assertThat(looks).contains("--names", "--annotate");
    assertThat(options).containsAll(looks);
    assertThat(options).contains("--statistic", "--per", "--relative", "--only", "-x", "-y");
  }
}
