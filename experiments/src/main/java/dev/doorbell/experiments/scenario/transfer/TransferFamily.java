package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.Protocols;
import dev.doorbell.experiments.scenario.kind.PointFamily;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.util.List;
import java.util.Set;

/** Points whose kernels put messages from one rank to another; all that no other family takes. */
public final class TransferFamily implements PointFamily {
  private static final Set<String> SETTINGS =
      Set.of(
          "path",
          "ranks",
          "offset",
          "sq",
          "cq",
          "record",
          "doorbell",
          "scope",
          "threads",
          "qps",
          "depth",
          "window",
          "chunk",
          "mtu",
          "payload",
          "dma",
          "relaxed");
  private static final Set<String> METRICS =
      Set.of(
          "latency", "goodput", "tlp.bytes", "tlp.count", "link.crossings", "fences", "fence.time");
  private static final long POINT_NANOS = 200_000_000L;
  private static final double NANOS_A_BYTE = 0.6;

  private final Protocols protocols;

  public TransferFamily(Protocols protocols) {
    this.protocols = protocols;
  }

  @Override
  public String asked() {
    return "kernel: [put_latency, put_bandwidth]";
  }

  @Override
  public boolean takes(Point point) {
    return true;
  }

  @Override
  public Set<String> settings() {
    return SETTINGS;
  }

  @Override
  public Set<String> metrics() {
    return METRICS;
  }

  @Override
  public void check(Point point, Topology topology, List<Problem> problems) {
    TransferChecks.of(point, problems);
    protocols.check(point, problems);
  }

  @Override
  public void check(Point point, ExecutionBackend backend, List<Problem> problems) {
    if (backend instanceof ExecutionBackend.Verbs verbs) {
      VerbsChecks.of(point, verbs, problems);
    }
  }

  @Override
  public PointResult run(
      Point point, PointContext context, Topology topology, ExecutionBackend backend)
      throws PointFailure {
    return new TransferPoint(point, context, topology, protocols, backend).run();
  }

  /** The closed forms speak of Doorbell's own protocols, and of payload in GPU memory. */
  @Override
  public Prediction predict(Point point, Topology topology) {
    if (!point.text("payload").equals("gpu")) {
      return Prediction.none();
    }
    Protocol pingPong = protocols.latency(point);
    Protocol streaming = protocols.goodput(point);
    return new Prediction(
        TransferPrediction.of(point, topology).terms().stream()
            .filter(
                term -> {
                  Protocol protocol = term.metric().equals("latency") ? pingPong : streaming;
                  return protocol != null && protocol.own();
                })
            .toList());
  }

  @Override
  public long estimateNanos(Point point) {
    long ranks = Math.max(2, point.whole("ranks"));
    return (POINT_NANOS + (long) (NANOS_A_BYTE * point.whole("size"))) * (ranks * ranks / 4);
  }
}
