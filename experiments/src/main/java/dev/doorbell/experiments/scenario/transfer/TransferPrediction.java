package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.model.PathModel;
import dev.doorbell.experiments.model.PostingPath;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The closed forms of a transfer: latency until the peer's kernel sees the last word, and the rate
 * that no window passes. What the kernel's other instructions cost is not in the forms: it is what
 * the residual shows.
 */
final class TransferPrediction {
  private TransferPrediction() {}

  static Prediction of(Point point, Topology topology) {
    PathModel model = PathModel.perPacket(topology, (int) point.whole("mtu"));
    PostingPath path = postingPath(point);
    long bytes = point.whole("size");
    List<Prediction.Term> terms = new ArrayList<>();
    if (!point.text("payload").equals("gpu") || TransferShape.byWarp(point)) {
      // The forms are of payload in GPU memory, and of a message that is one WQE.
      return Prediction.none();
    }
    OptionalDouble inject = model.latencyNanos(path, bytes);
    // The form has no end of staging area; messages above a slot go in chunks, one after the other.
    boolean chunked =
        TransferPath.of(point.text("path")).jobPath() == JobView.PATH_STAGE
            && bytes > point.whole("chunk");
    if (inject.isPresent() && !chunked) {
      terms.add(
          new Prediction.Term(
              "latency",
              inject.getAsDouble() + beyond(model, path, bytes, point.whole("mtu")),
              "ns",
              "T_%s = %s, + W_net + L_GN + poll".formatted(path.word(), path.formula()),
              false));
    }
    OptionalDouble ceiling = model.ceiling(path, bytes);
    if (ceiling.isPresent()) {
      terms.add(goodput(point, model, path, ceiling.getAsDouble()));
    }
    return new Prediction(terms);
  }

  /** The legs' ceiling, or that of the posters, of whom each queue pair has one. */
  private static Prediction.Term goodput(
      Point point, PathModel model, PostingPath path, double legs) {
    long chunk = Math.min(point.whole("size"), point.whole("chunk"));
    OptionalDouble poster = model.posterCeiling(path, chunk);
    double posters =
        poster.isPresent() ? poster.getAsDouble() * point.whole("qps") : Double.POSITIVE_INFINITY;
    String fence = path == PostingPath.D ? "2 F_s" : "F_m";
    return posters < legs
        ? new Prediction.Term(
            "goodput",
            posters,
            "GB/s",
            "posters of %s, a chunk c each in o_g + S_w(c) + %s".formatted(path.word(), fence),
            true)
        : new Prediction.Term(
            "goodput",
            legs,
            "GB/s",
            "the narrowest of the PCIe legs of %s and the network".formatted(path.word()),
            true);
  }

  /** From the emission of the last packet until the peer's poll returns it. */
  private static double beyond(PathModel model, PostingPath path, long bytes, long mtu) {
    Topology topology = model.topology();
    Network network = topology.network();
    long last = Math.min(bytes, mtu);
    double wire = network.nanos() + (last + network.packetOverhead()) / network.bytesPerNano();
    double slope = slope(model, path, bytes);
    double networkSlope = 1 / network.bytesPerNano();
    double queueing = slope < networkSlope ? bytes * (networkSlope - slope) : 0;
    double delivery =
        topology.path("gpu0", "nic0").nanos() + topology.gpus().getFirst().strongLoad();
    return wire + queueing + delivery;
  }

  /** Nanoseconds a byte that the path takes at this size; infinite where it cannot grow. */
  private static double slope(PathModel model, PostingPath path, long bytes) {
    OptionalDouble here = model.latencyNanos(path, bytes);
    OptionalDouble twice = model.latencyNanos(path, 2 * bytes);
    return here.isPresent() && twice.isPresent()
        ? (twice.getAsDouble() - here.getAsDouble()) / bytes
        : Double.POSITIVE_INFINITY;
  }

  /** The variant of the closed forms that a point's path and placement stand for. */
  static PostingPath postingPath(Point point) {
    boolean host = point.text("sq").equals("host");
    return switch (TransferPath.of(point.text("path"))) {
      case PULL -> host ? PostingPath.A4 : PostingPath.A3;
      case PULL_BF -> PostingPath.A5;
      case PUSH_INLINE -> host ? PostingPath.B2 : PostingPath.B1;
      case PUSH_BF -> PostingPath.B3;
      case PUSH_MEMIC -> PostingPath.C1;
      case STAGED -> PostingPath.D;
      case PROXY -> PostingPath.E1;
    };
  }
}
