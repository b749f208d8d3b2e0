package dev.doorbell.experiments.cli.explore;

import dev.doorbell.experiments.cli.explore.WorldOptions.World;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelSetting;
import dev.doorbell.experiments.workbench.explore.Scenario;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The bounds of the worlds of an exploration: the counters that no world was long enough to wrap,
 * and the values that settings of the kernel had.
 */
record Bounds(List<World> worlds) {
  private static final Pattern SOURCE =
      Pattern.compile("\\s*\\.file\\s+(\\d+)\\s+\"(.*/)?(.*)\".*");
  private static final Pattern LINE = Pattern.compile("\\s*\\.loc\\s+(\\d+)\\s+(\\d+)\\s+\\d+(.*)");

  /** An instruction whose result depends on one register, and on a number at most. */
  private static final Pattern ONE_REGISTER =
      Pattern.compile(
          "\\s*(add|sub|mov|cvt|and)\\.(\\S+)\\s+(%\\w+),\\s*(%\\w+)(?:,\\s*(-?\\d{1,9}))?;.*");

  /** Fewer bits are a choice between two or a few, and wrap in every world. */
  private static final long LEAST = 4;

  boolean isWhole() {
    return neverWrapped().isEmpty();
  }

  /** Returns the lines of counters that have not wrapped, with the number at which each wraps. */
  Map<String, Long> neverWrapped() {
    Map<String, Long> narrow = new TreeMap<>();
    worlds.forEach(world -> narrow.putAll(narrow(world.scenario().program())));
    long most = worlds.stream().mapToLong(w -> w.scenario().load().iterations()).max().orElse(0);
    narrow.values().removeIf(wraps -> wraps <= most);
    return narrow;
  }

  /** Returns the lines of a program's own source that keep few bits of what a loop counts. */
  private static Map<String, Long> narrow(Scenario.Program program) {
    Map<String, String> files = new HashMap<>();
    Map<String, Set<String>> sources = new HashMap<>();
    Set<String> counted = new HashSet<>();
    Map<String, Map<String, Long>> kept = new LinkedHashMap<>();
    // tables of files stand behind the code
    program
        .ptx()
        .lines()
        .map(SOURCE::matcher)
        .filter(Matcher::matches)
        .forEach(file -> files.put(file.group(1), file.group(3)));
    String place = "";
    int number = 0;
    for (String line : program.ptx().split("\n", -1)) {
      number++;
      place = files.isEmpty() ? program.file() + ":" + number : place;
      Matcher found = LINE.matcher(line);
      if (found.matches()) {
        String file = files.getOrDefault(found.group(1), "");
        boolean own = file.endsWith(".cu") && found.group(3).isBlank();
        // line 0 is code that the compiler has moved
        boolean same = own && found.group(2).equals("0");
        place = !own ? "" : same ? place : file + ":" + found.group(2);
      } else if (found.usePattern(ONE_REGISTER).matches()) {
        String source = found.group(4);
        sources.computeIfAbsent(found.group(3), key -> new HashSet<>()).add(source);
        long by = found.group(5) == null ? 0 : Long.parseLong(found.group(5));
        if (by != 0 && !found.group(1).equals("and")) {
          counted.add(found.group(3));
        } else if (by >= LEAST - 1 && (by & (by + 1)) == 0 && !place.isEmpty()) {
          kept.computeIfAbsent(source, key -> new TreeMap<>()).put(place, by + 1);
        }
      }
    }
    Map<String, Long> narrow = new TreeMap<>();
    kept.forEach(
        (register, places) -> {
          Set<String> from = closure(register, sources);
          if (from.stream().anyMatch(r -> counted.contains(r) && loops(r, sources))) {
            narrow.putAll(places);
          }
        });
    return narrow;
  }

  private static boolean loops(String register, Map<String, Set<String>> sources) {
    return sources.getOrDefault(register, Set.of()).stream()
        .anyMatch(source -> closure(source, sources).contains(register));
  }

  /** Returns a register and those that its value comes from. */
  private static Set<String> closure(String register, Map<String, Set<String>> sources) {
    Set<String> all = new HashSet<>();
    ArrayDeque<String> open = new ArrayDeque<>(List.of(register));
    while (!open.isEmpty()) {
      String at = open.pop();
      if (all.add(at)) {
        open.addAll(sources.getOrDefault(at, Set.of()));
      }
    }
    return all;
  }

  /** Returns a line for each counter that has not wrapped, and for each setting of the kernel. */
  String text() {
    StringBuilder text = new StringBuilder();
    neverWrapped()
        .forEach(
            (place, wraps) ->
                text.append(
                    "  %-13s %-40s counts to %d: --iterations %d%n"
                        .formatted("never wrapped", place, wraps, wraps + 1)));
    ExploredKernel kernel = worlds.isEmpty() ? null : worlds.getFirst().kernel();
    if (kernel != null && kernel.atAllRanks()) {
      Stream<Integer> ranks = worlds.stream().map(w -> w.scenario().program().shape().ranks());
      String tried = ranks.distinct().map(String::valueOf).collect(Collectors.joining(","));
      text.append("tried    ranks=%s of 2 to %d%n".formatted(tried, WorldOptions.MOST_RANKS));
    }
    for (KernelSetting setting :
        kernel == null
            ? List.<KernelSetting>of()
            : kernel.kernel().descriptor().extension().settings()) {
      text.append(
          "tried    %s=%s of %.0f to %.0f%n"
              .formatted(setting.name(), tried(setting), setting.least(), setting.most()));
    }
    return text.toString();
  }

  private String tried(KernelSetting setting) {
    String start = setting.name() + "=";
    return worlds.stream()
        .map(
            world ->
                world.choice().settings().stream()
                    .filter(chosen -> chosen.startsWith(start))
                    .map(chosen -> chosen.substring(start.length()))
                    .findFirst()
                    .orElse(setting.standard().text()))
        .distinct()
        .collect(Collectors.joining(","));
  }
}
