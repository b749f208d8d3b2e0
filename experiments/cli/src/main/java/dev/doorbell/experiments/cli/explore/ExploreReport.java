package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.explore.Coverage;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.explore.WorldOptions.World;
import dev.doorbell.experiments.results.print.JUnitXml;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.workbench.explore.Explorer;
import dev.doorbell.experiments.workbench.explore.Explorer.Reliance;
import dev.doorbell.experiments.workbench.explore.Failure;
import dev.doorbell.experiments.workbench.explore.Nic;
import dev.doorbell.experiments.workbench.explore.Race;
import dev.doorbell.experiments.workbench.explore.Scenario;
import dev.doorbell.experiments.workbench.explore.Schedule;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The report of an exploration, as text and as JSON. */
public final class ExploreReport {
  private static final int SOURCE_FRAMES = 3;

  private ExploreReport() {}

  /**
   * A world that was explored.
   *
   * @param relies the progress that a kernel without findings relies on
   */
  record Explored(World world, Explorer.Report report, List<Reliance> relies) {}

  /** The report of all worlds, and what was covered in all of them together. */
  static final class Summary {
    private final List<Explored> worlds;
    private final CoverageReport coverage;
    private final Bounds bounds;
    private final int runs;

    Summary(List<Explored> worlds) {
      this.worlds = List.copyOf(worlds);
      Coverage all = new Coverage();
      worlds.forEach(world -> all.add(world.report.coverage()));
      coverage = new CoverageReport(all);
      bounds =
          new Bounds(
              worlds.stream().filter(w -> !w.report.isRefused()).map(Explored::world).toList());
      runs = worlds.stream().mapToInt(world -> world.report.runs()).sum();
    }

    private boolean isFound() {
      return worlds.stream().anyMatch(w -> !w.report.isClean() && !w.report.isRefused());
    }

    private boolean isFinished() {
      return worlds.stream()
          .allMatch(world -> world.report.finished() > 0 || world.report.isRefused());
    }

    private boolean isRefused() {
      return worlds.stream().allMatch(world -> world.report.isRefused());
    }

    ExitCode verdict() {
      if (isFound()) {
        return ExitCode.COUNTER_EXAMPLE;
      }
      if (!isFinished()) {
        return ExitCode.PARTIAL;
      }
      return isWhole() && !isRefused() ? ExitCode.OK : ExitCode.NOT_COVERED;
    }

    private boolean isWhole() {
      return coverage.isWhole() && bounds.isWhole();
    }

    private String covered() {
      Set<String> counters = bounds.neverWrapped().keySet();
      return counters.isEmpty()
          ? coverage.words()
          : coverage.words() + "; never wrapped: " + String.join(", ", counters);
    }

    private String words() {
      String schedules = Units.count(runs, "schedule");
      if (isRefused()) {
        return "nothing was explored: the kernel refuses each of these worlds";
      }
      return CoverageReport.verdict(isWhole(), schedules, covered());
    }

    String text() {
      StringBuilder text = new StringBuilder();
      for (Explored each : worlds) {
        text.append(text.isEmpty() ? "" : "\n").append(head(each.world.scenario()));
        String options = each.world.choice().options();
        if (worlds.size() > 1 && !options.isEmpty()) {
          text.append("world    %s%n".formatted(options));
        }
        if (each.report.isRefused()) {
          text.append("REFUSED  %s%n".formatted(each.world.refusal(each.report)));
        } else {
          text.append(ExploreReport.text(each.report)).append(notes(each.relies));
        }
      }
      text.append(coverage.text()).append(bounds.text());
      if (!isFound() && isFinished()) {
        text.append(words()).append('\n');
      }
      return text.toString();
    }

    List<JUnitXml.Case> cases() {
      List<JUnitXml.Case> cases = new ArrayList<>();
      for (Explored each : worlds) {
        Explorer.Report report = each.report;
        String options = each.world.choice().options();
        boolean refused = report.isRefused();
        String message =
            refused
                ? each.world.refusal(each.report)
                : Stream.concat(
                        report.races().stream().map(race -> race.what().kind().what()),
                        report.failures().stream().map(failed -> failed.what().text()))
                    .findFirst()
                    .orElse("no run came to its end");
        cases.add(
            new JUnitXml.Case(
                "world",
                options.isEmpty() ? each.world.scenario().program().entry() : options,
                refused
                    ? JUnitXml.Outcome.SKIPPED
                    : !report.isClean()
                        ? JUnitXml.Outcome.FAILED
                        : report.finished() > 0
                            ? JUnitXml.Outcome.PASSED
                            : JUnitXml.Outcome.UNDECIDED,
                message));
      }
      cases.add(
          new JUnitXml.Case(
              "coverage",
              "covered",
              isWhole() ? JUnitXml.Outcome.PASSED : JUnitXml.Outcome.UNDECIDED,
              covered()));
      return cases;
    }

