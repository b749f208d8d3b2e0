package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Placement;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.Supplier;

/**
 * One point of an all-to-all in virtual time: each rank's GPU runs a kernel for each other rank,
 * all at once, each of which posts its messages to a queue pair of its own. Every byte at every
 * rank is compared. A sample is a world of its own with another order of what happens at the same
 * time.
 */
final class AllToAllPoint {
  private static final long KERNEL_NANOS = 1_000_000_000L;
  private static final long DEADLINE_NANOS = 500_000_000L;
  private static final long SLICE_NANOS = 200_000;

  private final Point point;
  private final PointContext context;
  private final Topology topology;
  private final Protocol protocol = Protocol.ofCatalogue("put_bandwidth");
  private final TransferPath path;
  private final int ranks;
  private final int bytes;
  private final int messages;
  private long verified;

  AllToAllPoint(Point point, PointContext context, Topology topology) {
    this.point = point;
    this.context = context;
    this.topology = topology;
    this.path = TransferPath.of(point.text("path"));
    this.ranks = (int) point.whole("ranks");
    this.bytes = (int) point.whole("size");
    this.messages = (int) point.whole("messages");
  }

  PointResult run() throws PointFailure {
    double[] nanos = new double[point.samples()];
    double[] rates = new double[point.samples()];
    for (int sample = 0; sample < nanos.length; sample++) {
      nanos[sample] = dispatch(sample);
      rates[sample] = (double) ranks * (ranks - 1) * messages * bytes / nanos[sample];
    }
    List<Samples> samples = new ArrayList<>();
    for (String metric : point.metrics()) {
      samples.add(
          metric.equals(AllToAllFamily.DISPATCH)
              ? Samples.of(metric, "ns", nanos)
              : Samples.of(metric, "GB/s", rates));
    }
    return new PointResult(Basis.MODELLED, samples, new LinkedHashMap<>(), verified, List.of());
  }

  /** Two ranks of a pair, which send to each other. */
  private record Pair(RankBuffers one, RankBuffers other) {}

  private double dispatch(int sample) throws PointFailure {
    try (Owned open = new Owned()) {
      World world =
          open.add(
              World.timed(
                  topology, ranks, (int) point.whole("mtu"), point.seed() + sample, Trace.NONE));
      List<Pair> pairs = pairs(world, open);
      List<Supplier<Launch>> starts = new ArrayList<>();
      for (Pair pair : pairs) {
        starts.add(prepare(pair.one, pair.other));
        starts.add(prepare(pair.other, pair.one));
      }
      await(world, starts.stream().map(Supplier::get).toList());
      long first = Long.MAX_VALUE;
      long last = 0;
      for (Pair pair : pairs) {
        verify(pair.one, pair.other);
        verify(pair.other, pair.one);
        first = Math.min(first, Math.min(pair.one.started(), pair.other.started()));
        last = Math.max(last, Math.max(pair.one.ended(), pair.other.ended()));
      }
      return last - first;
    } catch (GpuException e) {
      throw failure(PointFailure.Kind.FAILED, "DB-P001", String.valueOf(e.getMessage()));
    }
  }

  private List<Pair> pairs(World world, Owned open) {
    int depth = (int) point.whole("depth");
    Endpoint.Shape shape =
        new Endpoint.Shape(
            depth,
            depth,
            false,
            new Placement(
                Placement.kind(point.text("sq")),
                Placement.kind(point.text("cq")),
                Placement.kind(point.text("record"))),
            path.blueFlame(),
            false,
            true,
            1,
            DEADLINE_NANOS);
    List<Pair> pairs = new ArrayList<>();
    for (int one = 0; one < ranks; one++) {
      for (int other = one + 1; other < ranks; other++) {
        Connection connection = open.add(Connection.between(world, one, other, shape));
        pairs.add(
            new Pair(
                buffers(world, connection, one, other, open),
                buffers(world, connection, other, one, open)));
      }
    }
    return pairs;
  }

  private RankBuffers buffers(World world, Connection connection, int from, int to, Owned open) {
    Rank rank = world.rank(from);
    return open.add(
        new RankBuffers(
            connection,
            rank,
            RankBuffers.Buffers.of(bytes, rank.payload()),
            point.seed() ^ ((long) from * ranks + to)));
  }

  private Supplier<Launch> prepare(RankBuffers from, RankBuffers to) {
    JobView job = new JobView();
    job.iterations = messages;
    job.path = path.jobPath();
    job.scope = JobView.SCOPE_BLOCK;
    job.window = (int) point.whole("window");
    return from.prepare(protocol, job, to, LaunchConfig.of(1, 1).withTimeout(KERNEL_NANOS));
  }

  private void await(World world, List<Launch> launches) throws PointFailure {
    for (long left = KERNEL_NANOS; left > 0; left -= SLICE_NANOS) {
      RunOutcome outcome = world.fabric().run(() -> allDone(launches), SLICE_NANOS);
      if (outcome == RunOutcome.DONE) {
        for (Launch launch : launches) {
          launch.check();
        }
        world.fabric().quiesce();
        return;
      }
      if (outcome == RunOutcome.STALLED) {
        String waiting =
            world.fabric() instanceof TimedFabric timed ? String.join("; ", timed.waiting()) : "";
        throw failure(
            PointFailure.Kind.FAILED, "DB-P003", "nothing can happen any more: " + waiting);
      }
      if (context.cancelled()) {
        launches.forEach(launch -> launch.cancel("interrupted"));
        throw failure(PointFailure.Kind.CANCELLED, "DB-P004", "interrupted");
      }
    }
    launches.forEach(launch -> launch.cancel("the point's time was over"));
    throw failure(PointFailure.Kind.TIMEOUT, "DB-P005", "the kernels did not end");
  }

  /** Asked after every event of the fabric, so it allocates nothing. */
  private static boolean allDone(List<Launch> launches) {
    for (int i = 0; i < launches.size(); i++) {
      if (!launches.get(i).done()) {
        return false;
      }
    }
    return true;
  }

  private void verify(RankBuffers from, RankBuffers to) throws PointFailure {
    String firstError = from.firstError();
    if (firstError != null) {
      throw failure(PointFailure.Kind.FAILED, "DB-P001", firstError);
    }
    String mismatch = to.mismatch(from);
    if (mismatch != null) {
      throw failure(PointFailure.Kind.MISMATCH, "DB-P002", mismatch);
    }
    verified += to.bytes();
  }

  private PointFailure failure(PointFailure.Kind kind, String code, String what) {
    return new PointFailure(kind, Problem.of(code, point.id(), what).effect("no result"));
  }
}
