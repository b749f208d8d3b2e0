package dev.doorbell.experiments.run;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.plan.Catalogue;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.ModelConstant;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.topology.TopologyFile;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Random;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** A world without GPUs: samples follow from the point's seed, and a test may change the rest. */
public class FakeRuntime implements ExperimentRuntime {
  /** Runs a point; replace it to fail, to wait or to be slow. */
  public PointRunner runner = (point, _) -> called(result(point));

  /** What its numbers are called. */
  public Basis basis = Basis.MODELLED;

  /** What is impossible; replace it to complain. */
  public java.util.function.Function<Point, List<Problem>> check = _ -> List.of();

  /** What happens to a message of any point; null: no message is traced. */
  public @Nullable Timeline timeline;

  /** A straight line with noise that depends on the point alone. */
  public static PointResult result(Point point) {
    Random random = new Random(point.seed());
    double base = model(point);
    double[] latency = new double[point.samples()];
    double[] goodput = new double[point.samples()];
    for (int i = 0; i < latency.length; i++) {
      latency[i] = Math.round(base + random.nextInt(50));
      goodput[i] = point.whole("size") / latency[i];
    }
    SequencedMap<String, Quantity> counters = new LinkedHashMap<>();
    counters.put("tlp.bytes", new Quantity(point.whole("size") + 24, "B"));
    counters.put("fences", Quantity.count(2));
    return new PointResult(
        Basis.MODELLED,
        List.of(Samples.of("latency", "ns", latency), Samples.of("goodput", "GB/s", goodput)),
        counters,
        point.whole("size") * point.samples(),
        List.of());
  }

  private PointResult called(PointResult result) {
    return new PointResult(
        basis, result.samples(), result.counters(), result.verifiedBytes(), result.notes());
  }

  private static double model(Point point) {
    return point.text("path").startsWith("push")
        ? 1000 + point.whole("size") / 10.0
        : 2000 + point.whole("size") / 20.0;
  }

  @Override
  public Environment choose(Environment.Request request) throws EnvironmentException {
    if (request.gpu().startsWith("cuda")) {
      throw new EnvironmentException(
          Problem.of("DB-E001", "gpu", "no CUDA driver").fix("use gpu: vm"));
    }
    return new Environment(
        new Environment.Choice("ptx-vm", "no CUDA driver"),
        new Environment.Choice("soft-hca", "no mlx5 device"),
        new Environment.Choice("virtual", "the config asks for it"),
        basis);
  }

  @Override
  public List<Problem> check(Point point) {
    return check.apply(point);
  }

  @Override
  public ExperimentRuntime with(List<UserKernel> kernels) {
    throw new UnsupportedOperationException("this runtime knows no kernels");
  }

  @Override
  public PointRunner runner(Environment environment) {
    return runner;
  }

  @Override
  public Prediction predict(Point point) {
    return new Prediction(
        List.of(new Prediction.Term("latency", model(point), "ns", "T = a + N/B", false)));
  }

  @Override
  public Timeline timeline(Point point, @Nullable Path capture) throws PointFailure {
    return timeline == null ? ExperimentRuntime.super.timeline(point, capture) : timeline;
  }

  @Override
  public List<ModelConstant> constants(List<Point> points) {
    return List.of(
        new ModelConstant("L_GN", 250, "ns", ModelConstant.Origin.ASSUMED, "a round number"));
  }

  @Override
  public long estimateNanos(Point point) {
    return 10_000_000;
  }

  @Override
  public Catalogue catalogue() {
    return new Catalogue(
        List.of(
            new Catalogue.Entry("put_latency", "ping-pong of puts", ""),
            new Catalogue.Entry("put_bandwidth", "a window of puts", "")),
        List.of(
            new Catalogue.Entry("same-switch", "GPU and HCA below one switch", ""),
            new Catalogue.Entry("cross-rc", "across two root complexes", ""),
            new Catalogue.Entry("cross-socket", "across two sockets", ""),
            new Catalogue.Entry("h200-cx7", "a ConnectX-7 below one switch", text("h200-cx7")),
            new Catalogue.Entry("h200-cx7-epyc", "the same across two root ports", ""),
            new Catalogue.Entry("h200nvl-cx7-far", "a ConnectX-7 at the other socket", "")));
  }

  private static String text(String topology) {
    try {
      return TopologyFile.text(topology);
    } catch (ConfigException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void demo(PrintStream out) {
    out.println("WQE[0] RDMA_WRITE");
  }
}
