package dev.doorbell.experiments.results.figures;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.condition.Expectation.Contrast;
import dev.doorbell.experiments.config.figure.FigureKind;
import dev.doorbell.experiments.config.figure.FigureSpec;
import dev.doorbell.experiments.config.figure.FigureStyle;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunData;
import dev.doorbell.experiments.run.SummaryRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SequencedMap;
import java.util.stream.LongStream;

/**
 * A run whose samples are closed forms of the paths with a few percent of noise: PCIe Gen4 x16, 256
 * B completions, 128 B stores, round constants. It stands for a real run wherever only the shape of
 * one matters.
 */
public final class ModelledRun {

  public static final List<String> PATHS =
      List.of("pull", "pull.bf", "push.inline", "push.bf", "push.memic", "staged", "proxy");

  /**
   * A place of GPU and HCA: one-way ns between them, and what peer-to-peer reads and writes may
   * carry, GB/s.
   */
  private record Placement(String name, double distance, double readCap, double writeCap) {}

  private static final List<Placement> PLACEMENTS =
      List.of(
          new Placement("same-switch", 250, 1000, 1000),
          new Placement("cross-rc", 550, 14, 1000),
          new Placement("cross-socket", 900, 6.1, 14.3));

  private static final double RATE = 31.508 * 0.95;
  private static final double TO_HOST = 350;
  private static final double GPU_FENCE = 200;
  private static final double SYSTEM_FENCE = 990;
  private static final double SERVE_GPU = 300;
  private static final double SERVE_HOST = 90;
  private static final double HANDLE = 120 + 100;
  private static final double BUILD = 150;
  private static final double DOORBELL = 50;

  /** Shared by tests: its statistics are computed once. */
  static final RunData USUAL = of(21, 42);

  private ModelledRun() {}

  /** The run with {@code samples} samples a point; more than one makes them vary. */
  public static RunData of(int samples, long seed) {
    return of(PLACEMENTS.stream().map(Placement::name).toList(), samples, seed);
  }

  static RunData of(List<String> placements, int samples, long seed) {
    List<SummaryRow> rows = new ArrayList<>();
    for (Placement placement : PLACEMENTS) {
      for (String path : PATHS) {
        for (long size : sizes()) {
          boolean inline = path.equals("push.inline") || path.equals("push.bf");
          if (placements.contains(placement.name()) && !(inline && size > 220)) {
            rows.add(row(placement, path, size, samples, seed));
          }
        }
      }
    }
    return new RunData(
        "20260102T030405Z-pull-vs-push-7f3a",
        "pull-vs-push",
        "On which topologies and sizes does GPU push beat NIC pull?",
        "7f3a91c2",
        Optional.of("0123abc"),
        Basis.MODELLED,
        seed,
        List.of(
            new Axis("path", "", words(PATHS)),
            new Axis("placement", "", words(placements)),
            new Axis("size", "B", sizes().stream().<Value>map(Value.Whole::new).toList())),
        rows,
        List.of(
            line("latency", "size", "latency", "path", "placement", true, true),
            line("goodput", "size", "goodput", "path", "placement", true, true)),
        List.of(
            new Contrast("latency", "size", "path", "pull", "push.memic", "placement"),
            new Contrast("latency", "size", "path", "pull.bf", "push.memic", "placement"),
            new Contrast("latency", "size", "path", "pull.bf", "staged", "placement")),
        List.of(),
        Map.of(),
        new RunData.Derived());
  }

  /** Lines over an axis of numbers. */
  static FigureSpec line(
      String name, String x, String y, String series, String facet, boolean logX, boolean logY) {
    return new FigureSpec(
        FigureKind.LINE,
        name,
        x,
        y,
        series,
        facet,
        "",
        List.of(),
        logX,
        logY,
        FigureSpec.SHARE,
        "",
        "",
        "",
        FigureStyle.DEFAULT);
  }

  /** The same run with counters at every point. */
  public static RunData counted(RunData run) {
    List<SummaryRow> rows = new ArrayList<>();
    for (SummaryRow row : run.rows()) {
      SequencedMap<String, Quantity> counters = new LinkedHashMap<>();
      counters.put("tlp bytes", new Quantity(size(row), "B"));
      counters.put("fences", Quantity.count(2));
      rows.add(new SummaryRow(row.pointId(), row.axes(), row.metrics(), counters, row.seed()));
    }
    return with(run, run.axes(), rows, run.figures(), run.basis());
  }

  /** The message size of a point, B. */
  static long size(SummaryRow row) {
    if (row.axes().get("size") instanceof Value.Whole(long size)) {
      return size;
    }
    throw new IllegalArgumentException(row.pointId());
  }

