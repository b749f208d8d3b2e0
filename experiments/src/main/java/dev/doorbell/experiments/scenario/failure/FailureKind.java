package dev.doorbell.experiments.scenario.failure;

import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.queue.SignalOrder;
import dev.doorbell.experiments.collective.Algorithm;
import dev.doorbell.experiments.collective.Call;
import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.collective.Schedule;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.scenario.collective.CollectiveSettings;
import dev.doorbell.experiments.scenario.collective.CollectiveSettings.Buffers;
import dev.doorbell.experiments.scenario.collective.CollectiveTrial;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.NetworkSettings;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.SettingName;
import dev.doorbell.experiments.scenario.moe.ExpertSettings;
import dev.doorbell.experiments.scenario.moe.ExpertTrial;
import dev.doorbell.experiments.scenario.moe.Routing;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.World;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * An all-reduce or a dispatch in the middle of which a rank, a cable, a rail or a spine fails. The
 * kernels end by an error or their deadline; the hosts find out by a probe who reaches whom, and
 * the operation is done again by what is left, from the contributions that lie in the arenas.
 */
public final class FailureKind extends ExperimentKind<FailureKind.Settings> {
  private static final String CODE = "DB-P035";
  static final long KERNEL_NANOS = 1_000_000_000L;
  private static final long FIRST_RETRY_NANOS = 50_000;
  private static final long PROBE_NANOS = 500_000;
  private static final long NANOS_A_POINT = 2_500_000_000L;

  /** What the ranks are doing. */
  enum Operation {
    ALL_REDUCE,
    DISPATCH
  }

  /**
   * Settings of a point.
   *
   * @param fails what does
   * @param after nanoseconds from the launch
   * @param deadline nanoseconds that a kernel waits for anything
   */
  record Settings(
      Point point,
      Failure fails,
      Operation operation,
      @SettingName("fails_at") int after,
      int deadline,
      CollectiveSettings collective,
      ExpertSettings experts) {
    int ranks() {
      return experts.ranks();
    }

    NetworkSettings between() {
      return experts.between();
    }
  }

  public FailureKind() {
    super(
        "fails: rank, link, rail or spine",
        CODE,
        Settings.class,
        Interrupted.HEALTHY,
        Interrupted.DETECT,
        Interrupted.PROBE,
        Interrupted.RECOVER,
        Interrupted.DEGRADED,
        "lost");
  }

  @Override
  public boolean applies(Point point) {
    return point.has("fails") && !point.text("fails").equals("none");
  }

  @Override
  protected boolean takesAnyQueues() {
    return true;
  }

  @Override
  protected void check(Settings of, Checks checks) {
    of.between().check(of.ranks(), checks);
    checks.refuseIf(
        !Set.copyOf(of.point.kernels()).equals(Set.of("collective", "moe")),
        "kernels " + of.point.kernels(),
        "an operation is chosen by operation: all-reduce or dispatch",
        "kernel: [collective, moe]");
    checks.refuseIf(
        of.between().network() != NetworkSettings.Shape.RAILS,
        "a failure without rails",
        "what is left has to be another way",
        "use network: rails, with radix as many as a node has ranks");
    checks.refuseIf(
        of.collective.collective() != Collective.ALL_REDUCE
            || of.collective.buffers() == Buffers.IN_PLACE,
        "a failure in anything but an all-reduce out of place",
        "what was overwritten cannot be done again",
        "leave collective and buffers out");
    checks.refuseIf(
        of.operation == Operation.ALL_REDUCE && of.fails == Failure.SPINE,
        "a spine in an all-reduce",
        "it goes along rails and inside of nodes alone",
        "use operation: dispatch");
    checks.refuseIf(
        of.experts.topk() > of.experts.batch().local() * (of.ranks() - 2),
        "%d experts of a token, where some ranks fail".formatted(of.experts.topk()),
        "use more ranks, more experts or a smaller topk");
    checks.refuseIf(
        of.experts.experts() % of.ranks() != 0,
        "%d experts at %d ranks".formatted(of.experts.experts(), of.ranks()),
        "use a multiple of the ranks");
    checks.refuseIf(
        of.after >= of.deadline,
        "a failure after %d ns, with deadlines of %d ns".formatted(of.after, of.deadline),
        "use a larger deadline");
  }

  @Override
  protected long estimateNanos(Settings of) {
    return NANOS_A_POINT;
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    if (!(run.backend() instanceof ExecutionBackend.Virtual)) {
      throw run.waived(
          CODE, "networks fail in virtual time alone", "use clock: virtual, gpu: vm, hca: soft");
    }
    Settings of = run.settings();
    int node = run.topology().ranksOfNode();
    if (of.ranks() % node != 0 || of.ranks() == node || of.between().radix() != node) {
      throw run.waived(
          CODE,
          "%d ranks, %d a node of '%s', %d rails"
              .formatted(of.ranks(), node, run.topology().name(), of.between().radix()),
          "use several whole nodes (a topology with nvlink:), and radix: %d".formatted(node));
    }
    try (World world =
        run.world()
            .ranks(of.ranks())
            .mtu(of.experts.queues().mtu())
            .firstRetry(FIRST_RETRY_NANOS)
            .switching(of.between().of(run.topology(), of.ranks()))
            .open()) {
      Interrupted interrupted = new Interrupted(run, world);
      switch (of.operation) {
        case ALL_REDUCE -> allReduce(interrupted, node);
        case DISPATCH -> dispatch(interrupted, node);
      }
      run.count("lost", Quantity.count(interrupted.network().counters().lost()));
    }
  }

