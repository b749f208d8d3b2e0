package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.config.ConfigException;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.plan.Plan;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code doorbell validate FILE...}. */
@CommandLine.Command(
    header = {
      "Checks experiment files and says everything that is wrong with them at once.",
      "",
      "  doorbell validate my.yaml other.yaml",
      ""
    })
final class ValidateCommand implements Command {
  @Mixin private CommonOptions common = new CommonOptions();

  @Parameters(paramLabel = "FILE", arity = "1..*", description = "Experiment files, or names.")
  private List<String> files = new ArrayList<>();

  @Override
  public ExitCode run(Context context) throws UsageException {
    ConfigReader reader = ExperimentFiles.reader(context);
    Map<String, Object> report = new LinkedHashMap<>();
    int errors = 0;
    for (String file : files) {
      List<Problem> problems = new ArrayList<>();
      int points = 0;
      try {
        ExperimentFiles.Source source = ExperimentFiles.find(file);
        ExperimentConfig config = reader.read(source.name(), source.text(), List.of());
        Plan plan = Plan.of(config);
        points = plan.points().size();
        problems.addAll(PlanChecks.problems(source.name(), plan, context.runtime().get()));
      } catch (ConfigException e) {
        problems.addAll(e.problems());
      }
      errors += problems.size();
      if (common.json) {
        report.put(file, problems);
      } else {
        problems.forEach(problem -> context.terminal().out().println(problem.text()));
        if (problems.isEmpty() && !common.quiet) {
          context.terminal().out().printf("%s  ok, %d points%n", file, points);
        }
      }
    }
    if (common.json) {
      Json.print(context, report);
    } else if (errors > 0) {
      context.terminal().out().printf("%d %s%n", errors, errors == 1 ? "error" : "errors");
    }
    return errors == 0 ? ExitCode.OK : ExitCode.CONFIG;
  }

  @Override
  public boolean verbose() {
    return common.verbose;
  }
}
