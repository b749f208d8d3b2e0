package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.fabric.explore.litmus.LitmusException;
import dev.doorbell.core.fabric.explore.litmus.LitmusResult;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.Bounds;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.Quantifier;
import dev.doorbell.core.fabric.explore.litmus.axiom.AxiomaticModel;
import dev.doorbell.core.fabric.explore.litmus.parser.LitmusParser;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand.CommonOptions;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@code doorbell explore --litmus FILE|FOLDER}. */
final class LitmusRunner {
  private static final String EXTENSION = ".litmus";

  private static final List<ExitCode> WORST_FIRST =
      List.of(ExitCode.COUNTER_EXAMPLE, ExitCode.FAILED, ExitCode.PARTIAL, ExitCode.VACUOUS);

  private final CommandContext context;
  private final CommonOptions common;
  private final Bounds bounds;
  private final long nanos;

  /**
   * Creates a runner.
   *
   * @param nanos of wall time at most, for each test
   */
  LitmusRunner(
      CommandContext context, CommonOptions common, int rounds, long executions, long nanos) {
    this.context = context;
    this.common = common;
    this.bounds = new Bounds(rounds, executions);
    this.nanos = nanos;
  }

  /**
   * Checks a file or all files of a folder. A file that cannot be read is reported, and the others
   * are checked.
   *
   * @return what the worst of them deserves
   */
  ExitCode run(String place) throws ProblemException {
    List<Path> files = files(Path.of(place));
    List<Problem> problems = new ArrayList<>();
    Map<Path, LitmusTest> tests = new LinkedHashMap<>();
    for (Path file : files) {
      try {
        tests.put(file, LitmusParser.parse(Files.readString(file)));
      } catch (LitmusException e) {
        problems.add(
            Problem.of("DB-L001", "%s:%d".formatted(file, e.line()), e.what()).fix(e.fix()));
      } catch (IOException e) {
        problems.add(
            Problem.of("DB-L002", file.toString(), "cannot be read")
                .fix("litmus files are UTF-8 text"));
      }
    }
    if (tests.isEmpty()) {
      throw new ConfigException(problems);
    }
    problems.forEach(problem -> context.err().println(problem.text()));
    Map<Path, LitmusResult> all = new LinkedHashMap<>();
    tests.forEach(
        (file, test) -> {
          Bounds judged =
              new Bounds(bounds.rounds(), bounds.candidates(), System.nanoTime() + nanos);
          LitmusResult result = AxiomaticModel.check(test, judged);
          all.put(file, result);
          if (!common.json()) {
            context.out().print(tests.size() == 1 ? report(result) : line(result));
          }
        });
    if (common.json()) {
      Json.print(
          context,
          all.entrySet().stream().map(each -> json(each.getKey(), each.getValue())).toList());
    } else if (all.size() > 1) {
      long hold = all.values().stream().filter(result -> word(result).equals("holds")).count();
      context.printf("%d of %d tests hold%n", hold, all.size());
    }
    List<ExitCode> own = all.values().stream().map(LitmusRunner::verdict).toList();
    ExitCode verdict = WORST_FIRST.stream().filter(own::contains).findFirst().orElse(ExitCode.OK);
    return problems.isEmpty() || verdict != ExitCode.OK ? verdict : ExitCode.CONFIG;
  }

  private static List<Path> files(Path place) throws UsageException {
    if (Files.isRegularFile(place)) {
      return List.of(place);
    }
    try (Stream<Path> inside = Files.list(place)) {
      List<Path> files =
          inside.filter(file -> file.toString().endsWith(EXTENSION)).sorted().toList();
      if (files.isEmpty()) {
        throw UsageException.of(
            "DB-U030",
            place.toString(),
            "there is no %s file in it".formatted(EXTENSION),
            "experiments/litmus has the tests that come with Doorbell");
      }
      return files;
    } catch (IOException e) {
      throw UsageException.of(
          "DB-U030",
          place.toString(),
          "there is no such file or folder",
          "experiments/litmus has the tests that come with Doorbell");
    }
  }

  private static ExitCode verdict(LitmusResult axioms) {
    boolean exists = axioms.test().quantifier() == Quantifier.EXISTS;
    if (!axioms.holds() && (!exists || axioms.conclusive())) {
      return exists ? ExitCode.FAILED : ExitCode.COUNTER_EXAMPLE;
    }
    return !axioms.conclusive()
        ? ExitCode.PARTIAL
        : isVacuous(axioms) ? ExitCode.VACUOUS : ExitCode.OK;
  }

