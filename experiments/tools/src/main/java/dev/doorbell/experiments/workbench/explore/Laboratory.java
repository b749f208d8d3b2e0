package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.ForwardProgress;
import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.explore.Coverage;
import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.fabric.explore.ExploringFabric.Spin;
import dev.doorbell.core.fabric.explore.ReachableCode;
import dev.doorbell.core.fabric.explore.model.CalmChooser;
import dev.doorbell.core.fabric.explore.model.Chooser;
import dev.doorbell.core.fabric.explore.search.SystematicSearch;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.queue.PostOrder;
import dev.doorbell.experiments.scenario.kernel.BackEnds;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import dev.doorbell.kernels.KernelCatalogue;
import dev.doorbell.kernels.ProtocolKernel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Runs scenarios on the virtual machine and software HCAs over the exploring fabric. */
public final class Laboratory {
  /** The topology whose prices are quoted. */
  private static final long VIRTUAL_NANOS = 3_600_000_000_000L;

  /** The folder of the cases, as line tables and reports name it. */
  private static final String CASES = "cases/";

  /** Kernels of the project that no explored world has what they need for, and why. */
  private static final Map<String, String> ELSEWHERE =
      Map.of(
          "gpu_nic", "there is no HCA, a GPU is the NIC",
          "gpu_push_nic", "there is no HCA, a GPU is the NIC",
          "host_move", "there is no HCA, it moves bytes between memories",
          "proxy_minimal", "it hands commands of its own formats to a CPU thread",
          "push_quiet", "there is no HCA, but a push engine with credits",
          "push_ring", "there is no HCA, but a push engine with credits",
          "push_shared", "there is no HCA, but a push engine with credits",
          "put_dynamic", "its queue pairs are initiators of dynamic connections",
          "put_minimal_rare", "it posts by the code of put_minimal, in other ways");

  private final KernelCatalogue catalogue = KernelCatalogue.load();

  /** The program of the last run, and the code of it that can be reached. */
  private String lastPtx = "";

  private ReachableCode lastCode = new ReachableCode();

  /** Returns the names of the project's kernels. */
  public List<String> kernels() {
    return catalogue.names();
  }

  public Optional<Scenario.Program> kernel(String name) {
    return catalogue
        .find(name)
        .map(kernel -> new Scenario.Program(name + ".ptx", name, catalogue.ptx(kernel)));
  }

  public Scenario.Program kernel(BugCase bug, boolean fixed) {
    KernelCatalogue cases = KernelCatalogue.cases();
    ProtocolKernel kernel =
        cases
            .find(bug.kernel())
            .orElseThrow(() -> new IllegalStateException("no PTX of the case " + bug.word()));
    return new Scenario.Program(
        CASES + bug.kernel() + ".ptx",
        bug.kernel() + (fixed ? "_fixed" : "_broken"),
        cases.ptx(kernel));
  }

  private ExploredWorld world(Scenario scenario, ExploringFabric fabric, ForwardProgress progress) {
    if (scenario.program().file().startsWith(CASES)) {
      return new ExploredCase(scenario, fabric);
    }
    return isOwn(scenario.program()) && ExploredRanks.KERNELS.contains(scenario.program().entry())
        ? new ExploredRanks(scenario, fabric, progress)
        : new ExploredTransfer(scenario, fabric, progress);
  }

  /** Returns true for a kernel of the project, whatever its instructions are now. */
  private boolean isOwn(Scenario.Program program) {
    return program.file().equals(program.entry() + ".ptx")
        && catalogue.find(program.entry()).isPresent();
  }

  /**
   * An adapter that lacks what a kernel needs.
   *
   * @param what is missing
   * @param fix what the user can do
   */
  public record Refusal(String what, String fix) {}

  /**
   * Runs a scenario once; the same scenario and seed give the same run.
   *
   * @param extent the limits of the run
   * @throws ScenarioException when the scenario cannot run at all
   */
  public Outcome run(Scenario scenario, long seed, Extent extent) throws ScenarioException {
    return run(scenario, Schedule.of(scenario, seed, extent.turns()), extent);
  }

  /**
   * Runs a scenario with the choices of a schedule, as far as {@code extent} allows.
   *
   * @throws ScenarioException when the scenario cannot run at all
   */
  public Outcome run(Scenario scenario, Schedule schedule, Extent extent) throws ScenarioException {
    return run(scenario, new CalmChooser(schedule.seed(), schedule.calm()), extent);
  }

