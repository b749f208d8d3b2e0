package dev.doorbell.experiments.cli.explore;

import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.explore.Coverage;
import dev.doorbell.experiments.results.print.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

record CoverageReport(Coverage coverage) {
  private static final int FEW = 3;
  private static final int MANY = 12;
  private static final String INLINED = ", inlined at ";

  boolean isWhole() {
    return coverage.isWhole();
  }

  /** Returns the verdict where nothing was found. */
  static String verdict(boolean whole, String tried, String covered) {
    return whole
        ? "CLEAN: nothing found in %s, with %s. That is evidence, not a proof."
            .formatted(tried, covered)
        : "no finding in %s; %s".formatted(tried, covered);
  }

  /** Returns one sentence without a verb: what is not covered, or how much is. */
  String words() {
    List<String> parts = new ArrayList<>();
    List<Coverage.Way> untaken = untaken();
    if (!untaken.isEmpty()) {
      List<String> lines = byLine(untaken);
      parts.add(
          "%s never taken, at %s: %s%s"
              .formatted(
                  untaken.size() == 1 ? "1 branch" : untaken.size() + " branches",
                  Units.count(lines.size(), "line"),
                  String.join(", ", lines.subList(0, Math.min(FEW, lines.size()))),
                  lines.size() > FEW ? ", ..." : ""));
    }
    int pairs = coverage.oneOrder().size();
    if (pairs > 0) {
      parts.add("%s of accesses seen in one order only".formatted(Units.count(pairs, "pair")));
    }
    return parts.isEmpty()
        ? "each of %s taken, each of %s of accesses in both orders"
            .formatted(
                coverage.ways() + " ways out of branches", Units.count(coverage.pairs(), "pair"))
        : String.join("; ", parts);
  }

  /** Returns the lines of source that branches are at, wherever these were inlined. */
  private static List<String> byLine(List<Coverage.Way> ways) {
    return ways.stream().map(way -> innermost(way.branch())).distinct().toList();
  }

  private static String innermost(SourcePlace place) {
    return name(place).split(" ", 2)[0];
  }

  /** Returns the ways that were not taken, those of the kernel's own source first. */
  private List<Coverage.Way> untaken() {
    List<Coverage.Way> untaken = new ArrayList<>(coverage.untaken());
    untaken.sort((a, b) -> Integer.compare(depth(a.branch()), depth(b.branch())));
    return untaken;
  }

  /** 0 for a line of the kernel's own file, 1 for one of a library. */
  private static int depth(SourcePlace place) {
    String file = place.file().replaceFirst("[.]ptx$", ".cu");
    return place.source().isEmpty() || place.source().startsWith(file) ? 0 : 1;
  }

  /** Names a place by its source, and by the line of the kernel that it was inlined into. */
  private static String name(SourcePlace place) {
    String[] frames = place.source().split(INLINED, -1);
    if (place.source().isEmpty()) {
      return place.file() + ":" + place.line();
    }
    return frames.length == 1 ? frames[0] : frames[0] + " in " + frames[frames.length - 1];
  }

  private static String exact(SourcePlace place) {
    String line = place.file() + ":" + place.line();
    return place.source().isEmpty() ? line : "%-40s %s".formatted(name(place), line);
  }

  private static String side(Coverage.Side side) {
    SourcePlace place = side.place();
    return place == null ? side.who() : "%s (%d)".formatted(name(place), place.line());
  }

  String text() {
    if (coverage.instructions() == 0) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    text.append(
        "executed %d of %d instructions, %d of %d ways out of branches%n"
            .formatted(
                coverage.executed(),
                coverage.instructions(),
                coverage.ways() - coverage.untaken().size(),
                coverage.ways()));
    text.append(
        "seen     %d of %s in both orders, %d of %s waiting, %d of %s with an old value%n"
            .formatted(
                coverage.pairs() - coverage.oneOrder().size(),
                Units.count(coverage.pairs(), "pair"),
                coverage.waits() - coverage.neverWaited().size(),
                Units.count(coverage.waits(), "wait"),
                coverage.reads() - coverage.neverOld().size(),
                Units.count(coverage.reads(), "load")));
    Map<String, List<Coverage.Way>> lines = new LinkedHashMap<>();
    for (Coverage.Way way : untaken()) {
      lines.computeIfAbsent(innermost(way.branch()), line -> new ArrayList<>()).add(way);
    }
    list(text, "never taken", List.copyOf(lines.values()), CoverageReport::together);
    list(
        text,
        "one order",
        coverage.oneOrder(),
        order -> "%s before %s".formatted(side(order.first()), side(order.second())));
    list(text, "never waited", coverage.neverWaited(), wait -> exact(wait.place()));
    list(text, "never old", coverage.neverOld(), read -> exact(read.place()));
    return text.toString();
  }

  /** Returns a line for the ways that were not taken from branches of one line of source. */
  private static String together(List<Coverage.Way> ways) {
    Coverage.Way first = ways.getFirst();
    String more = ways.size() == 1 ? "" : ", and %d more of this line".formatted(ways.size() - 1);
    return exact(first.branch()) + towards(first) + more;
  }

  private static String towards(Coverage.Way way) {
    SourcePlace target = way.target();
    return target == null ? "" : " to %d".formatted(target.line());
  }

  private static <T> void list(
      StringBuilder text, String what, List<T> all, Function<T, String> line) {
    all.stream()
        .limit(MANY)
        .forEach(one -> text.append("  %-13s %s%n".formatted(what, line.apply(one))));
    if (all.size() > MANY) {
      text.append("  %-13s and %d more; --json lists all%n".formatted(what, all.size() - MANY));
    }
  }

  /** Returns where threads went last: the branch of the highest line that one has taken. */
  String lastWay() {
    return coverage.lastTaken().map(way -> ", behind " + exact(way.branch()).strip()).orElse("");
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("whole", isWhole());
    json.put("instructions", coverage.instructions());
    json.put("instructions_executed", coverage.executed());
    json.put("ways", coverage.ways());
    json.put("pairs", coverage.pairs());
    json.put("waits", coverage.waits());
    json.put("loads", coverage.reads());
    json.put("never_taken", untaken().stream().map(CoverageReport::json).toList());
    json.put(
        "one_order",
        coverage.oneOrder().stream()
            .map(order -> List.of(json(order.first()), json(order.second())))
            .toList());
    json.put(
        "never_waited",
        coverage.neverWaited().stream().map(wait -> ExploreReport.json(wait.place())).toList());
    json.put(
        "never_old",
        coverage.neverOld().stream().map(read -> ExploreReport.json(read.place())).toList());
    return json;
  }

  private static Map<String, Object> json(Coverage.Way way) {
    Map<String, Object> json = ExploreReport.json(way.branch());
    SourcePlace target = way.target();
    json.put("to_line", target == null ? null : target.line());
    return json;
  }

  private static Map<String, Object> json(Coverage.Side side) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("who", side.who());
    json.putAll(ExploreReport.json(side.place()));
    return json;
  }
}
