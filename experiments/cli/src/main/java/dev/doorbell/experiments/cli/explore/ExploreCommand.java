package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.JUnitOption;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.explore.ExploreReport.Explored;
import dev.doorbell.experiments.cli.explore.WorldOptions.World;
import dev.doorbell.experiments.cli.plan.UserKernels;
import dev.doorbell.experiments.workbench.explore.Explorer;
import dev.doorbell.experiments.workbench.explore.Explorer.Reliance;
import dev.doorbell.experiments.workbench.explore.Failure;
import dev.doorbell.experiments.workbench.explore.Laboratory;
import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Nic;
import dev.doorbell.experiments.workbench.explore.Race;
import dev.doorbell.experiments.workbench.explore.Scenario;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import dev.doorbell.experiments.workbench.explore.Schedule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Runs a kernel against an adversary, and reports what nothing orders, with both lines.",
      "",
      "  doorbell explore put_rate",
      "  doorbell explore put_rate --policy strict --queues host",
      "  doorbell explore my_put.ptx --entry my_put --threads 64 --seeds 100 --budget 30s",
      "  doorbell explore kernels/my_put/my_put.kernel.yaml    a kernel of your own, as described",
      "  doorbell explore my_put.ptx --schedule 7@964#1b2c3d4e",
      "  doorbell explore put_rate --prove --iterations 1    all executions of a small world",
      "  doorbell explore my_gather.kernel.yaml --ranks 2,4 --group 1,2 --until covered",
      "  doorbell explore put_latency --bytes 8192 --nic cx7-ar    an adapter that orders less",
      "  doorbell explore --case list",
      ""
    },
    footer = {
      "",
      "A kernel takes (const doorbell_qp *qps, const doorbell_job *jobs), as the project's do.",
      "Exit code 8 when something was found, 7 when no run came to its end, 11 when nothing was",
      "found and not all was covered, 0 when clean. With --prove: 0 proved, 8 a trace, 7 undecided."
    })
public final class ExploreCommand extends CliCommand {
  private static final Pattern ENTRY = Pattern.compile("\\.entry\\s+([\\w$]+)");
  private static final Pattern TIME = Pattern.compile("(\\d{1,6})(ms|s|m|min)");
  private static final int LAST_TURNS = 24;
  private static final int USUAL_BATCH = 4;

  /** Time for the runs in which some threads do not go on, where the budget is used up. */
  private static final long LAST_LOOK = 1_000_000_000L;

  /**
   * Kernels of one block, and its threads: those that all ranks run together, and those of one
   * poster.
   */
  private static final Map<String, Integer> OF_ONE_BLOCK =
      Map.of(
          "collective", 2,
          "moe", 32,
          "put_batch", 1,
          "put_quiet", 1,
          "put_light", 1,
          "put_exclusive", 1);

  @Mixin private UserKernels userKernels = new UserKernels();

  @Option(
      names = "--case",
      paramLabel = "NAME",
      description =
          "Explore a public bug, broken and fixed, by strict rules; 'list' names them all, "
              + "'all' explores them all.")
  private @Nullable String bug;

  @Mixin private NicOptions nics = new NicOptions();

  @Parameters(
      paramLabel = "KERNEL|FILE.ptx|FOLDER",
      arity = "0..1",
      description = "A kernel of the project, a file, or the folder of one kernel.")
  private String kernel = "";

  @Mixin private WorldOptions worldOptions = new WorldOptions();

  @Mixin private JUnitOption junit = new JUnitOption();

  @Option(
      names = "--link",
      paramLabel = "FILE",
      description = "PTX that is linked with FILE.ptx into one module; repeat for more.")
  private List<String> linked = new ArrayList<>();

