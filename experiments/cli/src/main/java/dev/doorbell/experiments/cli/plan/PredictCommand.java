package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.ModelConstant;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.results.print.TableBuilder;
import dev.doorbell.experiments.results.validation.Credit;
import dev.doorbell.experiments.workbench.validation.StoredResults;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedSet;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Prints what the closed forms say about each point, without running any.",
      "",
      "  doorbell predict pull-vs-push",
      "  doorbell predict pull-vs-push -s placement=same-switch -s size=8,4K,1M",
      ""
    })
public final class PredictCommand extends CliCommand {
  @Mixin private PlanOptions planOptions = new PlanOptions();
  @Mixin private UserKernels kernels = new UserKernels();

  @Parameters(paramLabel = "EXPERIMENT", description = "A name, or a file.")
  private String experiment = "";

  @Override
  public ExitCode run(CommandContext around) throws ProblemException {
    CommandContext context = kernels.join(around, experiment);
    ExperimentRuntime runtime = context.runtime().get();
    ExperimentConfig config = kernels.read(context, experiment, planOptions.allOverrides());
    Plan plan = planOptions.plan(config);
    PlanChecks.demand(experiment, plan, runtime);
    if (common().json()) {
      Map<String, Object> report = new LinkedHashMap<>();
      report.put("basis", "modelled");
      plan.points().forEach(point -> report.put(point.id(), runtime.predict(point).terms()));
      Json.print(context, report);
      return ExitCode.OK;
    }
    context.out().print(table(config, plan, runtime));
    context.out().print(credits(plan));
    if (common().verbose()) {
      context.out().print(constants(runtime.constants(plan.points())));
    }
    context.println("MODELLED (closed forms) - nothing was run or measured");
    return ExitCode.OK;
  }

  /** Says of each placement, kernel and path which published rows test it. */
  private static String credits(Plan plan) {
    StringBuilder text = new StringBuilder();
    Credit.of(StoredResults.builtIn(), plan.points())
        .forEach((key, credit) -> text.append("%s: tested by %s%n".formatted(key, credit)));
    return text.toString();
  }

  private static String table(ExperimentConfig config, Plan plan, ExperimentRuntime runtime) {
    record Line(Point point, Prediction.Term term, int form) {}
    List<Line> lines = new ArrayList<>();
    List<String> formulas = new ArrayList<>();
    int silent = 0;
    SequencedSet<String> silentKernels = new LinkedHashSet<>();
    for (Point point : plan.points()) {
      List<Prediction.Term> terms = runtime.predict(point).terms();
      if (terms.isEmpty()) {
        silent++;
        silentKernels.addAll(point.kernels());
      }
      for (Prediction.Term term : terms) {
        if (!formulas.contains(term.formula())) {
          formulas.add(term.formula());
        }
        lines.add(new Line(point, term, formulas.indexOf(term.formula()) + 1));
      }
    }
    StringBuilder text =
        new StringBuilder(
            Screen.axes(new TableBuilder<Line>(), config.axes(), line -> line.point().axes())
                .left("metric", line -> line.term().metric())
                .right("model", line -> bound(line.term()) + Screen.digits(line.term().value()))
                .left("unit", line -> line.term().unit())
                .left("form", line -> "[%d]".formatted(line.form()))
                .table(lines, List.of())
                .text());
    for (int i = 0; i < formulas.size(); i++) {
      text.append("[%d] %s%n".formatted(i + 1, formulas.get(i)));
    }
    if (silent > 0) {
      text.append(
          Typed.in(
                  "no closed form for %d of the points (%s): there are some for put_latency,"
                      + " put_bandwidth, push_ring, all-to-all, collectives and moe."
                      + " What bounds a point of another kernel shows doorbell plot RUN --kind"
                      + " timeline%n")
              .formatted(silent, String.join(", ", silentKernels)));
    }
    return text.toString();
  }

  private static String bound(Prediction.Term term) {
    return term.ceiling() ? "<= " : term.floor() ? ">= " : "";
  }

  private static String constants(List<ModelConstant> constants) {
    return new TableBuilder<ModelConstant>()
        .left("constant", ModelConstant::name)
        .right("value", constant -> Screen.digits(constant.value()))
        .left("unit", ModelConstant::unit)
        .left(
            "origin",
            constant -> constant.origin().name().toLowerCase(Locale.ROOT).replace('_', ' '))
        .left("source", ModelConstant::source)
        .table(constants, List.of())
        .text();
  }
}
