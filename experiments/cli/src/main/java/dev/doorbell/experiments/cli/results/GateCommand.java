package dev.doorbell.experiments.cli.results;

import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.JUnitOption;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.Percent;
import dev.doorbell.experiments.results.compare.ChangeVerdict;
import dev.doorbell.experiments.results.compare.ComparisonReport;
import dev.doorbell.experiments.results.compare.RunComparison;
import dev.doorbell.experiments.results.print.Units;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Passes a run that is no worse than a baseline.",
      "",
      "  doorbell gate nightly --baseline main",
      "  doorbell gate nightly --baseline main --max-regress 2%% --metric latency",
      "  doorbell gate nightly --baseline main --junit gate.xml",
      "",
      "Exits with 0; 5 on a regression; 1 where points are missing; 9 where too few",
      "samples leave a point undecided.",
      ""
    })
public final class GateCommand extends CliCommand {
  @Mixin private RunPlace place = new RunPlace();
  @Mixin private ComparisonOptions options = new ComparisonOptions();
  @Mixin private JUnitOption junit = new JUnitOption();

  @Parameters(paramLabel = "RUN", description = "The run: directory, name or tag.")
  private String run = "";

  @Option(
      names = "--baseline",
      required = true,
      paramLabel = "RUN",
      description = "What it is held against: directory, name or tag.")
  private String baseline = "";

  @Option(
      names = "--alpha",
      description = "Chance of a false alarm among all tests (default: ${DEFAULT-VALUE}).")
  private double alpha = 0.01;

  @Option(
      names = "--max-regress",
      paramLabel = "SHARE",
      converter = Percent.class,
      description = "A median may be this much worse (default: 5%%).")
  private double most = 0.05;

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    RunComparison comparison = options.compare(place, baseline, run, alpha, most);
    ExitCode code =
        RunPlace.afterDamage(context, CompareCommand.damage(comparison), verdict(comparison));
    ComparisonReport report = new ComparisonReport(comparison);
    junit.write("doorbell gate " + comparison.after().plan().config().name(), report.cases());
    if (common().json()) {
      SequencedMap<String, Object> json = new LinkedHashMap<>(report.json());
      json.put("passed", code == ExitCode.OK);
      json.put("exit", code.status());
      Json.print(context, json);
      return code;
    }
    if (!common().quiet()) {
      context
          .out()
          .print(
              report.text(
                  point ->
                      common().verbose() || point.verdict().compareTo(ChangeVerdict.IMPROVED) >= 0,
                  context.width()));
    }
    context.println(text(code, comparison));
    return code;
  }

  private static ExitCode verdict(RunComparison comparison) {
    ExitCode code = ComparisonOptions.code(comparison);
    return code == ExitCode.REGRESSION || comparison.onlyBefore().isEmpty()
        ? code
        : ExitCode.FAILED;
  }

  private static String text(ExitCode code, RunComparison comparison) {
    return switch (code) {
      case OK -> "gate passed";
      case FAILED ->
          comparison.onlyBefore().isEmpty()
              ? "gate failed: a run is damaged"
              : "gate failed: no result for %s of the baseline"
                  .formatted(Units.count(comparison.onlyBefore().size(), "point"));
      case UNDECIDED -> "gate undecided: too few samples for a verdict";
      default -> "gate failed: regression";
    };
  }
}
