package dev.doorbell.experiments.scenario.training;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.collective.Algorithm;
import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.collective.CollectiveModel;
import dev.doorbell.experiments.scenario.collective.CollectiveSettings;
import dev.doorbell.experiments.scenario.collective.CollectiveTrial;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.ExperimentKind.SettingName;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A training step: buckets of gradients are all-reduced one after the other, each as soon as its
 * gradients are ready and the one before it is reduced, as by a stream of their own. What of that
 * is left when the backward pass has ended is exposed. Layers take the time that is given, and
 * nothing of the GPU or of its memory is shared with them.
 */
public final class TrainingKind extends ExperimentKind<TrainingKind.Settings> {
  private static final String CODE = "DB-P036";
  private static final String STEP = "step";
  private static final String EXPOSED = "exposed";
  private static final long KERNEL_NANOS = 2_000_000_000L;
  private static final long DEADLINE_NANOS = 1_000_000_000L;
  private static final long MOST_BYTES = 1L << 30;
  private static final long NANOS_A_POINT = 300_000_000L;
  private static final long NANOS_A_BUCKET = 60_000_000L;
  private static final long NANOS_A_BYTE = 50;

  /**
   * Settings of a point.
   *
   * @param layers of the model; 0: the point is not one of these
   * @param layerNanos of each layer's backward pass
   * @param bucket bytes of gradients that are reduced together
   * @param backward uniform, or the path of a file with a line for each layer
   */
  record Settings(
      Point point,
      int layers,
      @SettingName("layer_ns") int layerNanos,
      int bucket,
      String backward,
      CollectiveSettings collective) {
    boolean uniform() {
      return backward.equals("uniform");
    }

    Backward uniformly() {
      return Backward.uniform(layers, layerNanos, collective.size());
    }
  }

  public TrainingKind() {
    super("layers: 1 or more", CODE, Settings.class, STEP, EXPOSED);
  }

  @Override
  public boolean applies(Point point) {
    return point.has("layers")
        && point.whole("layers") > 0
        && point.kernels().equals(List.of("collective"));
  }

  @Override
  protected boolean takesAnyQueues() {
    return true;
  }

  @Override
  protected void check(Settings of, Checks checks) {
    CollectiveSettings collective = of.collective;
    collective.between().check(collective.ranks(), checks);
    checks.refuseIf(
        collective.collective() != Collective.ALL_REDUCE,
        "a training step with %s".formatted(collective.collective()),
        "gradients are all-reduced",
        "leave collective out");
    checks.refuseIf(
        (long) collective.size() * collective.ranks() > MOST_BYTES,
        "%d ranks with gradients of %d bytes".formatted(collective.ranks(), collective.size()),
        "buffers of all ranks are more than 3 GiB",
        "use fewer ranks or a smaller size");
    checks.refuseIf(
        of.uniform() && collective.size() / of.layers < 16,
        "%d bytes of gradients in %d layers".formatted(collective.size(), of.layers),
        "use a larger size or fewer layers");
  }

  /** The same sequence with the predicted time of each bucket. */
  @Override
  protected Prediction predict(Settings of, Topology topology) {
    if (!of.uniform()) {
      return Prediction.none();
    }
    Backward backward = of.uniformly();
    double end = 0;
    for (Backward.Bucket bucket : backward.buckets(of.bucket)) {
      CollectiveSettings each = of.collective.withSize(bucket.bytes());
      end =
          Math.max(end, (double) bucket.ready())
              + CollectiveModel.nanos(each, topology, CollectiveModel.chosen(each, topology));
    }
    String what = "LogGP of the buckets, one after the other";
    return new Prediction(
        List.of(
            new Prediction.Term(STEP, end, "ns", what, false),
            new Prediction.Term(EXPOSED, end - backward.nanos(), "ns", what, false)));
  }

  @Override
  protected long estimateNanos(Settings of) {
    long buckets = Math.max(1, of.collective.size() / of.bucket);
    return NANOS_A_POINT
        + of.point.samples()
            * (buckets * NANOS_A_BUCKET
                + NANOS_A_BYTE * of.collective.size() * of.collective.ranks());
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    if (!(run.backend() instanceof ExecutionBackend.Virtual)) {
      throw run.waived(
          CODE, "training steps run in virtual time", "use clock: virtual, gpu: vm and hca: soft");
    }
    Settings of = run.settings();
    Backward backward = backward(run);
    List<Backward.Bucket> buckets = backward.buckets(of.bucket);
    double[] steps = new double[run.point().samples()];
    double[] exposed = new double[steps.length];
    for (int sample = 0; sample < steps.length; sample++) {
      steps[sample] = step(run, buckets);
      exposed[sample] = Math.max(0, steps[sample] - backward.nanos());
    }
    if (run.asksFor(STEP)) {
      run.add(Samples.of(STEP, "ns", steps));
    }
    if (run.asksFor(EXPOSED)) {
      run.add(Samples.of(EXPOSED, "ns", exposed));
    }
  }

