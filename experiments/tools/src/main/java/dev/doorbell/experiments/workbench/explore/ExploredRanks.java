package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.agent.ForwardProgress;
import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.queue.SignalOrder;
import dev.doorbell.experiments.collective.Algorithm;
import dev.doorbell.experiments.collective.Call;
import dev.doorbell.experiments.collective.Call.Reduction;
import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.collective.DataType;
import dev.doorbell.experiments.scenario.collective.CollectiveTrial;
import dev.doorbell.experiments.scenario.foreign.Site;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.moe.ExpertTrial;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The world of one explored run of a kernel that all ranks run together: {@code collective}, as an
 * all-reduce of three ranks on a ring whose flags are apart from data, and {@code moe}, as a
 * dispatch of two ranks and the combine behind it.
 */
final class ExploredRanks extends ExploredWorld {
  static final String COLLECTIVE = "collective";
  static final String EXPERTS = "moe";

  /** Kernels with such a world. */
  static final Set<String> KERNELS = Set.of(COLLECTIVE, EXPERTS);

  /** Virtual; passes only when nothing else can happen. */
  private static final long DEADLINE_NANOS = 100_000_000;

  private static final int RANKS = 3;
  private static final int SEED = 7;
  private static final int LINE = 16;

  private final ExploringFabric fabric;
  private final List<Trial> phases;
  private int started;

  ExploredRanks(Scenario scenario, ExploringFabric fabric, ForwardProgress progress) {
    super(scenario);
    this.fabric = fabric;
    Scenario.Load load = scenario.load();
    int bytes = Math.ceilDiv(load.bytes(), LINE) * LINE;
    Endpoint.Shape shape =
        posting(Endpoint.Shape.builder(load.ring(), DEADLINE_NANOS))
            .exclusive(scenario.program().entry().equals(COLLECTIVE))
            .order(SignalOrder.of(scenario.nic().adapter().promises()))
            .build();
    LaunchConfig grid = LaunchConfig.of(load.blocks(), load.threads()).withTimeout(KERNEL_NANOS);
    boolean collective = scenario.program().entry().equals(COLLECTIVE);
    int ranks = collective ? RANKS : 2;
    World world = own(World.exploring(fabric, ranks, hca(SoftHcaOptions.DEFAULT), progress));
    if (collective) {
      Call call =
          new Call(
              Collective.ALL_REDUCE,
              RANKS,
              (long) RANKS * bytes,
              DataType.FLOAT,
              Reduction.SUM,
              0,
              false,
              SEED);
      CollectiveTrial trial =
          own(
              new CollectiveTrial(
                  world,
                  call,
                  List.of(Algorithm.RING.schedule(call, 0, bytes)),
                  shape,
                  grid,
                  load.iterations()));
      trial.connection().describe(fabric, !scenario.posting().recordLast());
      phases = List.of(trial);
    } else {
      ExpertTrial trial = own(ExpertTrial.ofFewTokens(world, bytes, shape, grid));
      trial.connection().describe(fabric, !scenario.posting().recordLast());
      phases = new ArrayList<>();
      for (int turn = 0; turn < load.iterations(); turn++) {
        phases.add(trial.dispatch());
        phases.add(trial.combine());
      }
    }
  }

  @Override
  List<Launch> launch() {
    start();
    return launches();
  }

  private void start() {
    for (Supplier<Launch> rank : phases.get(started++).prepare()) {
      addLaunch(rank.get());
    }
  }

  @Override
  boolean done() {
    if (!super.done()) {
      return false;
    }
    if (started == phases.size() || current().firstError() != null) {
      return true;
    }
    start();
    return false;
  }

  private Trial current() {
    return phases.get(started - 1);
  }

  @Override
  Site site(Rank rank, GpuModule module) {
    throw new IllegalStateException("kernels of other structures are launched otherwise");
  }

  @Override
  @Nullable Failure failure() {
    String error = current().firstError();
    if (error != null) {
      return Failure.status(error, scenario.program().entry());
    }
    fabric.quiesce();
    String wrong = current().mismatch();
    return wrong == null ? null : Failure.data(wrong);
  }
}
