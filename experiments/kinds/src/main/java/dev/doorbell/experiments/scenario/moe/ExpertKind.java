package dev.doorbell.experiments.scenario.moe;

import com.sun.management.OperatingSystemMXBean;
import dev.doorbell.core.fabric.timed.machine.Nvlink;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.SignalOrder;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.moe.ExpertBatch.ArenaLayout;
import dev.doorbell.experiments.scenario.moe.Routing.RoutingFile;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Dispatch and combine of expert parallelism among all ranks, by the kernel {@code moe}. Every byte
 * that arrives and every sum is compared with a plain computation.
 */
public final class ExpertKind extends ExperimentKind<ExpertSettings> {
  private static final String DISPATCH = "dispatch";
  private static final String COMBINE = "combine";
  private static final String CODE = "DB-P034";
  private static final long MOST_MEMORY =
      ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
  private static final long KERNEL_NANOS = 4_000_000_000L;
  private static final long DEADLINE_NANOS = 2_000_000_000L;

  public ExpertKind() {
    super("kernel: moe", CODE, ExpertSettings.class);
  }

  @Override
  protected boolean takesAnyQueues() {
    return true;
  }

  @Override
  protected void check(ExpertSettings of, Checks checks) {
    of.between().check(of.ranks(), checks);
  }

  @Override
  protected Map<String, Integer> numbers(ExpertSettings of) {
    return Map.of("message_bytes", of.batch().messageBytes());
  }

  @Override
  protected Prediction predict(ExpertSettings of, Topology topology) {
    return new Prediction(
        List.of(
            port(DISPATCH, of, of.batch().messageBytes(), topology),
            port(COMBINE, of, of.batch().tokenBytes(), topology)));
  }

  /** The busier of a rank's ports: what its HCA sends at least, and what NVLink does. */
  private static Prediction.Term port(
      String metric, ExpertSettings of, int bytes, Topology topology) {
    double messages = (double) of.tokens() * of.topk() * bytes / of.ranks();
    int node = Math.min(topology.ranksOfNode(), of.ranks());
    double far = messages * (of.ranks() - node) / topology.network().bytesPerNano();
    Nvlink nvlink = topology.nvlink();
    if (nvlink == null) {
      return new Prediction.Term(
          metric,
          far,
          "ns",
          "t k s (n - 1) / n / C, the port of a rank under uniform routing",
          true);
    }
    return new Prediction.Term(
        metric,
        Math.max(far, messages * (node - 1) / nvlink.bytesPerNano()),
        "ns",
        "the larger of t k s (n - g) / n / C and t k s (g - 1) / n / N, the HCA and the NVLink of a"
            + " rank under uniform routing",
        true);
  }

  @Override
  protected void measure(PointRun<ExpertSettings> run) throws PointFailure {
    run.requireVirtualTime(
        CODE, "expert parallelism runs in virtual time", "use clock: virtual, gpu: vm, hca: soft");
    ExpertSettings of = run.settings();
    Routing routing = routing(run);
    long memory = of.ranks() * new ArenaLayout(of.batch(), routing.capacity(), 1).touched;
    if (memory > MOST_MEMORY) {
      throw run.failed(
          CODE,
          "the ranks' memory is %d GiB, this machine's %d"
              .formatted(memory >> 30, MOST_MEMORY >> 30),
          "%d messages of one rank to one expert: use fewer ranks, tokens or elements"
              .formatted(routing.capacity()));
    }
    double[] dispatch = new double[run.point().samples()];
    double[] combine = new double[dispatch.length];
    try (Owned open = new Owned()) {
      World world = open.add(of.between().world(run, of.ranks(), of.queues()).open());
      ExpertTrial trial =
          open.add(
              new ExpertTrial(
                  of.batch(),
                  routing,
                  world,
                  shape(of),
                  LaunchConfig.of(of.blocks(), of.threads()).withTimeout(KERNEL_NANOS),
                  run.topology().ranksOfNode()));
      run.inject(world);
      for (int sample = 0; sample < dispatch.length; sample++) {
        dispatch[sample] = run.perform(trial.dispatch(), KERNEL_NANOS).nanos();
        if (run.asksFor(COMBINE)) {
          combine[sample] = run.perform(trial.combine(), KERNEL_NANOS).nanos();
        }
      }
    }
    for (String metric : run.point().metrics()) {
      run.add(Samples.of(metric, "ns", metric.equals(DISPATCH) ? dispatch : combine));
    }
  }

  private static Routing routing(PointRun<ExpertSettings> run) throws PointFailure {
    ExpertSettings of = run.settings();
    long seed = run.point().seed();
    switch (of.routing()) {
      case "uniform" -> {
        return Routing.uniform(of.ranks(), of.tokens(), of.topk(), of.experts(), seed);
      }
      case "zipf" -> {
        return Routing.zipf(of.ranks(), of.tokens(), of.topk(), of.experts(), seed);
      }
      default -> {
        RoutingFile reader =
            new RoutingFile(of.routing(), of.ranks(), of.tokens(), of.topk(), of.experts());
        try {
          return new Routing(of.experts(), reader.read(Files.readString(Path.of(of.routing()))));
        } catch (ConfigException e) {
          Problem first = e.problems().getFirst();
          throw new PointFailure(PointFailure.Kind.FAILED, first);
        } catch (IOException e) {
          throw run.failed(
              CODE,
              "%s cannot be read: %s".formatted(of.routing(), e.getClass().getSimpleName()),
              "routing is uniform, zipf or the path of a file with a line of experts for each"
                  + " token");
        }
      }
    }
  }

  private static Endpoint.Shape shape(ExpertSettings of) {
    return of.queues()
        .endpoint(DEADLINE_NANOS)
        .blueFlame(of.path().blueFlame())
        .order(SignalOrder.of(of.queues().nic().adapter().promises()))
        .build();
  }
}
