package dev.doorbell.experiments.scenario.training;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
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
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;

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
    run.requireVirtualTime(
        CODE, "training steps run in virtual time", "use clock: virtual, gpu: vm and hca: soft");
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
      World world = open.add(of.between().world(run, of.ranks(), of.queues()).open());
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
        trials.add(open.add(each.trial(world, algorithm, node)));
      }
      run.inject(world);
      Agent idle = open.add(new Waiting(world)).agent();
      DevicePort clock = world.fabric().attachDevice(Locus.nic(0, 0), idle);
      long begin = world.fabric().now();
      for (int i = 0; i < trials.size(); i++) {
        passUntil(world, clock, begin + buckets.get(i).ready());
        run.perform(trials.get(i), CollectiveSettings.KERNEL_NANOS);
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

  /**
   * A backward pass: the layers in the order in which their gradients are ready, the last of the
   * model first.
   *
   * @param layers in that order
   */
  record Backward(List<Layer> layers) {
    private static final String CODE = "DB-P036";

    private static final Pattern BETWEEN = Pattern.compile("[\\s,]+");

    /** Buckets are cut at whole elements of any type. */
    private static final int UNIT = 16;

    /**
     * A layer.
     *
     * @param nanos that its backward pass takes
     * @param bytes of its gradient
     */
    record Layer(long nanos, long bytes) {}

    /**
     * Gradients that are reduced together.
     *
     * @param ready nanoseconds from the beginning of the backward pass until the last of them is
     *     there
     */
    record Bucket(long ready, int bytes) {}

    Backward {
      layers = List.copyOf(layers);
    }

    /** Layers that are all alike. */
    static Backward uniform(int layers, long nanos, long bytes) {
      return new Backward(Collections.nCopies(layers, new Layer(nanos, bytes / layers)));
    }

    /**
     * Reads a file: a line for each layer, nanoseconds and bytes. Empty lines and what follows
     * {@code #} are skipped.
     *
     * @throws ConfigException when a line is none; the problem names it
     */
    static Backward read(String file, String text) throws ConfigException {
      List<Layer> layers = new ArrayList<>();
      List<String> lines = text.lines().toList();
      for (int number = 1; number <= lines.size(); number++) {
        String line = lines.get(number - 1).replaceAll("#.*", "").strip();
        if (line.isEmpty()) {
          continue;
        }
        List<String> words = BETWEEN.splitAsStream(line).toList();
        if (words.size() != 2) {
          throw problem(file, number, "%d numbers".formatted(words.size()));
        }
        layers.add(
            new Layer(
                whole(file, number, words.get(0)), Math.max(1, whole(file, number, words.get(1)))));
      }
      if (layers.isEmpty()) {
        throw problem(file, Math.max(1, lines.size()), "there is no layer in it");
      }
      return new Backward(layers);
    }

    private static long whole(String file, int line, String word) throws ConfigException {
      if (!word.matches("[0-9]{1,12}")) {
        throw problem(file, line, "'%s' is no whole number".formatted(word));
      }
      return Long.parseLong(word);
    }

    private static ConfigException problem(String file, int line, String what) {
      return new ConfigException(
          List.of(
              Problem.of(CODE, "%s:%d".formatted(file, line), what)
                  .effect(
                      "a line is a layer: nanoseconds of its backward pass, bytes of its gradient")
                  .fix(
                      "write such as 45000 1048576; the layer whose gradient is ready first comes"
                          + " first")));
    }

    /** How long it takes. */
    long nanos() {
      return layers.stream().mapToLong(Layer::nanos).sum();
    }

    /** Bytes of all gradients. */
    long bytes() {
      return layers.stream().mapToLong(Layer::bytes).sum();
    }

    /**
     * Fills buckets in the order of the gradients: a bucket is full when a further layer would make
     * it larger than {@code most}, and a larger layer has one alone.
     */
    List<Bucket> buckets(long most) {
      List<Bucket> buckets = new ArrayList<>();
      long now = 0;
      long bytes = 0;
      long ready = 0;
      for (Layer layer : layers) {
        if (bytes > 0 && bytes + layer.bytes() > most) {
          buckets.add(new Bucket(ready, padded(bytes)));
          bytes = 0;
        }
        now += layer.nanos();
        bytes += layer.bytes();
        ready = now;
      }
      buckets.add(new Bucket(ready, padded(bytes)));
      return buckets;
    }

    private static int padded(long bytes) {
      return Math.toIntExact((bytes + UNIT - 1) / UNIT * UNIT);
    }
  }
}
