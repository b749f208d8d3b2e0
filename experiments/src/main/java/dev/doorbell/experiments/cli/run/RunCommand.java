package dev.doorbell.experiments.cli.run;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.ChildProcess;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.Show;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.command.Version;
import dev.doorbell.experiments.cli.plan.PlanChecks;
import dev.doorbell.experiments.cli.plan.PlanOptions;
import dev.doorbell.experiments.cli.plan.UserKernels;
import dev.doorbell.experiments.cli.results.ComparisonReport;
import dev.doorbell.experiments.cli.results.ResultTable;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Pairing;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.remote.JobRank;
import dev.doorbell.experiments.results.compare.Rules;
import dev.doorbell.experiments.results.compare.RunComparison;
import dev.doorbell.experiments.results.compare.Verdict;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.Machine;
import dev.doorbell.experiments.run.Manifest;
import dev.doorbell.experiments.run.PointSchedule;
import dev.doorbell.experiments.run.RepeatedRunner;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunExecution;
import dev.doorbell.experiments.run.RunFinder;
import dev.doorbell.experiments.run.RunIndex;
import dev.doorbell.experiments.run.RunListener;
import dev.doorbell.experiments.run.StoredRun;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code doorbell run EXPERIMENT}. */
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
      "  doorbell run my.yaml --baseline before",
      "  doorbell run my.yaml --shard 1/4",
      "  doorbell run --resume runs/20260101T120000Z-pull-vs-push-7f3a91c2",
      "  doorbell run pull-vs-push --pair -s size=64,4K -s placement=same-switch",
      ""
    })
public final class RunCommand extends CliCommand {
  private static final Duration GRACE = Duration.ofSeconds(5);
  private static final String RESULTS = "results";
  private static final Rules COMPARED = new Rules(Set.of(), 0.05, 0.01);

  @Mixin private PlanOptions planOptions = new PlanOptions();
  @Mixin private RunOptions options = new RunOptions();
  @Mixin private UserKernels kernels = new UserKernels();
  @Mixin private PairOptions pair = new PairOptions();

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

  /** Whether nothing but results is printed while it runs. */
  private boolean silent;

  /** Whether other processes run the other parts; rank 0 then reports on all of them. */
  private boolean shared;

  @Override
  public ExitCode run(CommandContext around)
      throws UsageException, ConfigException, EnvironmentException, RunException {
    RunTimes times = new RunTimes();
    checkArguments();
    CompletableFuture<Machine> machine = Machine.read();
    RunIndex baseline = baseline();
    RunIndex before = resume == null ? null : RunIndex.read(new RunFinder(out).find(resume));
    CommandContext context =
        before == null
            ? kernels.join(around, experiment)
            : kernels.joinFolders(around, List.of(RunDirectory.kernels(before.path())));
    Pairing pairing = pair.pairing();
    ExperimentRuntime alone = context.runtime().get();
    ExperimentRuntime runtime = pairing == null ? alone : alone.paired(pairing);
    if (pairing != null) {
      options.jobs = 1;
    }
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
    JobRank rank = RunJob.rank(System.getenv(), options);
    PointSchedule schedule = schedule(plan, before, environment.basis(), rank);
    List<Point> points = remaining(plan, schedule, before);
    silent = common().quiet() || common().json() || rank.rank() > 0;
    announce(context, environment, config, points, runtime);
    if (dryRun) {
      return ExitCode.OK;
    }
    if (pair.follows()) {
      return new FollowedRun(context, runtime.runner(environment), common().quiet()).run(points);
    }
    try (RunJob job = rank.size() == 1 ? null : RunJob.begin(rank, options, config);
        ChildProcess other = pair.startOther(context.arguments());
        RunDirectory directory =
            before == null
                ? RunDirectory.prepare(context.disk(), out, config, context.clock().instant())
                : RunDirectory.reopen(context.disk(), before.path())) {
      Manifest manifest =
          Manifest.starting(
              Version.NUMBER,
              directory,
              config.name(),
              config.hash(),
              context.arguments(),
              before == null ? options.tags : tags(before),
              schedule,
              context.clock().instant(),
              options.jobs,
              plan.points().size(),
              environment,
              machine.join(),
              DoctorFindings.of(environment),
              runtime.constants(plan.points()));
      manifest.write(directory);
      if (before == null) {
        directory.keep(kernels.of(config));
        directory.publish();
      }
      RunIndex begun =
          RunIndex.of(
              directory.path(),
              Plan.of(config), // the whole of it, of which this may be a part
              manifest,
              before == null ? List.of() : before.entries());
      times.ended("preparation");
      if (job == null) {
        ExitCode code = execute(context, runtime, begun, points, directory, baseline, times);
        // The other process fails where this one does, and where only it has seen a wrong byte.
        return other != null && other.await(GRACE.toSeconds()) != 0 && code == ExitCode.OK
            ? ExitCode.FAILED
            : code;
      }
      job.running(points, options.retries);
      shared = true;
      ExitCode code = execute(context, runtime, begun, points, directory, null, times);
      job.end(context, directory.path(), code, common().quiet());
      return code;
    }
  }

