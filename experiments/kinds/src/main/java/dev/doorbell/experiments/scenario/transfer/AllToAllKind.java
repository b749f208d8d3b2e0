package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.NetworkSettings;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.QueueSettings;
import dev.doorbell.experiments.scenario.world.Endpoint;
import java.util.List;

/**
 * Each rank's GPU runs a kernel for each other rank, all at once in virtual time, and each kernel
 * posts its messages to a queue pair of its own. Every byte at every rank is compared. A sample is
 * a world of its own with another order of what happens at the same time.
 */
public final class AllToAllKind extends ExperimentKind<AllToAllKind.Settings> {
  private static final String DISPATCH = "dispatch";
  private static final String GOODPUT = "goodput";
  private static final String KERNEL = "put_bandwidth";
  private static final long KERNEL_NANOS = 1_000_000_000L;
  private static final long DEADLINE_NANOS = 500_000_000L;

  record Settings(
      Point point,
      int size,
      TransferPath path,
      int ranks,
      int messages,
      QueueSettings queues,
      int window,
      NetworkSettings between) {
    Endpoint.Shape endpoint() {
      return queues.endpoint(DEADLINE_NANOS).blueFlame(path.blueFlame()).exclusive(true).build();
    }
  }

  public AllToAllKind() {
    super("metrics: [dispatch]", "DB-P029", Settings.class);
  }

  @Override
  public boolean applies(Point point) {
    return point.metrics().contains(DISPATCH);
  }

  @Override
  protected void check(Settings of, Checks checks) {
    of.between.check(of.ranks, checks);
    checks.refuseIf(
        !of.point.kernels().equals(List.of(KERNEL)),
        "an all-to-all is posted by one kernel",
        "kernel: " + KERNEL);
  }

  @Override
  protected Prediction predict(Settings of, Topology topology) {
    return new Prediction(
        List.of(
            new Prediction.Term(
                GOODPUT,
                topology.network().bytesPerNano() * of.ranks,
                "GB/s",
                "n C, the ports of all ranks",
                true)));
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    run.requireVirtualTime(
        "DB-P029", "an all-to-all of kernels runs in virtual time", "use clock: virtual");
    Settings of = run.settings();
    double[] nanos = new double[run.point().samples()];
    double[] rates = new double[nanos.length];
    for (int sample = 0; sample < nanos.length; sample++) {
      try (FlowTrial exchange = exchange(run, sample)) {
        nanos[sample] = run.perform(exchange, KERNEL_NANOS).nanos();
      }
      rates[sample] = (double) of.ranks * (of.ranks - 1) * of.messages * of.size / nanos[sample];
    }
    for (String metric : run.point().metrics()) {
      run.add(
          metric.equals(DISPATCH)
              ? Samples.of(metric, "ns", nanos)
              : Samples.of(metric, "GB/s", rates));
    }
  }

  private static FlowTrial exchange(PointRun<Settings> run, int sample) {
    Settings of = run.settings();
    FlowTrial trial =
        new FlowTrial(
            of.between.world(run, of.ranks, of.queues).seed(run.point().seed() + sample).open(),
            new FlowTrial.Shape(
                of.ranks, of.size, of.messages, of.window, of.path, of.endpoint(), KERNEL_NANOS),
            run.point().seed());
    for (int one = 0; one < of.ranks; one++) {
      for (int other = one + 1; other < of.ranks; other++) {
        trial.both(one, other);
      }
    }
    return trial;
  }
}