  /**
   * Runs a scenario with the choices of {@code chooser}. The outcome of a systematic search lists
   * the steps of the run in place of its last turns.
   *
   * @throws ScenarioException when the scenario cannot run at all
   */
  public Outcome run(Scenario scenario, Chooser chooser, Extent extent) throws ScenarioException {
    refuse(scenario);
    Optional<Refusal> refusal = refusal(scenario);
    if (refusal.isPresent()) {
      throw new ScenarioException(
          "kernel %s on nic %s is refused: %s"
              .formatted(
                  scenario.program().entry(), scenario.nic().adapter(), refusal.get().what()),
          refusal.get().fix());
    }
    long start = System.nanoTime();
    ExploringFabric fabric =
        new ExploringFabric(
            AddressSpace.reserve(),
            chooser,
            new ExploringFabric.Options(
                scenario.rules().policy(),
                scenario.rules().tears(),
                extent.nanos(),
                scenario.nic().adapter().promises()));
    fabric.stopAfter(extent.turns());
    ArrayDeque<Turn> lastTurns = new ArrayDeque<>();
    if (extent.lastTurns() > 0) {
      fabric.listen(
          (turn, agent, at) -> {
            if (lastTurns.size() == extent.lastTurns()) {
              lastTurns.remove();
            }
            lastTurns.add(new Turn(turn, agent, at));
          });
    }
    try (ExploredWorld transfer = world(scenario, fabric, extent.progress())) {
      List<Launch> launches;
      try {
        launches = transfer.launch();
      } catch (GpuException e) {
        throw new ScenarioException(String.valueOf(e.getMessage()), e);
      }
      RunOutcome end;
      try {
        end = fabric.run(transfer::done, VIRTUAL_NANOS);
      } catch (ExploringFabric.TooManyAgents e) {
        throw new ScenarioException(
            String.valueOf(e.getMessage()), "fewer --blocks, --threads or --ranks");
      }
      Failure failure = end == RunOutcome.STALLED ? Failure.hang() : null;
      if (end == RunOutcome.DONE) {
        failure = failure(launches, transfer);
        failure = failure == null ? null : failure.waiting(fabric.waiting());
      }
      if (failure == null || failure.kind() == Failure.Kind.HANG) {
        failure = spin(fabric, failure);
      }
      boolean clean = failure == null && fabric.findings().isEmpty();
      List<String> turns = lastTurns.stream().map(Turn::text).toList();
      if (chooser instanceof SystematicSearch search) {
        // Most runs of a proof are clean, and their steps are not read.
        turns = clean ? List.of() : search.trace().stream().map(fabric::describe).toList();
      }
      return new Outcome(
          fabric.findings().stream().map(Race::of).toList(),
          failure,
          end == RunOutcome.DONE,
          fabric.turns(),
          fabric.instructions(),
          System.nanoTime() - start,
          turns,
          chooser instanceof SystematicSearch
              ? new Coverage()
              : fabric.coverage(reachable(scenario.program())));
    }
  }

  private ReachableCode reachable(Scenario.Program program) {
    if (!lastPtx.equals(program.ptx())) {
      lastPtx = program.ptx();
      lastCode = new ReachableCode();
    }
    return lastCode;
  }

  /** Refuses kernels of the project that take another job than an explored transfer's. */
  private void refuse(Scenario scenario) throws ScenarioException {
    Scenario.Program program = scenario.program();
    if (!isOwn(program)) {
      return;
    }
    String entry = program.entry();
    Scenario.Load load = scenario.load();
    boolean shared = load.posters() > load.queuePairs();
    String reason = ELSEWHERE.get(entry);
    refuse(reason != null, "kernel %s cannot be explored: %s".formatted(entry, reason), "");
    if (ExploredRanks.KERNELS.contains(entry)) {
      refuse(
          kernel(entry).filter(own -> own.ptx().equals(program.ptx())).isEmpty(),
          "kernel %s is explored as it is, without other fences".formatted(entry),
          "");
      refuse(
          load.queuePairs() != 1 || !scenario.posting().ringer().equals("gpu"),
          "kernel %s rings by itself, over one queue pair between two ranks".formatted(entry),
          "--qps 1 --ringer gpu");
    }
    String alone =
        "--blocks 1 --threads %d --qps %d".formatted(load.queuePairs(), load.queuePairs());
    refuse(
        entry.equals("put_light") && (scenario.posting().recordLast() || shared),
        "put_light has a queue pair for each thread, and writes the record before it rings",
        alone + ", without --record-last");
    refuse(
        entry.equals("put_exclusive") && shared,
        "put_exclusive has a queue pair for each thread",
        alone);
    refuse(
        entry.equals("put_minimal")
            && load.scope().equals("warp")
            && load.threads() % ExploredTransfer.WARP != 0,
        "put_minimal posts by whole warps, and a block has %d threads".formatted(load.threads()),
        "--threads %d, or --scope thread".formatted(ExploredTransfer.WARP));
    refuseOrder(scenario);
  }

