package dev.doorbell.experiments.cli.explore;

import dev.doorbell.experiments.cli.command.CliCommand.CommonOptions;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.explore.WorldOptions.World;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.workbench.explore.Failure;
import dev.doorbell.experiments.workbench.explore.Laboratory;
import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Prover;
import dev.doorbell.experiments.workbench.explore.Prover.Proof;
import dev.doorbell.experiments.workbench.explore.Race;
import dev.doorbell.experiments.workbench.explore.Scenario;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** {@code doorbell explore KERNEL --prove}. */
final class ProofRunner {
  private static final double SECOND = 1e9;

  private final CommandContext context;
  private final CommonOptions common;
  private final Laboratory laboratory;

  ProofRunner(CommandContext context, CommonOptions common, Laboratory laboratory) {
    this.context = context;
    this.common = common;
    this.laboratory = laboratory;
  }

  ExitCode run(List<World> worlds, long nanos) throws ScenarioException {
    long end = System.nanoTime() + nanos;
    List<Map<String, Object>> json = new ArrayList<>();
    ExitCode worst = ExitCode.OK;
    int left = worlds.size();
    for (World world : worlds) {
      long share = Math.max(1, (end - System.nanoTime()) / left--);
      Proof proof = new Prover(laboratory, world.scenario()).prove(share);
      ExitCode own = verdict(proof);
      worst = worst == ExitCode.COUNTER_EXAMPLE || own == ExitCode.OK ? worst : own;
      if (common.json()) {
        json.add(json(world.scenario(), proof));
      } else {
        context.out().print(ExploreReport.head(world.scenario()) + text(world.scenario(), proof));
      }
    }
    if (common.json()) {
      Json.print(context, json);
    }
    return worst;
  }

  private static ExitCode verdict(Proof proof) {
    return proof.violation().isPresent()
        ? ExitCode.COUNTER_EXAMPLE
        : proof.complete() ? ExitCode.OK : ExitCode.PARTIAL;
  }

  private static String bounds(Scenario scenario) {
    return "%d ranks, %s each, %s of a thread"
        .formatted(
            scenario.program().shape().ranks(),
            Units.count(scenario.load().posters(), "thread"),
            Units.count(scenario.load().iterations(), "message"));
  }

  private static String text(Scenario scenario, Proof proof) {
    String runs =
        "%,d %s, %,d runs cut as equal to another, in %.1f s"
            .formatted(
                proof.executions(),
                proof.executions() == 1 ? "execution" : "executions",
                proof.cut(),
                proof.nanos() / SECOND);
    if (proof.violation().isEmpty()) {
      return "\n"
          + (proof.complete()
              ? "PROVED   no execution within %s violates an order, hangs or fails%n"
                  .formatted(bounds(scenario))
              : "UNDECIDED   no violation so far within %s, and not all was searched; a longer --budget or smaller bounds%n"
                  .formatted(bounds(scenario)))
          + runs
          + "\n";
    }
    Outcome outcome = proof.violation().get();
    StringBuilder text = new StringBuilder();
    for (Race race : outcome.races()) {
      text.append("\nCOUNTER-EXAMPLE  %s%n".formatted(race.kind().what()));
      ExploreReport.race(text, race);
    }
    Failure failure = outcome.failure();
    if (failure != null) {
      text.append("\n%s  %s%n".formatted(failure.kind().verdict(), failure.text()));
    }
    List<String> steps = outcome.lastTurns();
    text.append(
        "%ntrace of %d steps%s%n"
            .formatted(
                steps.size(),
                !proof.minimal()
                    ? ""
                    : proof.complete()
                        ? ", the shortest of all executions"
                        : ", none of which can be left out; not all executions were searched"));
    for (int i = 0; i < steps.size(); i++) {
      text.append("%8d  %s%n".formatted(i + 1, steps.get(i)));
    }
    return text.append('\n').append(runs).append('\n').toString();
  }

  private static Map<String, Object> json(Scenario scenario, Proof proof) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("kernel", scenario.program().entry());
    json.put("within", bounds(scenario));
    json.put("complete", proof.complete());
    json.put("executions", proof.executions());
    json.put("cut", proof.cut());
    json.put(
        "races",
        proof.violation().map(Outcome::races).orElse(List.of()).stream()
            .map(ExploreReport::json)
            .toList());
    Failure failure = proof.violation().map(Outcome::failure).orElse(null);
    json.put("failure", failure == null ? null : failure.text());
    json.put("trace", proof.violation().map(Outcome::lastTurns).orElse(List.of()));
    json.put("seconds", proof.nanos() / SECOND);
    return json;
  }
}