  /**
   * Returns true if it is claimed of every execution, and there is none, or no candidate at all.
   */
  private static boolean isVacuous(LitmusResult axioms) {
    boolean none =
        axioms.test().quantifier() == Quantifier.FORALL
            ? axioms.executions() == 0
            : axioms.candidates() == 0;
    return none && axioms.complete() && axioms.conclusive();
  }

  /** One line for a test among many. */
  private static String line(LitmusResult axioms) {
    return "%-9s %-34s %3d allowed %3d forbidden  %s%n"
        .formatted(
            word(axioms),
            axioms.test().name(),
            axioms.allowed().size(),
            axioms.forbidden().size(),
            mayNotEnd(axioms) ? "may not end" : "");
  }

  private static boolean mayNotEnd(LitmusResult axioms) {
    return !axioms.deadlocks().isEmpty() || !axioms.spinning().isEmpty();
  }

  private static String word(LitmusResult axioms) {
    if (isVacuous(axioms)) {
      return "of none";
    }
    return !axioms.conclusive() ? "open" : axioms.holds() ? "holds" : "FAILS";
  }

  /** All about one test. */
  private String report(LitmusResult axioms) {
    LitmusTest test = axioms.test();
    StringBuilder text = new StringBuilder();
    text.append("%s   %s%n%n".formatted(test.name(), test.description()));
    text.append(
        "allowed    %d outcomes in %,d executions, of %,d candidates%n"
            .formatted(axioms.allowed().size(), axioms.executions(), axioms.candidates()));
    axioms
        .allowed()
        .forEach(
            (outcome, count) ->
                text.append(
                    "  %c %-40s %,8d%n"
                        .formatted(
                            test.condition().holds(outcome::value) ? '*' : ' ', outcome, count)));
    text.append("forbidden  %d outcomes%n".formatted(axioms.forbidden().size()));
    axioms
        .forbidden()
        .forEach(
            (outcome, why) ->
                text.append(
                    "  %c %-40s by %s%n"
                        .formatted(
                            test.condition().holds(outcome::value) ? '*' : ' ',
                            outcome,
                            String.join(", ", why.stream().map(axiom -> axiom.text()).toList()))));
    axioms
        .deadlocks()
        .forEach((who, count) -> text.append("deadlock   %s wait for ever%n".formatted(who)));
    axioms
        .spinning()
        .forEach((who, count) -> text.append("no end     %s for ever%n".formatted(who)));
    axioms.races().forEach(race -> text.append("data race  %s%n".formatted(race)));
    text.append(notes(axioms));
    text.append("%nverdict    %s: %s%n".formatted(test.claim(), word(axioms)));
    if (axioms.executions() == 0 && axioms.complete()) {
      text.append("           no execution comes to its end\n");
    }
    return text.toString();
  }

  private String notes(LitmusResult axioms) {
    StringBuilder text = new StringBuilder();
    if (axioms.cut()) {
      text.append(
          "bound      loops were followed %d times round; --rounds N follows them further%n"
              .formatted(bounds.rounds()));
    }
    if (!axioms.complete()) {
      text.append(
          "bound      stopped at %,d candidate executions (or 64 events); --executions N allows more, as does a longer --budget%n"
              .formatted(axioms.candidates()));
    }
    return text.toString();
  }

  private static Map<String, @Nullable Object> json(Path file, LitmusResult axioms) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("file", file.toString());
    json.put("name", axioms.test().name());
    json.put("claim", axioms.test().claim());
    json.put("verdict", word(axioms));
    json.put("holds", isVacuous(axioms) ? null : axioms.holds());
    json.put("conclusive", axioms.conclusive());
    json.put("loops_cut", axioms.cut());
    json.put("candidates", axioms.candidates());
    Map<String, Object> allowed = new LinkedHashMap<>();
    axioms.allowed().forEach((outcome, count) -> allowed.put(outcome.toString(), count));
    json.put("allowed", allowed);
    Map<String, Object> forbidden = new LinkedHashMap<>();
    axioms
        .forbidden()
        .forEach(
            (outcome, why) ->
                forbidden.put(outcome.toString(), why.stream().map(a -> a.text()).toList()));
    json.put("forbidden", forbidden);
    json.put("deadlocks", List.copyOf(axioms.deadlocks().keySet()));
    json.put("spinning", List.copyOf(axioms.spinning().keySet()));
    json.put("races", List.copyOf(axioms.races()));
    return json;
  }
}
