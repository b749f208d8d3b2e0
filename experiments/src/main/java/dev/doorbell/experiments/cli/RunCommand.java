package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.ConfigException;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.EnvironmentException;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Pairing;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.Manifest;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunExecution;
import dev.doorbell.experiments.run.RunListener;
import dev.doorbell.experiments.run.StoredRun;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
      "  doorbell run --resume runs/20260101T120000Z-pull-vs-push-7f3a91c2",
      "  doorbell run pull-vs-push --pair -s size=64,4K -s placement=same-switch",
      ""
    })
final class RunCommand implements Command {
  private static final Duration GRACE = Duration.ofSeconds(5);

  @Mixin private CommonOptions common = new CommonOptions();
  @Mixin private PlanOptions planOptions = new PlanOptions();
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
  private @Nullable Path resume;

  @Option(
      names = {"-j", "--jobs"},
      paramLabel = "N",
      description = "Points to run at a time (default: one a core).")
  private int jobs = Runtime.getRuntime().availableProcessors();

  @Override
  public ExitCode run(Context around)
      throws UsageException, ConfigException, EnvironmentException, RunException {
    checkArguments();
    Path resumed = resume;
    StoredRun before = resumed == null ? null : StoredRun.read(resumed);
    Context context =
        before == null
            ? kernels.join(around, experiment)
            : kernels.joinFolders(around, List.of(RunDirectory.kernels(before.path())));
    Pairing pairing = pair.pairing();
    ExperimentRuntime alone = context.runtime().get();
    ExperimentRuntime runtime = pairing == null ? alone : alone.paired(pairing);
    if (pairing != null) {
      jobs = 1;
    }
    ExperimentConfig config =
        before == null
            ? kernels.read(context, String.valueOf(experiment), planOptions.allOverrides())
            : kernels.demand(before.plan().config());
    Plan plan = planOptions.plan(config);
    String name = before == null ? String.valueOf(experiment) : before.path().toString();
    PlanChecks.demand(name, plan, runtime);
    List<Point> points = before == null ? plan.points() : remaining(plan, before);
    Environment environment =
        runtime.choose(new Environment.Wish(config.gpu(), config.hca(), config.clock()));
    announce(context, environment, config, points, runtime);
    if (dryRun) {
      return ExitCode.OK;
    }
    if (pair.follows()) {
      return new FollowedRun(context, runtime.runner(environment), common.quiet).run(points);
    }
    try (ChildProcess other = pair.startOther(context.arguments());
        RunDirectory directory =
            before == null
                ? RunDirectory.create(context.disk(), out, config, context.clock().instant())
                : RunDirectory.reopen(context.disk(), before.path())) {
      if (before == null) {
        directory.keep(kernels.of(config));
      }
      ExitCode code = execute(context, runtime, environment, plan, points, directory);
      // The other process fails where this one does, and where only it has seen a wrong byte.
      return other != null && other.await(GRACE.toSeconds()) != 0 && code == ExitCode.OK
          ? ExitCode.FAILED
          : code;
    }
  }

  private void checkArguments() throws UsageException {
    if ((experiment == null) == (resume == null)) {
      throw new UsageException(
          Problem.of("DB-U003", null, "give either an experiment or --resume RUN")
              .fix("doorbell run --help"));
    }
    if (resume != null && !planOptions.allOverrides().isEmpty()) {
      throw new UsageException(
          Problem.of("DB-U003", null, "--resume goes on with the run as it was: no -s, no --seed")
              .fix("start a new run to change something"));
    }
    if (jobs < 1) {
      throw new UsageException(Problem.of("DB-U003", "--jobs", "at least one point must run"));
    }
  }

  private static List<Point> remaining(Plan plan, StoredRun before) {
    List<Point> unfinished = before.unfinished();
    return plan.points().stream().filter(unfinished::contains).toList();
  }

  /** The first line says what runs and why; nothing is chosen in silence. */
  private void announce(
      Context context,
      Environment environment,
      ExperimentConfig config,
      List<Point> points,
      ExperimentRuntime runtime) {
    if (common.quiet || common.json) {
      return;
    }
    PrintStream print = context.terminal().out();
    print.printf(
        "gpu %s   hca %s   clock %s   basis %s%n",
        choice(environment.gpu()),
        choice(environment.hca()),
        choice(environment.clock()),
        environment.basis().word());
    long nanos = points.stream().mapToLong(runtime::estimateNanos).sum();
    print.printf(
        "%s   seed %d   points %d   est. %s   config %.8s%n",
        config.name(), config.seed(), points.size(), Show.minutes(nanos / jobs), config.hash());
    if (dryRun && common.verbose) {
      points.forEach(point -> print.println("  " + point.id()));
    }
  }

  private static String choice(Environment.Choice choice) {
    return "%s (%s)".formatted(choice.name(), choice.reason());
  }

  private ExitCode execute(
      Context context,
      ExperimentRuntime runtime,
      Environment environment,
      Plan plan,
      List<Point> points,
      RunDirectory directory)
      throws RunException {
    Manifest manifest =
        Manifest.starting(
            Version.NUMBER,
            directory,
            plan.config().name(),
            plan.config().hash(),
            context.arguments(),
            context.clock().instant(),
            jobs,
            plan.points().size(),
            environment,
            runtime.constants(plan.points()));
    manifest.write(directory);
    directory.log().line("started: " + String.join(" ", context.arguments()));
    boolean silent = common.quiet || common.json;
    Progress progress = new Progress(context.terminal(), points, runtime::estimateNanos);
    RunExecution execution =
        new RunExecution(
            directory,
            runtime.runner(environment),
            runtime::predict,
            silent ? RunListener.SILENT : progress,
            context.interruption(),
            jobs,
            GRACE);
    RunExecution.Outcome outcome = execution.run(points);
    progress.end();
    directory.log().line(outcome.interrupted() ? "interrupted" : "all points recorded");
    StoredRun stored = StoredRun.read(directory.path());
    List<String> figures = RunOutputs.write(directory, stored);
    manifest
        .ended(
            outcome.interrupted() ? Manifest.State.INTERRUPTED : Manifest.State.COMPLETE,
            context.clock().instant(),
            stored.entries().size())
        .write(directory);
    ExitCode code = exitCode(stored.entries(), outcome.interrupted());
    if (code != ExitCode.INTERRUPTED && stored.faults().stream().anyMatch(FaultTally::missed)) {
      code = ExitCode.FAILED;
    }
    report(context, stored, figures, code);
    return code;
  }

  private void report(Context context, StoredRun stored, List<String> figures, ExitCode code) {
    PrintStream print = context.terminal().out();
    if (common.json) {
      Json.print(context, RunOutputs.report(stored, figures, code));
      return;
    }
    if (common.quiet) {
      print.println(stored.path());
      return;
    }
    print.println();
    print.print(ResultTable.text(stored));
    print.printf("run      %s%n", stored.path());
    if (!figures.isEmpty()) {
      print.printf(
          "figures  %s%n",
          String.join(" ", figures.stream().filter(file -> file.endsWith(".svg")).toList()));
    }
    if (code == ExitCode.INTERRUPTED) {
      print.printf("resume   doorbell run --resume %s%n", stored.path());
    }
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

  @Override
  public boolean verbose() {
    return common.verbose;
  }
}