  @Option(names = "--entry", paramLabel = "NAME", description = "Which kernel of the file.")
  private @Nullable String entry;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      defaultValue = "20",
      description = "Runs at most (default ${DEFAULT-VALUE}).")
  private int seeds;

  @Option(
      names = "--until",
      paramLabel = "covered",
      description = "Go on until all is covered, or 50 runs in a row have covered nothing new.")
  private String until = "";

  @Option(
      names = "--budget",
      paramLabel = "TIME",
      defaultValue = "60s",
      description = "Wall time at most, of each case: 500ms, 60s, 2m (default ${DEFAULT-VALUE}).")
  private String budget = "";

  @Option(
      names = "--policy",
      defaultValue = "vendor",
      description =
          "strict: an HCA is ordered by scope sys only; vendor: scope gpu also orders memory of the"
              + " GPU for its HCA, as shipping libraries have it (default ${DEFAULT-VALUE}).")
  private Policy policy = Policy.VENDOR;

  @Option(
      names = "--schedule",
      paramLabel = "SCHEDULE|FILE",
      description = "Replay a schedule that a report gave, and print its last turns.")
  private @Nullable String schedule;

  @Option(
      names = "--prove",
      description =
          "Go through all executions, each once up to the order of what commutes, for a kernel of"
              + " few threads and messages.")
  private boolean prove;

  @Option(
      names = "--bytes",
      defaultValue = "32",
      description = "Bytes of a message, a multiple of 8 (${DEFAULT-VALUE}).")
  private int bytes;

  @Option(
      names = "--qps",
      defaultValue = "1",
      description = "Queue pairs between the ranks (${DEFAULT-VALUE}).")
  private int queuePairs;

  @Option(
      names = "--window",
      defaultValue = "0",
      description = "Operations in flight; 0: as many as fit (${DEFAULT-VALUE}).")
  private int window;

  @Option(
      names = "--scope",
      defaultValue = "thread",
      description = "Who posts together: thread, warp, block (${DEFAULT-VALUE}).")
  private String scope = "";

  @Option(
      names = "--path",
      defaultValue = "pull",
      description = "How payload leaves: pull, inline, stage (${DEFAULT-VALUE}).")
  private String path = "";

  @Option(
      names = "--queues",
      defaultValue = "gpu",
      description = "Where rings and records lie: gpu, host (${DEFAULT-VALUE}).")
  private String queues = "";

  @Option(
      names = "--ringer",
      defaultValue = "gpu",
      description = "Who rings: gpu, cpu, proxy (${DEFAULT-VALUE}).")
  private String ringer = "";

  @Option(names = "--blueflame", description = "Post through BlueFlame where a WQE fits.")
  private boolean blueFlame;

  @Option(
      names = "--whole-blocks",
      description = "An HCA gets each 64-byte block of a BlueFlame write whole.")
  private boolean wholeBlocks;

  @Option(
      names = "--relaxed-ordering",
      description = "Payload is registered for PCIe relaxed ordering: it arrives in any order.")
  private boolean relaxedOrdering;

  @Option(
      names = "--record-last",
      description = "Ring before the record is written, and once more after it.")
  private boolean recordLast;

  @Option(names = "--exclusive", description = "One thread posts to a queue pair.")
  private boolean exclusive;

  @Option(
      names = "--collapsed",
      description = "One completion entry, always overwritten, in place of a ring.")
  private boolean collapsed;

  @Option(
      names = "--batch",
      defaultValue = "4",
      description = "Ring at the latest when that many blocks wait (${DEFAULT-VALUE}).")
  private int batch;

  @Option(
      names = "--order",
      defaultValue = Scenario.Posting.DEFAULT_ORDER,
      description =
          "put_minimal: what stands between WQE, record and doorbell, as configs name it"
              + " (${DEFAULT-VALUE}); put_exclusive: no-record.")
  private String order = "";

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    if ((bug == null) == kernel.isEmpty()) {
      throw UsageException.wrong(
          null, "one of KERNEL, FILE.ptx and --case is needed", "doorbell explore --help");
    }
    UsageException.requireRange("--seeds", seeds, 1, Integer.MAX_VALUE);
    if (!until.isEmpty()) {
      word("--until", until, "covered");
    }
    Laboratory laboratory = new Laboratory();
    if (bug != null) {
      if (!nics.isDefault()) {
        throw UsageException.of(
            "DB-U025",
            "--nic",
            "a case chooses its adapter itself",
            "leave --nic and --remedy out");
      }
      return new CaseRunner(context, common(), laboratory)
          .run(bug, seeds, nanos("--budget", budget));
    }
    List<World> worlds = worlds(laboratory);
    Nic nic = nics.nic();
    long nanos = nanos("--budget", budget);
    try {
      worlds.replaceAll(
          world -> new World(world.choice(), world.scenario().with(nic), world.kernel()));
      if (schedule != null) {
        return replay(context, laboratory, worlds, schedule(schedule), nanos);
      }
      if (prove) {
        return new ProofRunner(context, common(), laboratory).run(worlds, nanos);
      }
      return explore(context, laboratory, worlds, nanos);
    } catch (ScenarioException e) {
      Problem problem =
          Problem.of("DB-U020", kernel, String.valueOf(e.getMessage()))
              .effect("nothing was explored");
      throw new UsageException(e.fix().isEmpty() ? problem : problem.fix(e.fix()));
    }
  }

  /** Explores each world for its part of the time, and says of all together what was covered. */
  private ExitCode explore(
      CommandContext context, Laboratory laboratory, List<World> worlds, long nanos)
      throws UsageException, ScenarioException {
    long end = System.nanoTime() + nanos;
    Explorer.Until limit = new Explorer.Until(seeds, until.equals("covered"));
    List<Explored> all = new ArrayList<>();
    for (World world : worlds) {
      Explorer explorer = new Explorer(laboratory, world.scenario());
      long left = Math.max(1, end - System.nanoTime());
      Explorer.Report report = explorer.explore(limit, left / (worlds.size() - all.size()));
      boolean relied = report.isClean() && report.finished() > 0;
      List<Reliance> relies =
          relied ? explorer.relies(Math.max(left - report.nanos(), LAST_LOOK)) : List.of();
      all.add(new Explored(world, report, relies));
    }
    ExploreReport.Summary summary = new ExploreReport.Summary(all);
    junit.write("doorbell explore " + kernel, summary.cases());
    print(context, summary::json, summary::text);
    return summary.verdict();
  }

  private ExitCode replay(
      CommandContext context,
      Laboratory laboratory,
      List<World> worlds,
      Schedule wanted,
      long nanos)
      throws UsageException, ScenarioException {
    Scenario scenario =
        worlds.stream()
            .map(World::scenario)
            .filter(wanted::isOf)
            .findFirst()
            .orElseThrow(
                () ->
                    new UsageException(
                        Problem.of(
                                "DB-U021", "--schedule", "the schedule was made for something else")
                            .effect("nothing was replayed")
                            .fix(
                                "give the kernel and the options of the report that it comes"
                                    + " from")));
    Outcome outcome = new Explorer(laboratory, scenario).replay(wanted, LAST_TURNS, nanos);
    List<Race> races = outcome.races();
    Failure failure = outcome.failure();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("schedule", wanted.toString());
    json.put("turns", outcome.turns());
    json.put("races", races.stream().map(ExploreReport::json).toList());
    json.put("failure", failure == null ? null : failure.text());
    json.put("last_turns", outcome.lastTurns());
    StringBuilder text = new StringBuilder(ExploreReport.head(scenario));
    text.append("\nthe last turns of schedule %s%n".formatted(wanted));
    outcome.lastTurns().forEach(turn -> text.append(turn).append('\n'));
    for (Race race : races) {
      text.append("\nCOUNTER-EXAMPLE  %s   turn %d%n".formatted(race.kind().what(), race.turns()));
      ExploreReport.race(text, race);
    }
    if (failure != null) {
      text.append("\n%s  %s%n".formatted(failure.kind().verdict(), failure.text()));
    }
    print(context, () -> json, text::toString);
    return outcome.isFinding() ? ExitCode.COUNTER_EXAMPLE : ExitCode.OK;
  }

  private List<World> worlds(Laboratory laboratory) throws UsageException {
    ExploredKernel described = ExploredKernel.find(userKernels, kernel, entry, List.of());
    // A short ring is no second world of long runs, or of WQEs of several blocks.
    boolean wraps =
        !prove && nics.isDefault() && window == 0 && batch <= USUAL_BATCH && path.equals("pull");
    List<World> worlds = new ArrayList<>();
    for (WorldOptions.Choice choice : worldOptions.choices(described, wraps)) {
      ExploredKernel own = ExploredKernel.find(userKernels, kernel, entry, choice.settings());
      Scenario.Program program =
          own == null ? program(laboratory) : own.program(choice.number("--ranks").orElse(2));
      worlds.add(new World(choice, scenario(program, own, choice), own));
    }
    return worlds;
  }

  private Scenario.Program program(Laboratory laboratory) throws UsageException {
    if (!kernel.endsWith(".ptx")) {
      return laboratory
          .kernel(kernel)
          .orElseThrow(
              () ->
                  UsageException.of(
                      "DB-U022",
                      null,
                      "no kernel '%s'%s"
                          .formatted(kernel, Nearest.suggestion(kernel, laboratory.kernels())),
                      "doorbell list kernels"));
    }
    Path file = Path.of(kernel);
    List<PtxFiles.Part> parts = new ArrayList<>();
    parts.add(part(kernel));
    for (String other : linked) {
      parts.add(part(other));
    }
    String ptx = PtxFiles.join(parts);
    String name = entry;
    if (name == null) {
      Matcher matcher = ENTRY.matcher(ptx);
      if (!matcher.find()) {
        throw new UsageException(Problem.of("DB-U024", kernel, "there is no .entry in it"));
      }
      name = matcher.group(1);
    }
    Path base = file.getFileName();
    // Nobody has said what is sent by a kernel that is none of the project's.
    String like = laboratory.kernels().contains(name) ? name : "";
    return new Scenario.Program(String.valueOf(base), name, ptx, Scenario.Shape.named(like));
  }

  private static PtxFiles.Part part(String name) throws UsageException {
    try {
      Path file = Path.of(name);
      return new PtxFiles.Part(String.valueOf(file.getFileName()), Files.readString(file), 0);
    } catch (IOException e) {
      throw UsageException.of("DB-U023", name, "cannot be read", "give the path of a PTX file");
    }
  }

  /** A ping-pong of the project's is between two posters. */
  private int usualBlocks(Scenario.Program program) {
    return prove || OF_ONE_BLOCK.containsKey(program.entry()) || program.shape().launched() > 1
        ? 1
        : 2;
  }

  private int usualThreads(Scenario.Program program) {
    return OF_ONE_BLOCK.getOrDefault(program.entry(), prove ? 1 : 4);
  }

  private Scenario scenario(
      Scenario.Program program, @Nullable ExploredKernel known, WorldOptions.Choice choice)
      throws UsageException {
    word("--scope", scope, "thread", "warp", "block");
    word("--path", path, "pull", "inline", "stage");
    word("--queues", queues, "gpu", "host");
    word("--ringer", ringer, "gpu", "cpu", "proxy");
    int gridBlocks =
        choice.number("--blocks").orElse(known == null ? usualBlocks(program) : known.blocks());
    int blockThreads =
        choice.number("--threads").orElse(known == null ? usualThreads(program) : known.threads());
    int ring = choice.number("--ring").orElse(64);
    int iterations = choice.number("--iterations").orElse(3);
    int slots = known == null || window > 0 ? window : known.window();
    String who = known == null || !ringer.equals("gpu") ? ringer : known.ringer();
    UsageException.requireRange("--blocks", gridBlocks, 1, 128);
    UsageException.requireRange("--threads", blockThreads, 1, 1024);
    UsageException.requireRange("--iterations", iterations, 1, 1 << 20);
    UsageException.requireRange("--qps", queuePairs, 1, 64);
    if (program.shape().among() && queuePairs != 1) {
      throw new UsageException(
          Problem.of("DB-U025", "--qps", "the kernel runs at all ranks")
              .effect("it has one queue pair to each other rank")
              .fix("leave --qps out"));
    }
    UsageException.requireRange("--ring", ring, 4, 1 << 15);
    UsageException.requireRange("--batch", batch, 1, 1 << 15);
    UsageException.requireRange("--window", window, 0, 1 << 15);
    UsageException.requireRange("--bytes", bytes, 8, 1 << 16);
    if (bytes % 8 != 0 || Integer.bitCount(ring) != 1) {
      throw UsageException.of(
          "DB-U025", null, "--bytes must be a multiple of 8 and --ring a power of two");
    }
    return new Scenario(
        program,
        new Scenario.Load(
            gridBlocks, blockThreads, iterations, bytes, queuePairs, ring, slots, scope, path),
        new Scenario.Posting(
            queues, who, blueFlame, recordLast, exclusive, collapsed, batch, order),
        new Scenario.Rules(policy, !wholeBlocks, relaxedOrdering));
  }

  private static void word(String option, String word, String... known) throws UsageException {
    UsageException.requireWord(option, word, List.of(known));
  }

  /** Returns {@code 500ms}, {@code 10s}, {@code 2m} in nanoseconds. */
  private static long nanos(String option, String text) throws UsageException {
    Matcher matcher = TIME.matcher(text);
    if (!matcher.matches()) {
      throw UsageException.of(
          "DB-U025", option, "'%s' is no time".formatted(text), "for example 500ms, 60s or 2m");
    }
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> number * 1_000_000L;
      case "s" -> number * 1_000_000_000L;
      default -> number * 60_000_000_000L;
    };
  }

  private static Schedule schedule(String text) throws UsageException {
    String line = text;
    Path file = Path.of(text);
    if (Files.isRegularFile(file)) {
      try {
        line = Files.readString(file);
      } catch (IOException e) {
        throw new UsageException(Problem.of("DB-U023", text, "cannot be read"));
      }
    }
    return Schedule.parse(line)
        .orElseThrow(
            () ->
                UsageException.of(
                    "DB-U026",
                    "--schedule",
                    "'%s' is no schedule".formatted(text),
                    "take it from a report: SEED@TURNS#SCENARIO"));
  }
}
