package dev.doorbell.experiments.cli.run;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.SecondCompiler;
import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.command.Version;
import dev.doorbell.experiments.cli.plan.PlanChecks;
import dev.doorbell.experiments.cli.plan.PlanOptions;
import dev.doorbell.experiments.cli.plan.UserKernels;
import dev.doorbell.experiments.cli.run.PreparedRun.DoctorFindings;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.tables.ResultTable;
import dev.doorbell.experiments.results.validation.Credit;
import dev.doorbell.experiments.run.Expectations;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.Machine;
import dev.doorbell.experiments.run.Manifest;
import dev.doorbell.experiments.run.PointSchedule;
import dev.doorbell.experiments.run.RepeatedRunner;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunEstimate;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunExecution;
import dev.doorbell.experiments.run.RunExecution.RunListener;
import dev.doorbell.experiments.run.RunFinder;
import dev.doorbell.experiments.run.RunIndex;
import dev.doorbell.experiments.run.RunTimes;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.workbench.validation.StoredResults;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Runs an experiment and keeps samples, table and figures in a directory of its own.",
      "",
      "  doorbell run pull-vs-push",
      "  doorbell run pull-vs-push -s size=64,4K,64K -s placement=same-switch",
      "  doorbell run my.yaml --dry-run",
      "  doorbell run pull-vs-push --faults lossy.yaml -s size=64",
      "  doorbell run my.yaml --only 'size<=4K,path=pull|push.bf' --seed 7 --out /data/runs",
      "  doorbell run my.yaml --until 'ci95(latency.p50)<2%%' --retries 2 --tag before",
      "  doorbell run --resume runs/20260101T120000Z-pull-vs-push-7f3a91c2",
      ""
    })
public final class RunCommand extends CliCommand {
  private static final Duration GRACE = Duration.ofSeconds(5);
  private static final String RESULTS = "results";

  @Mixin private PlanOptions planOptions = new PlanOptions();
  @Mixin private RunOptions options = new RunOptions();
  @Mixin private UserKernels kernels = new UserKernels();

  @Parameters(paramLabel = "EXPERIMENT", arity = "0..1", description = "A name, or a file.")
  private @Nullable String experiment;

  @Option(names = "--dry-run", description = "Say what would be run, and how long it would take.")
  private boolean dryRun;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Folder for run directories (default: runs).")
  private Path out = Path.of("runs");

  @Option(names = "--resume", paramLabel = "RUN", description = "Go on with an unfinished run.")
  private @Nullable String resume;

  @Override
  public ExitCode run(CommandContext around) throws ProblemException {
    RunTimes times = new RunTimes();
    checkArguments();
    CompletableFuture<Machine> machine = Machine.read();
    PreparedRun prepared = prepare(around, resumed());
    if (!dryRun) {
      machine.join(); // which other processes answer
      SecondCompiler.demandFor(prepared.work());
    }
    announce(prepared);
    if (dryRun) {
      return ExitCode.OK;
    }
    try (RunDirectory directory = directory(prepared)) {
      RunIndex begun = begin(prepared, directory, machine.join());
      times.ended("preparation");
      List<RunIndex> others =
          OtherProcesses.run(prepared.context(), directory.path(), begun.processes(), silent());
      FinishedRun finished = execute(prepared, begun, directory, others, times);
      report(prepared.context(), finished, times);
      directory.log().line(times.text());
      return finished.code();
    }
  }

  /** The run to go on with, less what of it is damaged. */
  private @Nullable RunIndex resumed() throws RunException {
    if (resume == null) {
      return null;
    }
    RunIndex before = RunIndex.read(new RunFinder(out).find(resume));
    before.requireSameConfig();
    return before.withoutDamagedSamples();
  }