    /** Returns the JSON: the world's own fields where there is one, else a list of worlds. */
    Map<String, Object> json() {
      List<Map<String, Object>> all = new ArrayList<>();
      for (Explored each : worlds) {
        Map<String, Object> json = ExploreReport.json(each.world.scenario(), each.report);
        json.put("relies_on", ExploreReport.relies(each.relies));
        if (worlds.size() > 1) {
          json.put("world", each.world.choice().options());
          json.put("refused", each.report.isRefused() ? each.world.refusal(each.report) : null);
        }
        all.add(json);
      }
      Map<String, Object> json = new LinkedHashMap<>();
      if (all.size() == 1) {
        json.putAll(all.getFirst());
      } else {
        json.put("worlds", all);
      }
      json.put("coverage", coverage.json());
      json.put("never_wrapped", bounds.neverWrapped());
      json.put(
          "verdict",
          isFound()
              ? "found"
              : !isFinished() ? "unfinished" : verdict() == ExitCode.OK ? "clean" : "not_covered");
      return json;
    }
  }

  static String head(Scenario scenario) {
    Scenario.Load load = scenario.load();
    Scenario.Posting posting = scenario.posting();
    return "kernel %s (%s)   %d x %s, %s, %d B, path %s\n"
            .formatted(
                scenario.program().entry(),
                scenario.program().file(),
                load.blocks(),
                Units.count(load.threads(), "thread"),
                Units.count(load.iterations(), "iteration"),
                load.bytes(),
                load.path())
        + "%s of %s in %s memory, rung by the %s%s%s%s%s   policy %s%s%s\n"
            .formatted(
                scenario.program().shape().among()
                    ? "%d ranks, each with a queue pair to each other one"
                        .formatted(scenario.program().shape().ranks())
                    : Units.count(load.queuePairs(), "queue pair"),
                Units.count(load.ring(), "block"),
                posting.queues(),
                posting.ringer(),
                posting.blueFlame() ? ", BlueFlame" : "",
                posting.recordLast() ? ", record last" : "",
                (posting.exclusive() ? ", exclusive" : "")
                    + (posting.collapsed() ? ", collapsed CQ" : ""),
                scenario.rules().relaxed() ? ", relaxed ordering" : "",
                word(scenario),
                posting.blueFlame() && scenario.rules().tears() ? ", BlueFlame tears" : "",
                scenario.nic().equals(Nic.DEFAULT) ? "" : "   nic " + scenario.nic().name());
  }

  private static String word(Scenario scenario) {
    return scenario.rules().policy().name().toLowerCase(Locale.ROOT);
  }

  /**
   * Adds the findings.
   *
   * @param again how each is seen again
   */
  static void findings(
      StringBuilder text, Explorer.Report report, Function<Schedule, String> again) {
    String runs = Units.count(report.runs(), "run");
    for (Explorer.Found<Race> found : report.races()) {
      text.append(
          "\nCOUNTER-EXAMPLE  %s   in %d of %s%n"
              .formatted(found.what().kind().what(), found.seeds(), runs));
      race(text, found.what());
      text.append(again.apply(found.schedule()));
    }
    for (Explorer.Found<Failure> failed : report.failures()) {
      String[] lines = failed.what().text().strip().split("\n", 2);
      text.append(
          "\n%s  %s   in %d of %s%n"
              .formatted(failed.what().kind().verdict(), lines[0], failed.seeds(), runs));
      text.append(lines.length > 1 ? lines[1] + "\n" : "");
      text.append(again.apply(failed.schedule()));
    }
  }

  static String count(Explorer.Report report) {
    return "%s, findings in %d of %s%n"
        .formatted(
            Units.count(report.races().size(), "race"),
            report.found(),
            Units.count(report.runs(), "run"));
  }

  static String text(Explorer.Report report) {
    StringBuilder text = new StringBuilder();
    findings(text, report, "  replay   --schedule %s%n"::formatted);
    text.append(
        "\n%s, %d to the end; %.3g M instructions in %.1f s%n"
            .formatted(
                Units.count(report.runs(), "run"),
                report.finished(),
                report.instructions() / 1e6,
                report.nanos() / 1e9));
    if (!report.isClean()) {
      text.append(count(report));
    } else if (report.finished() == 0) {
      text.append("no run came to its end: a longer --budget or a smaller launch is needed\n");
      text.append("not judged: loops that store or read a clock, or end after some rounds\n");
    }
    return text.toString();
  }

