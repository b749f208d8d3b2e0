package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.scenario.kernel.Protocols;
import dev.doorbell.experiments.scenario.kind.QueueSettings.AdapterName;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A kind of points, such as transfers, or pushes into rings of on-chip memory: when it applies, its
 * settings and metrics, what it refuses, how it measures, and what the closed forms predict.
 *
 * <p>{@link ExperimentKinds} finds kinds as services, also those of a user's jar. One object serves
 * several threads at once: what a point needs lives in its {@link PointRun}.
 *
 * @param <S> the settings that mean something to these points, a component each; a setting that
 *     only other kinds read has to have the schema's default
 */
public abstract class ExperimentKind<S extends Record> {
  private static final String KERNEL = "kernel: ";

  private final String request;
  private final @Nullable String kernel;
  private final String code;
  private final Class<S> settings;
  private final Set<String> names;
  private final KindDescription description;

  /** Names the setting, where Java does not allow it as the name of a record component. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.RECORD_COMPONENT)
  public @interface SettingName {
    /** The name in configs, such as {@code switch}. */
    String value();
  }

  /**
   * A kind.
   *
   * @param request what a config says to get such points, such as {@code traffic: incast}; where it
   *     is {@code kernel:} and one kernel, this kernel makes a point one of these
   * @param code of the problems that its points may have
   * @param settings of its points
   * @param metrics that its points may have; none where {@code KIND.yaml} beside the class has them
   */
  protected ExperimentKind(String request, String code, Class<S> settings, String... metrics) {
    this.request = request;
    this.kernel = request.matches(KERNEL + "[a-z_]+") ? request.substring(KERNEL.length()) : null;
    this.code = code;
    this.settings = settings;
    this.names = PointSettings.names(settings);
    this.description = new KindDescription(getClass(), names, Set.of(metrics));
  }

  /** The request of a config for such points. */
  public final String request() {
    return request;
  }

  /** Names of the settings that mean something to these points. */
  public final Set<String> settings() {
    return names;
  }

  /** The metrics that these points may have. */
  public final Set<String> metrics() {
    return description.metrics();
  }

  /**
   * Returns true if a point may have a metric, as one of these or because a kernel of it brings it.
   */
  public boolean measures(Point point, String metric) {
    return metrics().contains(metric);
  }

  /** Returns true if a point is one of these; called after the kinds before it have refused it. */
  public boolean applies(Point point) {
    return kernel != null && point.kernels().contains(kernel);
  }

  /** Returns true if this kind takes every point that no other kind takes. */
  protected boolean takesTheRest() {
    return false;
  }

  /** Hands over the kernels that points may name, once, before anything else is asked. */
  protected void use(Protocols protocols) {}

  /**
   * Returns true if an HCA takes part. Without one, a real GPU's times are measured, not emulated.
   */
  public boolean usesHca() {
    return true;
  }

  /**
   * Returns true if kernels post through the device library alone, whatever the queues of the HCA.
   */
  protected boolean takesAnyQueues() {
    return false;
  }

  /**
   * Refuses what is impossible about a point on every backend, beyond settings and metrics of other
   * kinds, and beyond what {@code KIND.yaml} beside the class lists.
   */
  protected void check(S of, Checks checks) {}

  /** Numbers that formulas in {@code KIND.yaml} may name besides the settings. */
  protected Map<String, ? extends Number> numbers(S of) {
    return Map.of();
  }

  /** Refuses what {@code backend} cannot run, while others can. */
  protected void check(S of, ExecutionBackend backend, Checks checks) {
    if (backend instanceof ExecutionBackend.Verbs verbs) {
      checks
          .code("DB-P022")
          .refuseIf(
              true,
              "points of %s on hca: %s".formatted(request, verbs.hca().filter()),
              "they need parts that software HCAs alone have",
              "use hca: soft");
    }
  }

  /** Runs a point in worlds of its own, and closes them. */
  protected abstract void measure(PointRun<S> run) throws PointFailure;

  /** The closed forms for a point; none where no closed form applies. */
  protected Prediction predict(S of, Topology topology) {
    return Prediction.none();
  }

  /**
   * An estimate of the wall time of a point on one core, in nanoseconds, where {@code KIND.yaml}
   * has none.
   */
  protected long estimateNanos(S of) {
    return 0;
  }

  /**
   * The settings of a point.
   *
   * @throws PointFailure when one has a value that these points cannot use
   */
  public final S read(Point point) throws PointFailure {
    return PointSettings.read(point, settings);
  }

  /**
   * Adds what is impossible about a point on every backend.
   *
   * @return whether that is all there is to say: other problems follow from it
   */
  public final boolean check(Point point, List<Problem> problems) {
    try {
      List<Problem> found = new ArrayList<>();
      Checks checks = new Checks(code, point.id(), found);
      S of = read(point);
      description.check(point, numbers(of), checks);
      check(of, checks);
      Problem cause = checks.cause();
      problems.addAll(cause == null ? found : List.of(cause));
      return cause != null;
    } catch (PointFailure e) {
      problems.add(e.problem());
      return false;
    }
  }

  /** Adds what is impossible about a point on {@code backend}. */
  public final void check(Point point, ExecutionBackend backend, List<Problem> problems) {
    try {
      check(read(point), backend, new Checks(code, point.id(), problems));
      Adapter adapter = AdapterName.of(point);
      Checks checks = new Checks("DB-P022", point.id(), problems);
      checks.refuseIf(
          backend instanceof ExecutionBackend.Verbs && !adapter.equals(Adapter.DEFAULT),
          "nic %s on a real HCA".formatted(adapter),
          "a real one promises what it promises",
          "use hca: soft, or leave nic out");
      checks.refuseIf(
          adapter.promises().queues() != Promise.Queues.MLX5 && !takesAnyQueues(),
          "nic %s for %s".formatted(adapter, request),
          "its kernel, or its CPU, writes mlx5 work requests itself",
          "use another nic");
    } catch (PointFailure e) {
      problems.add(e.problem());
    }
  }

  /** The closed forms for a point. */
  public final Prediction predict(Point point, Topology topology) {
    try {
      return predict(read(point), topology);
    } catch (PointFailure e) {
      return Prediction.none();
    }
  }

  /** An estimate of the wall time of a point on one core, in nanoseconds. */
  public final long estimateNanos(Point point) {
    try {
      S of = read(point);
      return description.estimate(point, numbers(of)).orElseGet(() -> estimateNanos(of));
    } catch (PointFailure e) {
      return 0;
    }
  }

  /**
   * Runs a point: reads its settings, has {@link #measure} build worlds and perform trials in them,
   * and collects the result.
   *
   * @throws PointFailure when there is no result to be trusted; of kind {@code WAIVED} where the
   *     backend cannot run such points
   */
  public final PointResult run(
      Point point, PointContext context, Topology topology, ExecutionBackend backend)
      throws PointFailure {
    PointRun<S> run = new PointRun<>(point, read(point), context, topology, backend);
    try {
      measure(run);
      return run.result();
    } catch (GpuException e) {
      throw run.failed("DB-P001", String.valueOf(e.getMessage()));
    } catch (HcaException e) {
      throw run.failed("DB-P008", String.valueOf(e.getMessage()));
    } finally {
      run.reportFaults();
    }
  }
}