  private PreparedRun prepare(CommandContext around, @Nullable RunIndex before)
      throws ProblemException {
    CommandContext context =
        before == null
            ? kernels.join(around, experiment)
            : kernels.joinFolders(around, List.of(RunDirectory.kernels(before.path())));
    ExperimentRuntime runtime = context.runtime().get();
    ExperimentConfig config =
        before == null
            ? kernels.read(context, String.valueOf(experiment), overrides())
            : kernels.demand(before.plan().config());
    Plan plan = planOptions.plan(config);
    String name = before == null ? String.valueOf(experiment) : before.path().toString();
    PlanChecks.demand(name, plan, runtime);
    Environment environment =
        runtime.choose(
            new Environment.Request(config.gpu(), config.hca(), config.clock()), plan.points());
    PlanChecks.demand(name, plan, runtime, environment);
    options.jobs = environment.pointsAtOnce(options.jobs);
    requireProcesses(config, environment.basis(), before != null);
    PointSchedule schedule = schedule(plan, before, environment.basis());
    RunEstimate estimate = new RunEstimate(runtime::estimateNanos, config.measure().repeat());
    List<Point> points = PreparedRun.remaining(schedule.points(plan), before);
    return new PreparedRun(
        context, runtime, config, plan, environment, schedule, points, before, estimate);
  }

  /** Several processes are for wall time, of a run that is no part of something else. */
  private static void requireProcesses(ExperimentConfig config, Basis basis, boolean resumed)
      throws UsageException {
    if (config.measure().processes() == 1) {
      return;
    }
    String why =
        basis == Basis.MODELLED
            ? "virtual time is the same in every process"
            : resumed
                ? "a resumed run is run by the processes that it has"
                : config.measure().until() != null
                    ? "with 'until' processes would have different numbers of samples"
                    : "";
    if (!why.isEmpty()) {
      throw UsageException.wrong("--processes", why, "leave it out, or -s processes=1");
    }
  }

  private RunDirectory directory(PreparedRun prepared) throws RunException {
    CommandContext context = prepared.context();
    RunIndex before = prepared.before();
    return before == null
        ? RunDirectory.prepare(context.disk(), out, prepared.config(), context.clock().instant())
        : RunDirectory.reopen(context.disk(), before.path());
  }

  private RunIndex begin(PreparedRun prepared, RunDirectory directory, Machine machine)
      throws RunException {
    CommandContext context = prepared.context();
    RunIndex before = prepared.before();
    Manifest manifest =
        new Manifest(
            Version.NUMBER,
            directory.id(),
            prepared.config().name(),
            prepared.config().hash(),
            context.arguments(),
            before == null ? options.tags : tags(before),
            prepared.schedule(),
            Manifest.State.RUNNING,
            context.clock().instant(),
            null,
            options.jobs,
            prepared.plan().points().size(),
            0,
            prepared.environment(),
            prepared.environment().basis(),
            machine,
            DoctorFindings.of(prepared.environment()),
            prepared.runtime().constants(prepared.plan().points()));
    manifest.write(directory);
    if (before == null) {
      directory.keep(kernels.of(prepared.config()));
      directory.publish();
    }
    return RunIndex.of(
        directory.path(),
        Plan.of(prepared.config()), // the whole plan, of which this run may be a part
        manifest,
        before == null ? List.of() : before.entries());
  }

  private FinishedRun execute(
      PreparedRun prepared,
      RunIndex begun,
      RunDirectory directory,
      List<RunIndex> others,
      RunTimes times)
      throws RunException {
    CommandContext context = prepared.context();
    ExperimentConfig.Measure measure = begun.plan().config().measure();
    directory.log().line("started: " + String.join(" ", context.arguments()));
    Progress progress =
        new Progress(context.terminal(), prepared.points(), prepared.estimate()::ofPoint);
    RunExecution execution =
        new RunExecution(
            directory,
            times.watch(
                OtherProcesses.joined(
                    new RepeatedRunner(prepared.runner(), measure.repeat(), measure.until()),
                    others)),
            prepared.runtime()::predict,
            silent() ? RunListener.SILENT : progress,
            context.interruption(),
            new RunExecution.Limits(
                options.jobs,
                prepared.environment().basis() == Basis.MODELLED,
                point -> allowed(point, prepared.estimate()),
                GRACE,
                options.retries));
    RunExecution.Outcome outcome = execution.run(prepared.points());
    progress.end();
    directory.log().line(outcome.interrupted() ? "interrupted" : "all points recorded");
    times.ended("points");
    RunIndex done = begun.after(outcome.entries());
    Manifest ended =
        begun
            .manifest()
            .ended(
                outcome.interrupted() ? Manifest.State.INTERRUPTED : Manifest.State.COMPLETE,
                context.clock().instant(),
                done.entries().size());
    StoredRun stored =
        StoredRun.read(
            new RunIndex(done.path(), done.plan(), ended, done.entries(), done.damage()));
    RunOutputs.Written written = RunOutputs.write(directory, stored, prepared.runtime());
    ended.write(directory);
    directory.seal();
    times.ended(RESULTS);
    return new FinishedRun(stored, written, judged(stored, outcome.interrupted()));
  }