  private static void allReduce(Interrupted interrupted, int node) throws PointFailure {
    PointRun<Settings> run = interrupted.run();
    CollectiveSettings of = run.settings().collective;
    Call call = of.call(node);
    Schedule whole = of.schedule(Algorithm.HIERARCHICAL, node);
    List<Integer> alive = IntStream.of(run.settings().fails.alive(of.ranks())).boxed().toList();
    Schedule left = left(run.settings(), node, alive, Set.of(Failure.STRUCK % node));
    try (CollectiveTrial trial =
        new CollectiveTrial(
            interrupted.world(),
            call,
            whole,
            List.of(left),
            shape(run.settings(), of.path().blueFlame(), true),
            LaunchConfig.of(1, of.threads()).withTimeout(KERNEL_NANOS),
            1)) {
      double healthy = run.perform(trial, KERNEL_NANOS).nanos();
      interrupted.strike(trial, trial::errorOf);
      Set<Integer> mute = probe(interrupted);
      Set<Integer> rails = mute.stream().map(rank -> rank % node).collect(Collectors.toSet());
      rails.removeIf(place -> run.settings().fails == Failure.RANK);
      trial.goOn(left(run.settings(), node, alive, rails), alive);
      double degraded = run.perform(trial, KERNEL_NANOS).nanos();
      interrupted.recovered(healthy, degraded);
    }
  }

  /**
   * The steps of what is left: without a rank, or without the rails of the others that are mute.
   */
  private static Schedule left(Settings of, int node, List<Integer> alive, Set<Integer> rails) {
    CollectiveSettings settings = of.collective;
    if (of.fails != Failure.RANK) {
      return Algorithm.withoutRails(
          settings.call(node), rails, settings.mostPacked(), settings.longest());
    }
    Call among = settings.call(1).among(alive.size());
    return Algorithm.HALVING
        .schedule(among, settings.mostPacked(), settings.longest())
        .among(alive, of.ranks(), node);
  }

  private static void dispatch(Interrupted interrupted, int node) throws PointFailure {
    PointRun<Settings> run = interrupted.run();
    ExpertSettings of = run.settings().experts;
    Routing routing =
        Routing.uniform(of.ranks(), of.tokens(), of.topk(), of.experts(), run.point().seed());
    LaunchConfig grid = LaunchConfig.of(of.blocks(), of.threads()).withTimeout(KERNEL_NANOS);
    Endpoint.Shape shape = shape(run.settings(), of.path().blueFlame(), false);
    double healthy;
    try (ExpertTrial trial =
        new ExpertTrial(of.batch(), routing, interrupted.world(), shape, grid, node)) {
      healthy = run.perform(trial.dispatch(), KERNEL_NANOS).nanos();
      ExpertTrial.Phase phase = trial.dispatch();
      interrupted.strike(phase, trial::errorOf);
      if (!interrupted.noticed()) {
        interrupted.verify(phase);
        interrupted.recovered(healthy, (double) phase.nanos());
        return;
      }
    }
    Set<Integer> mute = probe(interrupted);
    List<Integer> left =
        IntStream.range(0, of.ranks()).filter(rank -> !mute.contains(rank)).boxed().toList();
    try (ExpertTrial trial =
        new ExpertTrial(
            of.batch().among(left.size()),
            routing.among(left, of.topk()),
            interrupted.world().among(left),
            shape,
            grid,
            1)) {
      double degraded = run.perform(trial.dispatch(), KERNEL_NANOS).nanos();
      interrupted.recovered(healthy, degraded);
    }
  }

  /** Everybody who is alive puts a flag to everybody: the ranks that nobody hears. */
  private static Set<Integer> probe(Interrupted interrupted) throws PointFailure {
    Settings of = interrupted.run().settings();
    Call barrier = of.collective.call(1).barrier();
    try (CollectiveTrial trial =
        new CollectiveTrial(
            interrupted.world(),
            barrier,
            Algorithm.DIRECT.schedule(barrier, 0, of.collective.longest()),
            Endpoint.Shape.builder(of.collective.queues().depth(), PROBE_NANOS).build(),
            LaunchConfig.of(1, 32).withTimeout(KERNEL_NANOS),
            1)) {
      return interrupted.probe(trial);
    }
  }

  private static Endpoint.Shape shape(Settings of, boolean blueFlame, boolean exclusive) {
    return Endpoint.Shape.builder(of.experts.queues().depth(), of.deadline)
        .placement(of.experts.queues().placement())
        .blueFlame(blueFlame)
        .exclusive(exclusive)
        .order(SignalOrder.of(of.experts.queues().nic().adapter().promises()))
        .build();
  }
}