  private @Nullable RunIndex baseline() throws RunException {
    return options.baseline == null
        ? null
        : RunIndex.read(new RunFinder(out).find(options.baseline));
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

  /** A resumed run does what was asked when it was begun. */
  private PointSchedule schedule(Plan plan, @Nullable RunIndex before, Basis basis, JobRank rank)
      throws UsageException {
    if (rank.size() > 1 && (before != null || options.shard != null || options.baseline != null)) {
      throw new UsageException(
          Problem.of(
                  "DB-U003",
                  null,
                  "%s has started %d ranks, each of which takes a shard"
                      .formatted(rank.launcher(), rank.size()))
              .effect("--shard, --resume and --baseline are for one process")
              .fix("resume each part by itself, and compare with doorbell compare"));
    }
    PointSchedule begun = before == null ? null : before.manifest().schedule();
    PointSchedule.Shard part = rank.size() > 1 ? RunJob.shard(rank) : options.part();
    return begun == null ? PointSchedule.of(plan, options.shuffled(basis), part) : begun;
  }

  private void checkArguments() throws UsageException {
    if ((experiment == null) == (resume == null)) {
      throw new UsageException(
          Problem.of("DB-U003", null, "give either an experiment or --resume RUN")
              .fix("doorbell run --help"));
    }
    boolean changes = !overrides().isEmpty() || options.shard != null || options.shuffle != null;
    if (resume != null && changes) {
      throw new UsageException(
          Problem.of(
                  "DB-U003",
                  null,
                  "--resume goes on with the run as it was: no -s, --seed, --repeat, --until,"
                      + " --shard or --shuffle")
              .fix("start a new run to change something"));
    }
    options.check();
  }

  private static List<Point> remaining(
      Plan plan, PointSchedule schedule, @Nullable RunIndex before) {
    List<Point> points = schedule.points(plan);
    if (before == null) {
      return points;
    }
    Set<String> finished = Set.copyOf(RunDirectory.finished(before.entries()));
    return points.stream().filter(point -> !finished.contains(point.id())).toList();
  }

  /** The first line says what runs and why; nothing is chosen in silence. */
  private void announce(
      CommandContext context,
      Environment environment,
      ExperimentConfig config,
      List<Point> points,
      ExperimentRuntime runtime) {
    if (silent) {
      return;
    }
    PrintStream print = context.terminal().out();
    print.printf(
        "gpu %s   hca %s   clock %s   basis %s%n",
        choice(environment.gpu()),
        choice(environment.hca()),
        choice(environment.clock()),
        environment.basis().word());
    long once = points.stream().mapToLong(runtime::estimateNanos).sum();
    long nanos = once * Math.max(1, config.measure().repeat());
    print.printf(
        "%s   seed %d   points %d   est. %s   config %.8s%n",
        config.name(),
        config.seed(),
        points.size(),
        Show.minutes(nanos / options.jobs),
        config.hash());
    if (dryRun && common().verbose()) {
      points.forEach(point -> print.println("  " + point.id()));
    }
  }

  private static String choice(Environment.Choice choice) {
    return "%s (%s)".formatted(choice.name(), choice.reason());
  }

  private ExitCode execute(
      CommandContext context,
      ExperimentRuntime runtime,
      RunIndex begun,
      List<Point> points,
      RunDirectory directory,
      @Nullable RunIndex baseline,
      RunTimes times)
      throws RunException {
    Manifest manifest = begun.manifest();
    ExperimentConfig.Measure measure = begun.plan().config().measure();
    directory.log().line("started: " + String.join(" ", context.arguments()));
    Progress progress = new Progress(context.terminal(), points, runtime::estimateNanos);
    RunExecution execution =
        new RunExecution(
            directory,
            times.watch(
                new RepeatedRunner(
                    runtime.runner(manifest.environment()), measure.repeat(), measure.until())),
            runtime::predict,
            silent ? RunListener.SILENT : progress,
            context.interruption(),
            new RunExecution.Limits(options.jobs, GRACE, options.retries));
    RunExecution.Outcome outcome = execution.run(points);
    progress.end();
    directory.log().line(outcome.interrupted() ? "interrupted" : "all points recorded");
    times.ended("points");
    RunIndex done = begun.after(outcome.entries());
    Manifest ended =
        manifest.ended(
            outcome.interrupted() ? Manifest.State.INTERRUPTED : Manifest.State.COMPLETE,
            context.clock().instant(),
            done.entries().size());
    StoredRun stored =
        StoredRun.read(new RunIndex(done.path(), done.plan(), ended, done.entries()));
    RunOutputs.Written figures = RunOutputs.write(directory, stored, runtime);
    ended.write(directory);
    times.ended(RESULTS);
    ExitCode code = exitCode(stored.entries(), outcome.interrupted());
    if (code != ExitCode.INTERRUPTED && stored.faults().stream().anyMatch(FaultTally::missed)) {
      code = ExitCode.FAILED;
    }
    RunComparison comparison = null;
    RunException incomparable = null;
    try {
      comparison = compare(baseline, directory.path(), code);
    } catch (RunException e) {
      incomparable = e;
    }
    if (comparison != null && comparison.overall() == Verdict.REGRESSED) {
      code = ExitCode.REGRESSION;
    }
    if (!shared) {
      report(context, stored, figures, code, comparison, times);
    }
    directory.log().line(times.text());
    if (incomparable != null) {
      // What was run is on the screen by now; that it cannot be compared comes last.
      throw incomparable;
    }
    return code;
  }

  /** A run that has failed has more to say than how it compares. */
  private static @Nullable RunComparison compare(
      @Nullable RunIndex baseline, Path run, ExitCode code) throws RunException {
    return baseline == null || code != ExitCode.OK
        ? null
        : RunComparison.of(baseline, RunIndex.read(run), COMPARED);
  }

  private void report(
      CommandContext context,
      StoredRun stored,
      RunOutputs.Written figures,
      ExitCode code,
      @Nullable RunComparison comparison,
      RunTimes times) {
    PrintStream print = context.terminal().out();
    if (common().json()) {
      SequencedMap<String, Object> json = RunOutputs.report(stored, figures, code);
      if (comparison != null) {
        json.put("comparison", new ComparisonReport(comparison).json());
      }
      if (options.timings) {
        json.put("seconds", times.json());
      }
      Json.print(context, json);
      return;
    }
    if (common().quiet()) {
      print.println(stored.path());
      return;
    }
    print.println();
    print.print(ResultTable.text(stored));
    print.printf("run      %s%n", stored.path());
    if (!figures.figures().isEmpty()) {
      print.printf("figures  %s%n", String.join(" ", figures.figures()));
    }
    figures.missing().forEach(problem -> print.println("note  " + problem.text()));
    if (code == ExitCode.INTERRUPTED) {
      print.printf("resume   doorbell run --resume %s%n", stored.path());
    }
    if (comparison != null) {
      print.printf("%nagainst  %s%n", comparison.before().path());
      print.print(
          new ComparisonReport(comparison)
              .text(point -> point.verdict().compareTo(Verdict.IMPROVED) >= 0));
    }
    times.ended(RESULTS);
    print.println(options.timings ? times.text() : times.brief());
  }

  /** What the journal amounts to; failure outweighs lateness, and interruption outweighs both. */
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
