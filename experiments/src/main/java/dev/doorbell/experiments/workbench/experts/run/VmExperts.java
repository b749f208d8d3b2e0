package dev.doorbell.experiments.workbench.experts.run;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.experiments.scenario.experts.ExpertExchange;
import dev.doorbell.experiments.scenario.experts.ExpertShape;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.scenario.world.WorldBuilder;
import dev.doorbell.experiments.topology.TopologyException;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.workbench.experts.ExpertOutcome;
import dev.doorbell.experiments.workbench.experts.ExpertRun;
import dev.doorbell.experiments.workbench.experts.Experts;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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
    List<ExpertOutcome.Phase> phases = new ArrayList<>();
    Optional<String> failure = shape.problem();
    if (failure.isPresent()) {
      return new ExpertOutcome(failure, phases);
    }
    try (ExpertExchange exchange =
        new ExpertExchange(
            shape, world(run), run.file(), run.ptx(), run.seed(), run.timeoutNanos())) {
      String wrong = null;
      for (int round = 0; wrong == null && round < run.rounds(); round++) {
        wrong = phase(exchange::dispatch, interrupted, phases);
        wrong = wrong == null ? phase(exchange::combine, interrupted, phases) : wrong;
      }
      failure = Optional.ofNullable(wrong);
    } catch (GpuException | TopologyException e) {
      failure = Optional.of(String.valueOf(e.getMessage()));
    }
    return new ExpertOutcome(failure, phases);
  }

  private static World world(ExpertRun run) throws TopologyException {
    ExecutionBackend backend =
        run.machine().isPresent() ? new ExecutionBackend.Virtual() : new ExecutionBackend.Wall();
    return new WorldBuilder(backend, TopologyFile.load(run.machine().orElse(NO_PRICES)))
        .ranks(run.ranks())
        .seed(run.seed())
        .open();
  }

  private static @Nullable String phase(
      Function<BooleanSupplier, ExpertExchange.Phase> kernel,
      BooleanSupplier interrupted,
      List<ExpertOutcome.Phase> phases) {
    long start = System.nanoTime();
    ExpertExchange.Phase phase = kernel.apply(interrupted);
    if (phase.wrong() != null) {
      return "%s: %s".formatted(phase.name(), phase.wrong());
    }
    phases.add(
        new ExpertOutcome.Phase(
            phase.name(), phase.nanos(), System.nanoTime() - start, phase.instructions()));
    return null;
  }
}
