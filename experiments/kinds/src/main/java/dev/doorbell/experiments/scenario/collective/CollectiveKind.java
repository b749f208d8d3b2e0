package dev.doorbell.experiments.scenario.collective;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.experiments.collective.Algorithm;
import dev.doorbell.experiments.collective.Call;
import dev.doorbell.experiments.collective.Channels;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.collective.CollectiveModel.Choice;
import dev.doorbell.experiments.scenario.collective.CollectiveSettings.Chosen;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A collective among all ranks: each rank's GPU executes its steps of the schedule of an algorithm,
 * by the kernel {@code collective}. Every element at every rank is compared with a plain
 * computation. A sample is a run of its own, with its contributions written anew.
 */
public final class CollectiveKind extends ExperimentKind<CollectiveSettings> {
  private static final String TIME = "collective";
  private static final String ALGORITHM_BANDWIDTH = "algbw";
  private static final String BUS_BANDWIDTH = "busbw";

  public CollectiveKind() {
    super("kernel: collective", "DB-P031", CollectiveSettings.class);
  }

  @Override
  protected boolean takesAnyQueues() {
    return true;
  }

  @Override
  protected void check(CollectiveSettings of, Checks checks) {
    of.between().check(of.ranks(), checks);
    of.signal().check(of.queues().nic(), checks);
    boolean made =
        of.algorithm() == Chosen.AUTO
            || of.algorithm() == Chosen.HIERARCHICAL // as the topology allows
            || of.algorithm() == Chosen.NVLS
            || Algorithm.valueOf(of.algorithm().name()).makes(of.collective(), of.ranks(), 1);
    checks.refuseIf(
        !made,
        "%s by %s among %d ranks"
            .formatted(word(of.collective()), word(of.algorithm()), of.ranks()),
        "use algorithm: auto, or one of "
            + String.join(
                ", ",
                Algorithm.of(of.collective(), of.ranks(), 1).stream()
                    .map(CollectiveKind::word)
                    .toList()));
    Algorithm by =
        of.algorithm() == Chosen.AUTO ? Algorithm.DIRECT : Algorithm.valueOf(of.algorithm().name());
    checks.refuseIf(
        Channels.most(by, of.collective(), of.channels()) < of.channels(),
        "%d channels of %s by %s"
            .formatted(of.channels(), word(of.collective()), word(of.algorithm())),
        "its messages carry several blocks, or none",
        "use channels: 0 or 1");
  }

  @Override
  protected Map<String, Integer> numbers(CollectiveSettings of) {
    return Map.of("datatype_bytes", of.datatype().bytes());
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** The predicted time of each algorithm, for people: the point's own metric has its own alone. */
  @Override
  protected Prediction predict(CollectiveSettings of, Topology topology) {
    Map<Algorithm, Choice> all = CollectiveModel.choices(of, topology);
    double nanos = CollectiveModel.chosen(of, all).map(Choice::nanos).orElse(Double.NaN);
    List<String> others = new ArrayList<>();
    for (Choice each : all.values()) {
      others.add("%s %.2f us".formatted(word(each.algorithm()), each.nanos() / 1e3));
    }
    return new Prediction(
        List.of(
            new Prediction.Term(
                TIME, nanos, "ns", "LogGP of the schedules: " + String.join(", ", others), false)));
  }

  @Override
  protected void measure(PointRun<CollectiveSettings> run) throws PointFailure {
    run.requireVirtualTime(
        "DB-P031", "collectives run in virtual time", "use clock: virtual, gpu: vm and hca: soft");
    CollectiveSettings of = run.settings();
    int node = run.topology().ranksOfNode();
    Choice by =
        CollectiveModel.chosen(of, run.topology())
            .orElseThrow(
                () ->
                    run.waived(
                        "DB-P031",
                        "%s by %s among %d ranks, %d a node of '%s'"
                            .formatted(
                                word(of.collective()),
                                word(of.algorithm()),
                                of.ranks(),
                                node,
                                run.topology().name()),
                        "use a topology with nvlink: (such as h800-cx7) and several whole nodes"));
    if (of.algorithm() == Chosen.AUTO || of.channels() == 0) {
      int channels = by.channels().size();
      run.note(
          "auto: %s%s"
              .formatted(
                  word(by.algorithm()), channels > 1 ? " in %d channels".formatted(channels) : ""));
    }
    Call call = of.call(node);
    double[] nanos = new double[run.point().samples()];
    try (Owned open = new Owned()) {
      World world = open.add(of.between().world(run, of.ranks(), of.queues()).open());
      CollectiveTrial trial = open.add(of.trial(world, by.channels(), node));
      run.inject(world);
      for (int sample = 0; sample < nanos.length; sample++) {
        nanos[sample] = run.perform(trial, CollectiveSettings.KERNEL_NANOS).nanos();
      }
    }
    report(run, call, nanos);
  }

  private static void report(PointRun<CollectiveSettings> run, Call call, double[] nanos) {
    double bytes = call.collective().bytes(call.size(), call.ranks());
    double factor = call.collective().busFactor(call.ranks());
    double[] algorithm = new double[nanos.length];
    double[] bus = new double[nanos.length];
    for (int i = 0; i < nanos.length; i++) {
      algorithm[i] = bytes / nanos[i];
      bus[i] = algorithm[i] * factor;
    }
    if (run.asksFor(TIME)) {
      run.add(Samples.of(TIME, "ns", nanos));
    }
    if (run.asksFor(ALGORITHM_BANDWIDTH)) {
      run.add(Samples.of(ALGORITHM_BANDWIDTH, "GB/s", algorithm));
    }
    if (run.asksFor(BUS_BANDWIDTH)) {
      run.add(Samples.of(BUS_BANDWIDTH, "GB/s", bus));
    }
  }
}
