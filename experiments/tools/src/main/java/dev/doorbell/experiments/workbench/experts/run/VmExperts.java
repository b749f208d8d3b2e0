package dev.doorbell.experiments.workbench.experts.run;

import dev.doorbell.core.agent.ForwardProgress;
import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.fabric.explore.model.CalmChooser;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.experiments.scenario.experts.ClusterExchange;
import dev.doorbell.experiments.scenario.experts.Exchange;
import dev.doorbell.experiments.scenario.experts.ExpertExchange;
import dev.doorbell.experiments.scenario.experts.ExpertShape;
import dev.doorbell.experiments.scenario.experts.NodeExchange;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.scenario.world.WorldBuilder;
import dev.doorbell.experiments.topology.TopologyException;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.workbench.experts.Experts;
import dev.doorbell.experiments.workbench.experts.Experts.ExpertOutcome;
import dev.doorbell.experiments.workbench.experts.Experts.ExpertRun;
import dev.doorbell.experiments.workbench.explore.Race;
import dev.doorbell.experiments.workbench.explore.run.Races;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** Exchanges of tokens between ranks and experts, on the PTX virtual machine. */
public final class VmExperts implements Experts {
  /** Any machine: without virtual time nothing asks for its prices. */
  private static final String NO_PRICES = "h200";

  @Override
  public ExpertOutcome run(ExpertRun run, BooleanSupplier interrupted) {
    ExpertShape shape =
        new ExpertShape(
            run.ranks(),
            run.tokens(),
            run.hidden(),
            run.top(),
            run.experts(),
            run.multiprocessors(),
            run.fp8());
    Optional<String> failure =
        switch (run.kernels()) {
          case LOW_LATENCY -> shape.problem();
          case INTRANODE -> NodeExchange.problem(shape);
          case INTERNODE ->
              run.exploration().isPresent()
                  ? Optional.of(
                      "%d ranks cannot be explored: each thread would have a clock of all others"
                          .formatted(run.ranks()))
                  : ClusterExchange.problem(shape);
        };
    if (failure.isPresent()) {
      return new ExpertOutcome(failure, List.of());
    }
    return run.exploration().isPresent()
        ? explore(run, run.exploration().get(), shape, interrupted)
        : once(run, shape, interrupted);
  }

  private static ExpertOutcome once(ExpertRun run, ExpertShape shape, BooleanSupplier interrupted) {
    List<ExpertOutcome.Phase> phases = new ArrayList<>();
    Optional<String> failure;
    try (Exchange exchange = exchange(run, shape, world(run))) {
      failure = rounds(run, exchange, interrupted, phases);
    } catch (GpuException | TopologyException e) {
      failure = Optional.of(String.valueOf(e.getMessage()));
    }
    return new ExpertOutcome(failure, phases);
  }

  private static ExpertOutcome explore(
      ExpertRun run,
      ExpertRun.Exploration exploration,
      ExpertShape shape,
      BooleanSupplier interrupted) {
    List<ExpertOutcome.Phase> phases = new ArrayList<>();
    Map<String, ExpertOutcome.Found> races = new LinkedHashMap<>();
    List<String> failures = new ArrayList<>();
    int found = 0;
    for (int i = 0; i < exploration.runs() && !interrupted.getAsBoolean(); i++) {
      long seed = run.seed() + i;
      ExploringFabric fabric =
          new ExploringFabric(
              AddressSpace.reserve(),
              new CalmChooser(seed, List.of()),
              new ExploringFabric.Options(exploration.policy(), true, exploration.nanos()));
      World world =
          World.exploring(fabric, run.ranks(), SoftHcaOptions.DEFAULT, ForwardProgress.FAIR);
      try (Exchange exchange = exchange(run, shape, world)) {
        exchange.describe(fabric);
        rounds(run, exchange, interrupted, i == 0 ? phases : new ArrayList<>())
            .ifPresent(failures::add);
      } catch (GpuException e) {
        failures.add(String.valueOf(e.getMessage()));
      }
      Set<String> shown = new HashSet<>();
      for (Race race : fabric.findings().stream().map(Races::of).toList()) {
        if (shown.add(race.key())) {
          races.merge(
              race.key(),
              new ExpertOutcome.Found(race, 1),
              (a, b) -> new ExpertOutcome.Found(a.race(), a.runs() + b.runs()));
        }
      }
      found += shown.isEmpty() ? 0 : 1;
    }
    Optional<String> failure =
        failures.stream()
            .findFirst()
            .map(first -> "%d explored runs were wrong; %s".formatted(failures.size(), first));
    return new ExpertOutcome(
        failure,
        phases,
        exploration.runs() - failures.size(),
        found,
        new ArrayList<>(races.values()));
  }

  /** Runs all rounds, and returns what is wrong. */
  private static Optional<String> rounds(
      ExpertRun run,
      Exchange exchange,
      BooleanSupplier interrupted,
      List<ExpertOutcome.Phase> phases) {
    Optional<String> failure = Optional.empty();
    for (int round = 0; failure.isEmpty() && round < run.rounds(); round++) {
      for (Exchange.Step step : exchange.round()) {
        failure = failure.or(() -> phase(step, interrupted, phases));
      }
    }
    return failure;
  }

  private static World world(ExpertRun run) throws TopologyException {
    ExecutionBackend backend =
        run.machine().isPresent() ? new ExecutionBackend.Virtual() : new ExecutionBackend.Wall();
    Topology topology = TopologyFile.load(run.machine().orElse(NO_PRICES));
    int together =
        switch (run.kernels()) {
          case LOW_LATENCY -> 1;
          case INTRANODE -> run.ranks();
          case INTERNODE -> ClusterExchange.RANKS_OF_NODE;
        };
    if (run.machine().isPresent() && topology.ranksOfNode() < together) {
      throw new GpuException(
          ("machine '%s' has no NVLink between %d ranks, which these kernels need:"
                  + " --machine h800-cx7, or a topology with nvlink (docs/topologies.md)")
              .formatted(topology.name(), together));
    }
    return new WorldBuilder(backend, topology).ranks(run.ranks()).seed(run.seed()).open();
  }

  private static Exchange exchange(ExpertRun run, ExpertShape shape, World world) {
    return switch (run.kernels()) {
      case LOW_LATENCY ->
          new ExpertExchange(shape, world, run.file(), run.ptx(), run.seed(), run.timeoutNanos());
      case INTRANODE ->
          new NodeExchange(shape, world, run.file(), run.ptx(), run.seed(), run.timeoutNanos());
      case INTERNODE ->
          new ClusterExchange(shape, world, run.file(), run.ptx(), run.seed(), run.timeoutNanos());
    };
  }

  /** Runs a kernel, and returns what it left otherwise than it should have. */
  private static Optional<String> phase(
      Exchange.Step step, BooleanSupplier interrupted, List<ExpertOutcome.Phase> phases) {
    long start = System.nanoTime();
    Exchange.Phase phase = step.run(interrupted);
    if (phase.wrong() != null) {
      return Optional.of("%s: %s".formatted(phase.name(), phase.wrong()));
    }
    phases.add(
        new ExpertOutcome.Phase(
            phase.name(), phase.nanos(), System.nanoTime() - start, phase.instructions()));
    return Optional.empty();
  }
}
