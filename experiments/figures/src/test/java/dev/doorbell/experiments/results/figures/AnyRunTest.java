package dev.doorbell.experiments.results.figures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.results.figures.drawing.Drawing;
import dev.doorbell.experiments.run.MetricRow;
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
import java.util.Optional;
import java.util.Random;
import java.util.SequencedMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Figures of runs as they may come: one series or eight, long names, points that are missing, one
 * point alone. No text lies on another or leaves the sheet. {@code -Ddoorbell.figures.keep=DIR}
 * keeps them, to be looked at.
 */
class AnyRunTest {

  /** What a run has; {@code missing} is the share of its points without a result. */
  record Shape(int series, int sizes, int places, boolean longNames, double missing, int samples) {}

  record Case(FigureKind kind, boolean log, Shape shape) {
    @Override
    public String toString() {
      return "%s%s-%ds-%dx-%dp%s%s-n%d"
          .formatted(
              kind.word(),
              log ? "-log" : "",
              shape.series,
              shape.sizes,
              shape.places,
              shape.longNames ? "-long" : "",
              shape.missing > 0 ? "-gaps" : "",
              shape.samples);
    }
  }

  static Stream<Case> cases() {
    List<Shape> shapes =
        List.of(
            new Shape(1, 1, 1, false, 0, 1),
            new Shape(1, 9, 1, false, 0, 10),
            new Shape(2, 3, 3, false, 0, 10),
            new Shape(2, 9, 1, true, 0, 10),
            new Shape(8, 9, 1, false, 0, 5),
            new Shape(8, 9, 3, true, 0.4, 5),
            new Shape(8, 4, 4, false, 0.4, 30),
            new Shape(3, 18, 2, false, 0, 1),
            new Shape(2, 2, 3, true, 0, 5));
    List<Case> cases = new ArrayList<>();
    for (Shape shape : shapes) {
      cases.add(new Case(FigureKind.LINE, true, shape));
      cases.add(new Case(FigureKind.LINE, false, shape));
      cases.add(new Case(FigureKind.BAR, false, shape));
      cases.add(new Case(FigureKind.BAR, true, shape));
      cases.add(new Case(FigureKind.HEATMAP, false, shape));
      cases.add(new Case(FigureKind.CDF, false, shape));
    }
    return cases.stream();
  }

  private static RunData run(Shape shape) {
    Random random = new Random(7);
    List<Value> paths =
        words(shape.series, shape.longNames ? "push.through.memory-" : "path", shape);
    List<Value> places = words(shape.places, shape.longNames ? "behind-a-switch-" : "place", shape);
    List<Value> sizes =
        LongStream.range(0, shape.sizes).<Value>mapToObj(k -> new Value.Whole(8L << k)).toList();
    List<SummaryRow> rows = new ArrayList<>();
    for (Value path : paths) {
      for (Value place : places) {
        for (Value size : sizes) {
          boolean left = !rows.isEmpty() && random.nextDouble() < shape.missing;
          if (!left) {
            rows.add(row(path, place, size, shape.samples, random));
          }
        }
      }
    }
    return new RunData(
        "20260102T030405Z-anything-7f3a",
        "anything",
        "What does it look like?",
        "7f3a91c2",
        Optional.empty(),
        Basis.MODELLED,
        7,
        List.of(
            new Axis("path", "", paths),
            new Axis("placement", "", places),
            new Axis("size", "B", sizes)),
        rows,
        List.of(),
        List.of(),
        List.of(),
        Map.of(),
        new RunData.Derived());
  }

  private static List<Value> words(int count, String stem, Shape shape) {
    return IntStream.range(0, count)
        .<Value>mapToObj(i -> new Value.Text(stem + (shape.longNames ? 100 + i : i)))
        .toList();
  }

  private static SummaryRow row(Value path, Value place, Value size, int samples, Random random) {
    SequencedMap<String, Value> axes = new LinkedHashMap<>();
    axes.put("path", path);
    axes.put("placement", place);
    axes.put("size", size);
    double base =
        1000 * Math.exp(3 * random.nextDouble()) + (size instanceof Value.Whole(long n) ? n : 0);
    double[] values = random.doubles(samples, base, 1.2 * base).toArray();
    SequencedMap<String, MetricRow> metrics = new LinkedHashMap<>();
    metrics.put("latency", new MetricRow(Samples.of("latency", "ns", values), Optional.empty()));
    return new SummaryRow(
        path.text() + "_" + place.text() + "_" + size.text(),
        axes,
        metrics,
        new LinkedHashMap<>(),
        1);
  }

  private static FigureSpec spec(Case of) {
    FigureKind kind = of.kind();
    return new FigureSpec(
        kind,
        of.toString(),
        kind == FigureKind.CDF ? "" : kind == FigureKind.BAR ? "placement" : "size",
        "latency",
        "path",
        kind == FigureKind.LINE || kind == FigureKind.CDF ? "placement" : "",
        kind == FigureKind.HEATMAP ? "placement" : "",
        List.of(),
        of.log(),
        of.log(),
        FigureSpec.SHARE,
        "",
        "",
        "",
        FigureStyle.DEFAULT);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void no_text_lies_on_another_or_leaves_the_sheet(Case of) throws IOException {
    Figures figures =
        new Figures(
            run(of.shape()),
            List.of(),
            () -> {
              throw new IllegalStateException("samples suffice");
            });
    Plots plots;
    try {
      plots = figures.one(spec(of));
    } catch (Unplottable e) {
      assertThat(e.problem().what()).containsAnyOf("panels are no figure", "nobody competes");
      return;
    }
    for (var one : plots.drawings().entrySet()) {
      keep(one.getKey(), one.getValue());
      FigureTextsTest.check(one.getKey(), new String(one.getValue().svg(), StandardCharsets.UTF_8));
    }
  }

  private static void keep(String name, Drawing drawing) throws IOException {
    String keep = System.getProperty("doorbell.figures.keep", "");
    if (!keep.isEmpty()) {
      Files.write(
          Files.createDirectories(Path.of(keep)).resolve(name + ".png"),
          drawing.png(drawing.pdf()));
    }
  }
}