  private static void refuseOrder(Scenario scenario) throws ScenarioException {
    String order = scenario.posting().order();
    String entry = scenario.program().entry();
    Scenario.Load load = scenario.load();
    if (order.equals(Scenario.Posting.DEFAULT_ORDER)) {
      return;
    }
    if (entry.equals("put_exclusive")
        && order.equals(PostOrder.NO_RECORD.word())
        && !scenario.posting().recordLast()) {
      refuse(
          load.window() > 0,
          "two doorbells may reach the HCA at once, and it looks for the newest in a record",
          "leave --window out: put_exclusive waits for each put then");
      return;
    }
    refuse(
        !entry.equals("put_minimal"),
        "kernel %s has no order %s".formatted(entry, order),
        "explore put_minimal, or leave --order out");
    refuse(
        PostOrder.of(order).isEmpty(),
        "put_minimal has no order '%s'".formatted(order),
        "one of " + String.join(", ", PostOrder.words()));
    refuse(
        order.equals(PostOrder.READ_BACK.word())
            && (load.posters() > load.queuePairs()
                || !load.scope().equals("thread")
                || !load.path().equals("pull")),
        "order %s of %d posters on %d queue pairs, scope %s, path %s"
            .formatted(order, load.posters(), load.queuePairs(), load.scope(), load.path()),
        "put_minimal has it for threads with a queue pair each: --blocks 1 --threads 2 --qps 2"
            + " --scope thread --path pull");
  }

  private static void refuse(boolean when, String what, String fix) throws ScenarioException {
    if (when) {
      throw new ScenarioException(what, fix);
    }
  }

  /** Returns why the scenario's adapter cannot run its kernel; empty if it can. */
  public Optional<Refusal> refusal(Scenario scenario) {
    Adapter adapter = scenario.nic().adapter();
    if (adapter.promises().queues() == Promise.Queues.MLX5) {
      return Optional.empty();
    }
    if (!scenario.posting().ringer().equals("gpu")) {
      return Optional.of(
          new Refusal("a CPU that posts or rings writes mlx5's queues", "use --ringer gpu"));
    }
    return BackEnds.lacking(scenario.program().ptx(), adapter)
        .map(lacking -> new Refusal(lacking, BackEnds.FIX));
  }

  private record Turn(long number, Agent agent, @Nullable Object at) {
    String text() {
      SourcePlace place = at == null ? null : agent.describe(at);
      return "%8d  %s%s".formatted(number, agent.name(), place == null ? "" : "  " + place);
    }
  }

  private static @Nullable Failure failure(List<Launch> launches, ExploredWorld transfer) {
    for (Launch launch : launches) {
      try {
        launch.check();
      } catch (GpuException e) {
        String text = String.valueOf(e.getMessage());
        return launch.stuck() ? Failure.hang(text) : Failure.kernel(text, launch.output());
      }
    }
    return transfer.failure();
  }

  /** Returns the spin that is the reason of a hang, or of none. */
  private static @Nullable Failure spin(ExploringFabric fabric, @Nullable Failure hang) {
    for (Spin spin : fabric.spins()) {
      SourcePlace place = spin.at() == null ? null : spin.agent().describe(spin.at());
      if (place != null) {
        return Failure.spin(spin.loads(), spin.agent().name(), place);
      }
    }
    return hang;
  }

  /**
   * The limits of a run.
   *
   * @param nanos of wall time at most
   * @param turns scheduling decisions at most
   * @param lastTurns how many of the last turns the outcome describes
   * @param progress which threads of a GPU go on while others wait
   */
  public record Extent(long nanos, long turns, int lastTurns, ForwardProgress progress) {
    /** An extent in which every thread goes on. */
    public Extent(long nanos, long turns, int lastTurns) {
      this(nanos, turns, lastTurns, ForwardProgress.FAIR);
    }

    /** The same where other threads go on. */
    public Extent with(ForwardProgress other) {
      return new Extent(nanos, turns, lastTurns, other);
    }

    /** Returns an extent that only wall time limits. */
    public static Extent of(long nanos) {
      return new Extent(nanos, Long.MAX_VALUE, 0);
    }
  }

  /**
   * The outcome of one run.
   *
   * @param races in the order of occurrence
   * @param failure a kernel that failed, hung or moved wrong bytes, or null
   * @param finished false if its time ran out, or if it was stopped at the first race
   * @param turns scheduling decisions
   * @param instructions executed by all threads
   * @param nanos wall time
   * @param lastTurns a line for each of the last turns
   * @param coverage what of the kernel was executed, and in which orders
   */
  public record Outcome(
      List<Race> races,
      @Nullable Failure failure,
      boolean finished,
      long turns,
      long instructions,
      long nanos,
      List<String> lastTurns,
      Coverage coverage) {
    /** Returns true if there is a race or a failure. */
    public boolean isFinding() {
      return !races.isEmpty() || failure != null;
    }
  }
}
