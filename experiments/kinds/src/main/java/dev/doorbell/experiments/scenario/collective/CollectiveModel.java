package dev.doorbell.experiments.scenario.collective;

import static java.util.Comparator.comparingDouble;

import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Nvlink;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.experiments.collective.Algorithm;
import dev.doorbell.experiments.collective.Channels;
import dev.doorbell.experiments.collective.Schedule;
import dev.doorbell.experiments.collective.ScheduleTime;
import dev.doorbell.experiments.collective.ScheduleTime.StepCosts;
import dev.doorbell.experiments.model.PathModel;
import dev.doorbell.experiments.model.PostingPath;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Times of a collective by each algorithm, in the LogGP model of a topology. */
public final class CollectiveModel {
  /** Instructions of a thread that posts two requests, of {@code kernels/src/collective.cu}. */
  private static final int POST_INSTRUCTIONS = 450;

  // How often a post waits: fitted to all-reduce, docs/collectives.md.
  private static final int POST_RESULTS = 120;
  private static final int POST_DECISIONS = 20;
  private static final int POST_CALLS = 5;

  /** Loads one after the other, of a queue pair that is in no cache: fitted. */
  private static final int QUEUE_PAIR_LOADS = 2;

  /** Instructions of one turn of the loops that copy or reduce: fitted. */
  private static final int TURN_INSTRUCTIONS = 80;

  /** Instructions of a step without those loops. */
  private static final int STEP_INSTRUCTIONS = 60;

  /** Twice the channels take twice the queue pairs: not for less than a twentieth of the time. */
  private static final double WORTH = 0.95;

  /** NCCL has at most 32 as well. */
  private static final int MOST_CHANNELS = 32;

  private CollectiveModel() {}

  record Choice(Algorithm algorithm, List<Schedule> channels, double nanos) {}

  /** Predicts each algorithm, with the channels asked for or, for 0, with as many as pay. */
  static Map<Algorithm, Choice> choices(CollectiveSettings of, Topology topology) {
    StepCosts costs = costs(of, topology);
    Map<Algorithm, Choice> choices = new EnumMap<>(Algorithm.class);
    int node = topology.ranksOfNode();
    for (Algorithm algorithm : Algorithm.values()) {
      if (makes(algorithm, of, topology)) {
        choices.put(algorithm, choice(of, algorithm, node, costs));
      }
    }
    return choices;
  }

  private static Choice choice(
      CollectiveSettings of, Algorithm algorithm, int node, StepCosts costs) {
    Choice best = choice(of, algorithm, node, costs, Math.max(1, of.channels()));
    int most = of.channels() > 0 ? 1 : Channels.most(algorithm, of.collective(), MOST_CHANNELS);
    for (int count = 2; count <= most; count *= 2) {
      Choice more = choice(of, algorithm, node, costs, count);
      if (more.nanos > WORTH * best.nanos) {
        return best;
      }
      best = more;
    }
    return best;
  }

  private static Choice choice(
      CollectiveSettings of, Algorithm algorithm, int node, StepCosts costs, int count) {
    List<Schedule> channels = of.schedules(algorithm, node, count);
    return new Choice(algorithm, channels, ScheduleTime.of(channels, costs));
  }

  /** Returns the algorithm that a point asks for, if it makes the collective, or the fastest. */
  static Optional<Choice> chosen(CollectiveSettings of, Topology topology) {
    if (of.algorithm() == CollectiveSettings.Chosen.AUTO) {
      return chosen(of, choices(of, topology));
    }
    Algorithm algorithm = Algorithm.valueOf(of.algorithm().name());
    int node = topology.ranksOfNode();
    return makes(algorithm, of, topology)
        ? Optional.of(choice(of, algorithm, node, costs(of, topology)))
        : Optional.empty();
  }

  static Optional<Choice> chosen(CollectiveSettings of, Map<Algorithm, Choice> choices) {
    return of.algorithm() == CollectiveSettings.Chosen.AUTO
        ? choices.values().stream().min(comparingDouble(Choice::nanos))
        : Optional.ofNullable(choices.get(Algorithm.valueOf(of.algorithm().name())));
  }

  private static StepCosts.Near near(Topology topology, GpuPrices gpu) {
    Nvlink nvlink = topology.nvlink();
    return nvlink == null
        ? StepCosts.Near.NONE
        : new StepCosts.Near(
            decisions(gpu),
            gpu.fenceSystem() + 2 * nvlink.nanos(),
            nvlink.nanos() + gpu.strongLoad(),
            1 / nvlink.bytesPerNano(),
            (double) nvlink.requestBytes() / nvlink.maxPayload(),
            2 * nvlink.nanos() + gpu.memoryService() + TURN_INSTRUCTIONS * gpu.instruction());
  }

  private static boolean makes(Algorithm algorithm, CollectiveSettings of, Topology topology) {
    Nvlink nvlink = topology.nvlink();
    boolean adds = nvlink != null && nvlink.reduces() && of.isSumOfFloats();
    return algorithm.makes(of.collective(), of.ranks(), topology.ranksOfNode())
        && (adds || algorithm != Algorithm.NVLS);
  }

  /** Price of a post's comparisons; storing to a near rank was found to cost about as much. */
  private static double decisions(GpuPrices gpu) {
    GpuRefinements.Latencies waits = gpu.finer().latencies();
    return POST_DECISIONS * (waits.decision() + waits.jump());
  }

  static StepCosts costs(CollectiveSettings of, Topology topology) {
    GpuPrices gpu = topology.gpus().getFirst();
    Network network = topology.network();
    PathModel model = PathModel.perPacket(topology, of.queues().mtu());
    PostingPath path = of.path().blueFlame() ? PostingPath.A5 : PostingPath.A3;
    GpuRefinements.Latencies waits = gpu.finer().latencies();
    double post =
        gpu.atomic()
            + gpu.fence()
            + gpu.remoteStore()
            + POST_INSTRUCTIONS * gpu.instruction()
            + POST_RESULTS * waits.result()
            + decisions(gpu)
            + POST_CALLS * waits.call();
    double latency =
        model.latencyNanos(path, 1).orElse(0)
            - gpu.fence()
            + network.nanos()
            + topology.path("gpu0", "nic0").nanos()
            + gpu.strongLoad();
    NicPrices nic = topology.nics().getFirst();
    // Chosen to be near virtual time: of the prices, those whose sum is what is left of a ring, of
    // halving and of an exchange among 4 and 8 ranks on h200-cx7 and on same-switch.
    double flag = nic.wqe() + nic.packet() + nic.finer().receive() + gpu.fence();
    // Its two operands are under way together, where a thread need not wait for each load.
    int loads = gpu.finer().loadsInFlight() > 1 ? 1 : 2;
    double turn = loads * gpu.load() + gpu.store() + TURN_INSTRUCTIONS * gpu.instruction();
    return new StepCosts(
        post,
        flag,
        QUEUE_PAIR_LOADS * gpu.load(),
        latency,
        1 / model.ceiling(path, of.queues().mtu()).orElse(network.bytesPerNano()),
        1 / model.arrivalCeiling(of.queues().mtu()),
        turn,
        16 * of.threads(),
        4 * of.threads(),
        gpu.load() + STEP_INSTRUCTIONS * gpu.instruction(),
        gpu.fence(),
        gpu.finer().blockStoreRate() > 0 ? 1 / gpu.finer().blockStoreRate() : 0,
        near(topology, gpu));
  }
}