  private static Backward backward(PointRun<Settings> run) throws PointFailure {
    Settings of = run.settings();
    if (of.uniform()) {
      return of.uniformly();
    }
    try {
      Backward backward = Backward.read(of.backward, Files.readString(Path.of(of.backward)));
      if (backward.bytes() * of.collective.ranks() > MOST_BYTES) {
        throw run.failed(
            CODE, "%d bytes of gradients at each rank are too many".formatted(backward.bytes()));
      }
      return backward;
    } catch (ConfigException e) {
      throw new PointFailure(PointFailure.Kind.FAILED, e.problems().getFirst());
    } catch (IOException e) {
      throw run.failed(
          CODE,
          "%s cannot be read: %s".formatted(of.backward, e.getClass().getSimpleName()),
          "backward is uniform, or the path of a file with a line for each layer");
    }
  }

  /** One step in a world of its own: nanoseconds until the last bucket is reduced everywhere. */
  private static double step(PointRun<Settings> run, List<Backward.Bucket> buckets)
      throws PointFailure {
    CollectiveSettings of = run.settings().collective;
    int node = run.topology().ranksOfNode();
    Set<String> algorithms = new LinkedHashSet<>();
    try (Owned open = new Owned()) {
      World world =
          open.add(
              run.world()
                  .ranks(of.ranks())
                  .mtu(of.queues().mtu())
                  .switching(of.between().of(run.topology(), of.ranks()))
                  .open());
      List<CollectiveTrial> trials = new ArrayList<>();
      for (Backward.Bucket bucket : buckets) {
        CollectiveSettings each = of.withSize(bucket.bytes());
        Algorithm algorithm = CollectiveModel.chosen(each, run.topology());
        if (!algorithm.makes(Collective.ALL_REDUCE, of.ranks(), node)) {
          throw run.waived(
              CODE,
              "%s among %d ranks, %d a node".formatted(word(algorithm), of.ranks(), node),
              "use another algorithm, or a topology with nvlink: and several whole nodes");
        }
        algorithms.add(word(algorithm));
        trials.add(
            open.add(
                new CollectiveTrial(
                    world,
                    each.call(node),
                    each.schedule(algorithm, node),
                    shape(of),
                    LaunchConfig.of(1, of.threads()).withTimeout(KERNEL_NANOS),
                    1)));
      }
      run.inject(world);
      Agent idle = open.add(new Waiting(world)).agent();
      DevicePort clock = world.fabric().attachDevice(Locus.nic(0, 0), idle);
      long begin = world.fabric().now();
      for (int i = 0; i < trials.size(); i++) {
        passUntil(world, clock, begin + buckets.get(i).ready());
        run.perform(trials.get(i), KERNEL_NANOS);
      }
      run.note("%d buckets by %s".formatted(buckets.size(), String.join(", ", algorithms)));
      return trials.getLast().endedAt() - begin;
    }
  }

  private static String word(Algorithm algorithm) {
    return algorithm.name().toLowerCase(Locale.ROOT);
  }

  /** The device whose clock waits for gradients. */
  private record Waiting(World world, Agent agent) implements AutoCloseable {
    Waiting(World world) {
      this(world, budget -> 0);
    }

    @Override
    public void close() {
      world.fabric().detach(agent);
    }
  }

  private static void passUntil(World world, DevicePort clock, long when) {
    long left = when - world.fabric().now();
    if (left > 0) {
      AtomicBoolean due = new AtomicBoolean();
      clock.timer(left, ok -> due.set(true));
      world.fabric().run(due::get, left + 1);
    }
  }

  private static Endpoint.Shape shape(CollectiveSettings of) {
    return Endpoint.Shape.builder(of.queues().depth(), DEADLINE_NANOS)
        .placement(of.queues().placement())
        .blueFlame(of.path().blueFlame())
        .exclusive(true)
        .order(of.signal().on(of.queues().nic().adapter().promises()))
        .build();
  }
}
