package dev.doorbell.experiments.cli;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.Show;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.fuzz.FuzzCampaign;
import dev.doorbell.experiments.fuzz.FuzzFinding;
import dev.doorbell.experiments.fuzz.FuzzResult;
import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTargets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code doorbell fuzz [TARGET...]}. */
@CommandLine.Command(
    header = {
      "Feeds hostile inputs to every reader of files and messages.",
      "",
      "  doorbell fuzz --list",
      "  doorbell fuzz --inputs 1000000",
      "  doorbell fuzz journal ptx --inputs 50000 --seed 7",
      "  doorbell fuzz journal --seed 7 --first 4711 --inputs 1 --keep found",
      "",
      "A reader reads an input or refuses it with a problem. Anything else is a",
      "finding: a crash, a hang, or a change of memory that the input has no right",
      "to. Exits with 1 if there is one.",
      ""
    })
final class FuzzCommand extends CliCommand {
  @Parameters(
      paramLabel = "TARGET",
      arity = "0..*",
      description = "Readers; all of them unless named.")
  private List<String> names = new ArrayList<>();

  @Option(names = "--list", description = "List the readers.")
  private boolean list;

  @Option(
      names = "--inputs",
      paramLabel = "N",
      description = "Inputs in all; slow readers get fewer (default: ${DEFAULT-VALUE}).")
  private long inputs = 100_000;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of all draws (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Option(
      names = "--first",
      paramLabel = "N",
      description = "Number of each reader's first input; a finding names its own.")
  private long first;

  @Option(
      names = "--deadline",
      paramLabel = "SECONDS",
      description = "Wall time that one input may take (default: ${DEFAULT-VALUE}).")
  private int deadline = 10;

  @Option(names = "--keep", paramLabel = "DIR", description = "Write the inputs of findings there.")
  private @Nullable Path keep;

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    List<FuzzTarget> targets = targets();
    if (list) {
      print(context, targets);
      return ExitCode.OK;
    }
    if (inputs < 1 || deadline < 1 || first < 0) {
      throw new UsageException(
          Problem.of(
              "DB-U003", null, "--inputs and --deadline are 1 or more, and --first is 0 or more"));
    }
    List<FuzzResult> results = new ArrayList<>();
    long weights = targets.stream().mapToLong(FuzzTarget::weight).sum();
    long weight = 0;
    for (int i = 0; i < targets.size(); i++) {
      if (context.interruption().requested()) {
        break;
      }
      long before = weight;
      weight += targets.get(i).weight();
      long share = inputs * weight / weights - inputs * before / weights;
      FuzzCampaign campaign =
          new FuzzCampaign(
              seed, first, share, Duration.ofSeconds(deadline), context.interruption()::requested);
      FuzzResult result = campaign.run(targets.get(i));
      results.add(result);
      if (!common().quiet() && !common().json()) {
        result.findings().forEach(finding -> print(context, finding));
      }
      keep(result);
    }
    report(context, results);
    if (context.interruption().requested()) {
      return ExitCode.INTERRUPTED;
    }
    return results.stream().allMatch(FuzzResult::stood) ? ExitCode.OK : ExitCode.FAILED;
  }

  private List<FuzzTarget> targets() throws UsageException {
    List<FuzzTarget> all = FuzzTargets.all();
    List<String> known = all.stream().map(FuzzTarget::name).toList();
    for (String name : names) {
      if (!known.contains(name)) {
        throw new UsageException(
            Problem.of(
                    "DB-U022",
                    null,
                    "no reader is called '%s'%s".formatted(name, Nearest.suggestion(name, known)))
                .fix("doorbell fuzz --list"));
      }
    }
    return all.stream().filter(each -> names.isEmpty() || names.contains(each.name())).toList();
  }

  private void print(CommandContext context, List<FuzzTarget> targets) {
    if (common().json()) {
      Map<String, String> tree = new LinkedHashMap<>();
      targets.forEach(target -> tree.put(target.name(), target.what()));
      Json.print(context, tree);
      return;
    }
    TextTable table = new TextTable().left("target").left("reads");
    targets.forEach(target -> table.row(List.of(target.name(), target.what())));
    context.terminal().out().print(table.text());
  }

  private void print(CommandContext context, FuzzFinding finding) {
    context
        .terminal()
        .out()
        .printf(
            Locale.ROOT,
            "%s  input %d of seed %d: %s, %s%n%s%n",
            finding.target(),
            finding.number(),
            seed,
            finding.kind().text(),
            Show.count(finding.input().length, "byte"),
            finding.detail());
  }

  private void keep(FuzzResult result) throws UsageException {
    Path folder = keep;
    if (folder == null) {
      return;
    }
    try {
      Files.createDirectories(folder);
      for (FuzzFinding finding : result.findings()) {
        Files.write(
            folder.resolve(finding.target() + "-" + seed + "-" + finding.number()),
            finding.input());
      }
    } catch (IOException e) {
      throw new UsageException(
          Problem.of("DB-U023", "--keep " + folder, "cannot be written: " + e.getMessage())
              .fix("name a folder that can be written"));
    }
  }

  private void report(CommandContext context, List<FuzzResult> results) {
    if (common().json()) {
      Json.print(context, results.stream().map(FuzzCommand::tree).toList());
      return;
    }
    TextTable table =
        new TextTable()
            .left("target")
            .right("inputs")
            .right("read")
            .right("refused")
            .right("crashes")
            .right("hangs")
            .right("memory")
            .right("slowest")
            .right("wall");
    long all = 0;
    long findings = 0;
    for (FuzzResult each : results) {
      all += each.inputs();
      findings += each.crashes() + each.hangs() + each.memoryChanges();
      table.row(
          List.of(
              each.target(),
              count(each.inputs()),
              count(each.accepted()),
              count(each.refused()),
              count(each.crashes()),
              count(each.hangs()),
              count(each.memoryChanges()),
              String.format(Locale.ROOT, "%.0f ms", each.slowestNanos() / 1e6),
              String.format(Locale.ROOT, "%.1f s", each.wallNanos() / 1e9)));
    }
    context.terminal().out().print(table.text());
    context
        .terminal()
        .out()
        .printf(
            Locale.ROOT,
            "%s of seed %d: %s%n",
            Show.count(all, "input"),
            seed,
            findings == 0 ? "every one was read or refused" : Show.count(findings, "finding"));
  }

  private static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  private static Map<String, Object> tree(FuzzResult result) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("target", result.target());
    tree.put("inputs", result.inputs());
    tree.put("read", result.accepted());
    tree.put("refused", result.refused());
    tree.put("crashes", result.crashes());
    tree.put("hangs", result.hangs());
    tree.put("memory_changes", result.memoryChanges());
    tree.put("slowest_ms", result.slowestNanos() / 1e6);
    tree.put("wall_s", result.wallNanos() / 1e9);
    tree.put(
        "findings",
        result.findings().stream()
            .map(
                finding ->
                    Map.of(
                        "input",
                        finding.number(),
                        "kind",
                        finding.kind().text(),
                        "detail",
                        finding.detail()))
            .toList());
    return tree;
  }
}
