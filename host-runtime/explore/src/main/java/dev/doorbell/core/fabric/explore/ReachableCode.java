package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.NextPlaces;
import dev.doorbell.core.agent.NextPlaces.Kind;
import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.explore.Coverage.Edge;
import dev.doorbell.core.fabric.explore.Coverage.Wait;
import dev.doorbell.core.fabric.explore.Coverage.Way;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The parts of a program that control can reach from its entries, and its branches. It is found out
 * once and serves all runs of the program.
 *
 * <p>Code from which every way leads to a trap is left out: no thread is to come there.
 */
public final class ReachableCode {
  private final Set<Integer> entries = new HashSet<>();
  private final BitSet lines = new BitSet();
  private final Map<Edge, Way> ways = new LinkedHashMap<>();
  private final Map<Edge, Wait> waits = new LinkedHashMap<>();

  boolean mayBeReached(int line) {
    return lines.get(line);
  }

  void addTo(Coverage coverage) {
    lines.stream().forEach(line -> coverage.add(line, false));
    coverage.add(ways, waits);
  }

  void find(Agent agent, Object entry) {
    if (!entries.add(agent.following(entry).line())) {
      return;
    }
    IdentityHashMap<Object, NextPlaces> all = new IdentityHashMap<>();
    IdentityHashMap<Object, List<Object>> before = new IdentityHashMap<>();
    List<Object> found = new ArrayList<>();
    ArrayDeque<Object> open = new ArrayDeque<>(List.of(entry));
    while (!open.isEmpty()) {
      Object place = open.remove();
      if (!all.containsKey(place)) {
        NextPlaces next = agent.following(place);
        all.put(place, next);
        found.add(place);
        for (Object after : next.places()) {
          before.computeIfAbsent(after, key -> new ArrayList<>()).add(place);
          open.add(after);
        }
      }
    }
    Set<Object> failing = failing(all, before);
    for (Object place : found) {
      NextPlaces next = all.get(place);
      if (next != null && !failing.contains(place)) {
        lines.set(next.line());
        addBranch(agent, place, next, failing);
      }
    }
  }

  /** Returns the places from which every way leads to an error. */
  private static Set<Object> failing(
      IdentityHashMap<Object, NextPlaces> all, IdentityHashMap<Object, List<Object>> before) {
    Set<Object> failing = Collections.newSetFromMap(new IdentityHashMap<>());
    ArrayDeque<Object> open = new ArrayDeque<>();
    all.forEach(
        (place, next) -> {
          if (next.kind() == Kind.FAILURE) {
            open.add(place);
          }
        });
    while (!open.isEmpty()) {
      Object place = open.remove();
      if (failing.add(place)) {
        for (Object earlier : before.getOrDefault(place, List.of())) {
          NextPlaces next = all.get(earlier);
          if (next != null && failing.containsAll(next.places())) {
            open.add(earlier);
          }
        }
      }
    }
    return failing;
  }

  private void addBranch(Agent agent, Object place, NextPlaces next, Set<Object> failing) {
    List<?> targets = next.places().stream().filter(way -> !failing.contains(way)).toList();
    boolean waits = next.kind() == Kind.WAIT && !next.places().isEmpty();
    SourcePlace here = targets.size() > 1 || waits ? agent.describe(place) : null;
    if (here == null) {
      return;
    }
    if (waits) {
      int head = agent.following(next.places().getFirst()).line();
      this.waits.put(new Edge(next.line(), head), new Wait(here, false));
    }
    for (Object target : targets.size() > 1 ? targets : List.of()) {
      ways.put(
          new Edge(next.line(), agent.following(target).line()),
          new Way(here, agent.describe(target), false));
    }
  }
}