  /** A point may take ten times what is expected of it, where the user has not said otherwise. */
  private Duration allowed(Point point, RunEstimate estimate) {
    Duration expected = Duration.ofNanos(10 * estimate.ofPoint(point));
    boolean asked = overrides().stream().anyMatch(one -> one.startsWith("timeout="));
    return asked || expected.compareTo(point.timeout()) < 0 ? point.timeout() : expected;
  }

  private List<String> overrides() {
    List<String> overrides = new ArrayList<>(planOptions.allOverrides());
    overrides.addAll(options.overrides());
    return overrides;
  }

  private List<String> tags(RunIndex before) {
    SequencedSet<String> tags = new LinkedHashSet<>(before.manifest().tags());
    tags.addAll(options.tags);
    return List.copyOf(tags);
  }

  /** A resumed run keeps the schedule of its beginning. */
  private PointSchedule schedule(Plan plan, @Nullable RunIndex before, Basis basis)
      throws UsageException {
    PointSchedule begun = before == null ? null : before.manifest().schedule();
    return begun == null ? PointSchedule.of(plan, options.shuffled(basis)) : begun;
  }

  private void checkArguments() throws UsageException {
    if ((experiment == null) == (resume == null)) {
      throw UsageException.wrong(
          null, "give either an experiment or --resume RUN", "doorbell run --help");
    }
    boolean changes = !overrides().isEmpty() || options.shuffle != null;
    if (resume != null && changes) {
      throw UsageException.wrong(
          null,
          "--resume goes on with the run as it was: no -s, --seed, --repeat, --until or --shuffle",
          "start a new run to change something");
    }
    options.check();
  }

  private boolean silent() {
    return common().quiet() || common().json();
  }

  private void announce(PreparedRun prepared) {
    RunIndex before = prepared.before();
    if (silent()) {
      if (before != null) {
        before.damage().forEach(problem -> damaged(prepared.context().err(), problem));
      }
      return;
    }
    PrintStream print = prepared.context().out();
    Environment environment = prepared.environment();
    int width = prepared.context().width();
    print.println(
        Screen.folded(
            "gpu %s   hca %s   clock %s   basis %s"
                .formatted(
                    choice(environment.gpu()),
                    choice(environment.hca()),
                    choice(environment.clock()),
                    environment.basis().word()),
            width));
    ExperimentConfig config = prepared.config();
    List<Point> points = prepared.points();
    RunEstimate estimate = prepared.estimate();
    print.printf(
        "%s   seed %d   points %d   est. %s   config %.8s%n",
        config.name(),
        config.seed(),
        points.size(),
        Screen.minutes(estimate.ofRun(points, options.jobs)),
        config.hash());
    if (before != null) {
      before.damage().forEach(problem -> damaged(print, problem));
      print.println(prepared.again(before));
    }
    if (dryRun && common().verbose()) {
      points.forEach(point -> print.println("  " + point.id()));
    }
  }

  private static void damaged(PrintStream print, Problem problem) {
    print.printf("resume   %s  %s%n", problem.where(), problem.what());
  }