  static String notes(List<Reliance> relies) {
    StringBuilder text = new StringBuilder();
    for (Reliance reliance : relies) {
      text.append(
          "note: it does not end %s: %s%n  %s%n"
              .formatted(
                  reliance.kind().when(),
                  reliance.kind().promise(),
                  reliance.failure().text().replace("\n", "\n  ")));
    }
    return text.toString();
  }

  static List<Object> relies(List<Reliance> relies) {
    List<Object> all = new ArrayList<>();
    for (Reliance reliance : relies) {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("kind", reliance.kind().name().toLowerCase(Locale.ROOT));
      json.put("what", reliance.failure().text());
      all.add(json);
    }
    return all;
  }

  /** Both sides of a race. */
  public static void race(StringBuilder text, Race race) {
    side(text, race.earlier());
    side(text, race.later());
    if (race.saw() != null) {
      text.append("  saw      %s%n".formatted(race.saw()));
    }
    text.append("  where    %s%n".formatted(race.memory()));
    text.append("  scope    both are within scope %s%n".formatted(race.scope()));
    text.append("  fix      %s%n".formatted(race.kind().fix()));
  }

  private static void side(StringBuilder text, Race.Side side) {
    text.append("  %-18s %s%n".formatted(side.access(), side.who()));
    place(text, "", side.place());
    place(text, "for the WQE of ", side.post());
  }

  private static void place(StringBuilder text, String what, @Nullable SourcePlace place) {
    if (place == null) {
      return;
    }
    text.append(
        "%21s%s%s:%d  %s%n"
            .formatted("", what, place.file(), place.line(), collapsed(place.text())));
    if (!place.source().isEmpty()) {
      text.append("%21s%s%n".formatted("", shortened(place.source())));
    }
  }

  private static String collapsed(String text) {
    return text.replaceAll("\\s+", " ");
  }

  /** The innermost places and the outermost one: a device library inlines deeply. */
  private static String shortened(String source) {
    String[] frames = source.split(", inlined at ");
    if (frames.length <= SOURCE_FRAMES) {
      return String.join(", inlined at ", frames);
    }
    return "%s, inlined at %s, ... %s".formatted(frames[0], frames[1], frames[frames.length - 1]);
  }

  static Map<String, Object> json(Scenario scenario, Explorer.Report report) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("kernel", scenario.program().entry());
    json.put("file", scenario.program().file());
    json.put("policy", word(scenario));
    json.put("runs", report.runs());
    json.put("finished", report.finished());
    json.put("runs_with_findings", report.found());
    json.put("instructions", report.instructions());
    json.put("seconds", report.nanos() / 1e9);
    List<Object> races = new ArrayList<>();
    for (Explorer.Found<Race> found : report.races()) {
      Map<String, Object> race = json(found.what());
      race.put("runs", found.seeds());
      race.put("schedule", found.schedule().toString());
      races.add(race);
    }
    json.put("races", races);
    List<Object> failures = new ArrayList<>();
    for (Explorer.Found<Failure> failed : report.failures()) {
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("kind", failed.what().kind().name().toLowerCase(Locale.ROOT));
      entry.put("what", failed.what().text());
      entry.put("runs", failed.seeds());
      entry.put("schedule", failed.schedule().toString());
      failures.add(entry);
    }
    json.put("failures", failures);
    return json;
  }

  static Map<String, Object> json(Race race) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("kind", race.kind().name().toLowerCase(Locale.ROOT));
    json.put("what", race.kind().what());
    json.put("earlier", json(race.earlier()));
    json.put("later", json(race.later()));
    json.put("scope", race.scope());
    json.put("saw", race.saw());
    json.put("memory", race.memory());
    json.put("turns", race.turns());
    return json;
  }

  private static Map<String, Object> json(Race.Side side) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("who", side.who());
    json.put("access", side.access());
    json.putAll(json(side.place()));
    @Nullable SourcePlace post = side.post();
    if (post != null) {
      json.put("post_file", post.file());
      json.put("post_line", post.line());
      json.put("post_text", post.text());
    }
    return json;
  }

  /** Returns a place as JSON; nothing but nulls where there is none. */
  static Map<String, Object> json(@Nullable SourcePlace place) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("file", place == null ? null : place.file());
    json.put("line", place == null ? null : place.line());
    json.put("text", place == null ? null : place.text());
    json.put("source", place == null || place.source().isEmpty() ? null : place.source());
    return json;
  }
}