  /** A run like another but for these parts. */
  static RunData with(
      RunData run, List<Axis> axes, List<SummaryRow> rows, List<FigureSpec> figures, Basis basis) {
    return new RunData(
        run.runId(),
        run.experiment(),
        run.question(),
        run.configHash(),
        run.gitId(),
        basis,
        run.seed(),
        axes,
        rows,
        figures,
        run.contrasts(),
        List.of(),
        Map.of(),
        new RunData.Derived());
  }

  private static List<Long> sizes() {
    return LongStream.rangeClosed(3, 20).mapToObj(k -> 1L << k).toList();
  }

  private static List<Value> words(List<String> words) {
    return words.stream().<Value>map(Value.Text::new).toList();
  }

  private static SummaryRow row(Placement at, String path, long size, int samples, long seed) {
    String id = path + "-" + at.name() + "-" + size;
    long own = seed ^ id.hashCode();
    Random random = new Random(own);
    double latency = latency(at, path, size);
    double ceiling = ceiling(at, path, size);
    double goodput = size / (size / ceiling + (path.startsWith("pull") ? 90 : 140));
    double[] latencies = new double[samples];
    double[] goodputs = new double[samples];
    for (int i = 0; i < samples; i++) {
      double noise = samples == 1 ? 1 : 1 + 0.03 * Math.abs(random.nextGaussian());
      latencies[i] = latency * noise;
      goodputs[i] = goodput / noise;
    }
    SequencedMap<String, Value> axes = new LinkedHashMap<>();
    axes.put("path", new Value.Text(path));
    axes.put("placement", new Value.Text(at.name()));
    axes.put("size", new Value.Whole(size));
    SequencedMap<String, MetricRow> metrics = new LinkedHashMap<>();
    metrics.put(
        "latency",
        new MetricRow(
            Samples.of("latency", "ns", latencies),
            Optional.of(new Prediction.Term("latency", latency, "ns", "T_" + path, false))));
    metrics.put(
        "goodput",
        new MetricRow(
            Samples.of("goodput", "GB/s", goodputs),
            Optional.of(new Prediction.Term("goodput", ceiling, "GB/s", "B_" + path, true))));
    return new SummaryRow(id, axes, metrics, new LinkedHashMap<>(), own);
  }

  private static double latency(Placement at, String path, long n) {
    double wqe = read(at, 64);
    double payload = read(at, n);
    double inline = read(at, 64 * Math.ceilDiv(n + 36, 64));
    return switch (path) {
      case "pull" -> BUILD + 2 * GPU_FENCE + at.distance() + DOORBELL + wqe + HANDLE + payload;
      case "pull.bf" -> BUILD + GPU_FENCE + stored(at, 64) + at.distance() + HANDLE + payload;
      case "push.inline" -> BUILD + 2 * GPU_FENCE + at.distance() + DOORBELL + inline + HANDLE;
      case "push.bf" -> BUILD + stored(at, 64 * Math.ceilDiv(n + 36, 64)) + at.distance() + HANDLE;
      case "push.memic" ->
          BUILD + stored(at, n) + 2 * at.distance() + at.distance() + stored(at, 64) + HANDLE;
      case "staged" -> {
        double post = BUILD + 2 * SYSTEM_FENCE + at.distance() + DOORBELL + 2 * readHost(64);
        yield post + HANDLE + readHost(Math.min(n, 4096)) + n * 280 / 256.0 / RATE;
      }
      case "proxy" ->
          BUILD + SYSTEM_FENCE + 450 + 100 + 80 + TO_HOST + 88 / RATE + HANDLE + payload;
      default -> throw new IllegalArgumentException(path);
    };
  }

  private static double read(Placement at, long n) {
    double wire = (n + 20.0 * Math.ceilDiv(n, 256)) / RATE;
    return 2 * at.distance() + SERVE_GPU + Math.max(wire, n / at.readCap());
  }

  private static double readHost(long n) {
    return 2 * TO_HOST + SERVE_HOST + (n + 20.0 * Math.ceilDiv(n, 256)) / RATE;
  }

  private static double stored(Placement at, long n) {
    return Math.max((n + 24.0 * Math.ceilDiv(n, 128)) / RATE, n / at.writeCap());
  }

  private static double ceiling(Placement at, String path, long n) {
    double reads = RATE * n / (n + 20.0 * Math.ceilDiv(n, 256));
    return switch (path) {
      case "pull", "pull.bf", "proxy" -> Math.min(reads, at.readCap());
      case "push.memic" -> Math.min(RATE * n / (n + 24.0 * Math.ceilDiv(n, 128)), at.writeCap());
      case "push.inline", "push.bf" -> RATE * n / (64.0 * Math.ceilDiv(n + 36, 64) + 24);
      case "staged" -> Math.min(reads, RATE * n / (n + 24.0 * Math.ceilDiv(n, 128)));
      default -> throw new IllegalArgumentException(path);
    };
  }
}