  private static String choice(Environment.Choice choice) {
    return "%s (%s)".formatted(choice.name(), choice.reason());
  }

  private record FinishedRun(StoredRun stored, RunOutputs.Written written, ExitCode code) {}

  private void report(CommandContext context, FinishedRun finished, RunTimes times) {
    PrintStream print = context.out();
    StoredRun stored = finished.stored();
    RunOutputs.Written figures = finished.written();
    if (common().json()) {
      SequencedMap<String, Object> json = RunOutputs.report(stored, figures, finished.code());
      if (options.timings) {
        json.put("seconds", times.json());
      }
      Json.print(context, json);
      return;
    }
    if (common().quiet()) {
      print.println(stored.path());
      stored.missedFaults().forEach(missed -> context.problem(missed.problem()));
      long without =
          stored.entries().stream()
              .map(JournalEntry::status)
              .filter(each -> each != JournalEntry.Status.OK && each != JournalEntry.Status.WAIVED)
              .count();
      if (without > 0) {
        context.problem(
            Problem.of("DB-R013", null, "%d points have no result".formatted(without))
                .fix(Typed.command(List.of("table", stored.path() + "")) + " says why"));
      }
      return;
    }
    print.println();
    int width = context.width();
    print.print(
        options.full || width == Terminal.UNLIMITED
            ? ResultTable.text(stored, width)
            : ResultTable.brief(stored, credit(stored), width));
    print.printf("run      %s%n", stored.path());
    if (!figures.figures().isEmpty()) {
      boolean all = options.full || width == Terminal.UNLIMITED || figures.figures().size() == 1;
      String names =
          all
              ? String.join(" ", figures.figures())
              : "%s and %d more in its folder figures"
                  .formatted(figures.figures().getFirst(), figures.figures().size() - 1);
      print.println(Screen.folded("figures  " + names, width));
    }
    figures
        .missing()
        .forEach(
            problem -> print.println(Screen.folded("note  " + problem.text(), context.width())));
    if (finished.code() == ExitCode.INTERRUPTED) {
      print.printf(
          "resume   %s%n",
          Typed.command(List.of("run", "--resume", String.valueOf(stored.path()))));
    }
    times.ended(RESULTS);
    print.println(Screen.folded(options.timings ? times.text() : times.brief(), context.width()));
  }

  /** Counts what published rows test of a modelled run, in a line. */
  private static String credit(StoredRun stored) {
    if (stored.data().basis() != Basis.MODELLED) {
      return "";
    }
    return "tested   %s%n".formatted(Credit.count(StoredResults.builtIn(), stored.plan().points()));
  }

  /** An expectation that is not met is a result like others, unless the user asks for more. */
  private ExitCode judged(StoredRun stored, boolean interrupted) {
    ExitCode code = exitCode(stored, interrupted);
    return options.strict && code == ExitCode.OK && Expectations.anyNotMet(stored.data())
        ? ExitCode.CLAIM
        : code;
  }

  /** Missed faults fail a run that is otherwise complete. */
  private static ExitCode exitCode(StoredRun stored, boolean interrupted) {
    ExitCode code = exitCode(stored.entries(), interrupted);
    return code == ExitCode.INTERRUPTED || stored.missedFaults().isEmpty() ? code : ExitCode.FAILED;
  }

  /** Interruption takes precedence over failure, and failure over a timeout. */
  static ExitCode exitCode(List<JournalEntry> entries, boolean interrupted) {
    if (interrupted) {
      return ExitCode.INTERRUPTED;
    }
    List<JournalEntry.Status> all = entries.stream().map(JournalEntry::status).toList();
    if (all.contains(JournalEntry.Status.FAILED) || all.contains(JournalEntry.Status.MISMATCH)) {
      return ExitCode.FAILED;
    }
    if (all.contains(JournalEntry.Status.TIMEOUT)) {
      return ExitCode.PARTIAL;
    }
    return all.contains(JournalEntry.Status.OK) ? ExitCode.OK : ExitCode.WAIVED;
  }
}
