package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.model.PathModel;
import dev.doorbell.experiments.model.PostingPath;
import dev.doorbell.experiments.plan.Prediction;
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

  static Prediction of(TransferSettings of, Topology topology) {
    PathModel model = PathModel.perPacket(topology, of.queues().mtu());
    PostingPath path = postingPath(of);
    long bytes = of.size();
    List<Prediction.Term> terms = new ArrayList<>();
    if (of.payload() != MemoryKind.DEVICE || of.byWarp()) {
      // The forms are of payload in GPU memory, and of a message that is one WQE.
      return Prediction.none();
    }
    OptionalDouble inject = model.latencyNanos(path, bytes);
    // The form has no end of staging area; messages above a slot go in chunks, one after the other.
    boolean chunked = of.stages() && bytes > of.chunk();
    if (inject.isPresent() && !chunked) {
      terms.add(
          new Prediction.Term(
              "latency",
              inject.getAsDouble() + beyond(model, path, bytes, of.queues().mtu()),
              "ns",
              "T_%s = %s, + W_net + L_GN + poll".formatted(path.word(), path.formula()),
              false));
    }
    OptionalDouble ceiling = model.ceiling(path, bytes);
    if (ceiling.isPresent()) {
      terms.add(goodput(of, model, path, ceiling.getAsDouble()));
    }
    return new Prediction(terms);
  }

  /** The legs' ceiling, or that of the posters, of whom each queue pair has one. */
  private static Prediction.Term goodput(
      TransferSettings of, PathModel model, PostingPath path, double legs) {
    long chunk = Math.min(of.size(), of.chunk());
    OptionalDouble poster = model.posterCeiling(path, chunk);
    double posters =
        poster.isPresent() ? poster.getAsDouble() * of.qps() : Double.POSITIVE_INFINITY;
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
  static PostingPath postingPath(TransferSettings of) {
    boolean host = of.queues().sq() == MemoryKind.HOST;
    return switch (of.path()) {
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
