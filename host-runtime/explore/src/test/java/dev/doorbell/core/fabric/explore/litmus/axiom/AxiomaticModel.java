package dev.doorbell.core.fabric.explore.litmus.axiom;

import dev.doorbell.core.fabric.explore.litmus.LitmusResult;
import dev.doorbell.core.fabric.explore.litmus.LitmusResult.Axiom;
import dev.doorbell.core.fabric.explore.litmus.LitmusResult.Outcome;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.Bounds;
import dev.doorbell.core.fabric.explore.litmus.axiom.TraceEnumerator.ThreadTrace;
import dev.doorbell.core.fabric.explore.litmus.axiom.TraceEnumerator.Written;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The PTX memory model as the PTX ISA states it (version 9.0, chapter 8, for accesses of one
 * width), decided by looking at every candidate execution of a small program: every trace of every
 * thread, every write that each read could read from, every meeting at barriers, every order of
 * {@code fence.sc}, every coherence order.
 *
 * <p>Where the chapter leaves something open it is read as follows. A compare-and-swap that fails
 * does not write. Dependencies are syntactic (data, predicate, branch), so a few load-buffering
 * outcomes that an implementation could justify by reasoning about values are called thin air.
 * Writes in a race stay unordered, and a location ends with the value of any write that no other
 * follows. A barrier orders by itself alone; it is no fence for release or acquire patterns.
 */
public final class AxiomaticModel {
  private final LitmusTest test;
  private final Bounds bounds;
  private final Budget budget;
  private final List<String> observables;
  private final SortedMap<Outcome, Long> allowed = new TreeMap<>();
  private final SortedMap<Outcome, Set<Axiom>> forbidden = new TreeMap<>();
  private final SortedMap<String, Long> deadlocks = new TreeMap<>();
  private final SortedMap<String, Long> spinning = new TreeMap<>();
  private final SortedSet<String> races = new TreeSet<>();
  private long candidates;
  private boolean cut;
  private boolean complete = true;

  private AxiomaticModel(LitmusTest test, Bounds bounds) {
    this.test = test;
    this.bounds = bounds;
    this.budget = new Budget(bounds);
    Set<String> names = new LinkedHashSet<>();
    test.condition().observables(names);
    test.filter().observables(names);
    observables = List.copyOf(names);
  }

  public static LitmusResult check(LitmusTest test, Bounds bounds) {
    return new AxiomaticModel(test, bounds).run();
  }

  private LitmusResult run() {
    try {
      combine(traces(), new ArrayList<>());
    } catch (Budget.ExhaustedException e) {
      complete = false;
    }
    allowed.keySet().removeIf(outcome -> !test.filter().holds(outcome::value));
    forbidden.keySet().removeIf(o -> allowed.containsKey(o) || !test.filter().holds(o::value));
    boolean some = allowed.keySet().stream().anyMatch(o -> test.condition().holds(o::value));
    boolean all = allowed.keySet().stream().allMatch(o -> test.condition().holds(o::value));
    boolean holds =
        switch (test.quantifier()) {
          case EXISTS -> some;
          case NOT_EXISTS -> !some;
          case FORALL -> all;
        };
    return new LitmusResult(
        test, allowed, forbidden, deadlocks, spinning, races, candidates, cut, complete, holds);
  }

  /**
   * The traces of every thread. What loads may return depends on what is written, which depends on
   * what loads return: values are added until none is new, or until chains of values are longer
   * than an execution has writes, which no-thin-air forbids.
   */
  private List<List<ThreadTrace>> traces() {
    List<SortedSet<Integer>> values = new ArrayList<>();
    test.initial().forEach(value -> values.add(new TreeSet<>(Set.of(value))));
    List<List<ThreadTrace>> traces = new ArrayList<>();
    boolean news = true;
    for (int chain = 0; news; chain++) {
      traces.clear();
      cut = false;
      int mostWrites = 0;
      Set<Written> written = new HashSet<>();
      for (int thread = 0; thread < test.threads().size(); thread++) {
        TraceEnumerator enumerator =
            new TraceEnumerator(test, thread, values, bounds.rounds(), budget);
        traces.add(enumerator.enumerate());
        written.addAll(enumerator.written());
        mostWrites += enumerator.mostWrites();
        cut |= enumerator.cut();
      }
      news = false;
      if (chain < mostWrites) {
        for (Written write : written) {
          news |= values.get(write.location()).add(write.value());
        }
      }
    }
    return traces;
  }

  private void combine(List<List<ThreadTrace>> traces, List<ThreadTrace> chosen) {
    budget.step();
    if (!complete) {
      return;
    }
    if (chosen.size() < traces.size()) {
      for (ThreadTrace trace : traces.get(chosen.size())) {
        chosen.add(trace);
        combine(traces, chosen);
        chosen.removeLast();
      }
      return;
    }
    if (Candidate.size(test, chosen) > Relation.MOST) {
      complete = false;
      return;
    }
    if (readsWhatIsWritten(chosen)) {
      consider(new Candidate(test, List.copyOf(chosen), budget));
    }
  }

  /** Returns true if each value that is read is written by an event: most combinations end here. */
  private boolean readsWhatIsWritten(List<ThreadTrace> chosen) {
    for (ThreadTrace trace : chosen) {
      for (Event read : trace.events()) {
        if (read.reads() && !isWritten(chosen, read)) {
          return false;
        }
      }
    }
    return true;
  }

  private boolean isWritten(List<ThreadTrace> chosen, Event read) {
    if (test.initial().get(read.location()) == read.readValue()) {
      return true;
    }
    for (ThreadTrace trace : chosen) {
      for (Event write : trace.events()) {
        if (write.writes()
            && write.location() == read.location()
            && write.writeValue() == read.readValue()) {
          return true;
        }
      }
    }
    return false;
  }

  private void consider(Candidate candidate) {
    List<Relation> schedules = new BarrierSchedules(candidate).relations();
    if (!schedules.isEmpty()) {
      int[] source = new int[candidate.events.size()];
      Arrays.fill(source, Axioms.NOBODY);
      if (!chooseSources(candidate, schedules, source, 0) && candidate.ends()) {
        forbid(candidate, Map.of(), EnumSet.of(Axiom.ATOMICITY));
      }
    }
  }

  /**
   * Tries all sources of the reads from {@code event} on. Where two atomics would read from one
   * write, atomicity forbids whatever the others read from.
   *
   * @return false when there was such a choice, which is not judged
   */
  private boolean chooseSources(
      Candidate candidate, List<Relation> schedules, int[] source, int event) {
    int next = event;
    while (next < source.length && !candidate.events.get(next).reads()) {
      next++;
    }
    if (next == source.length) {
      schedules.forEach(schedule -> judge(candidate, source, schedule));
      return true;
    }
    boolean all = true;
    Event read = candidate.events.get(next);
    for (int write : candidate.writes(read.location())) {
      if (write != next
          && candidate.events.get(write).writeValue() == read.readValue()
          && !(candidate.program.has(next, write) && candidate.strong.has(next, write))) {
        if (isUpdatedAlready(candidate, source, next, write)) {
          all = false;
          continue;
        }
        source[next] = write;
        all &= chooseSources(candidate, schedules, source, next + 1);
      }
    }
    source[next] = Axioms.NOBODY;
    return all;
  }

  /**
   * Returns true if {@code read} and a read before it are of atomics, morally strong to each other
   * and to the write that both would read from. The later one of their writes, in coherence, would
   * have the other between its read and itself (8.10.3), or one of them would precede what it
   * reads.
   */
  private static boolean isUpdatedAlready(Candidate candidate, int[] source, int read, int write) {
    List<Event> events = candidate.events;
    int atomic = read + 1;
    if (atomic == events.size() || !events.get(atomic).joined()) {
      return false;
    }
    boolean initial = events.get(write).isInitial();
    for (int other = 1; other < atomic; other++) {
      if (source[other - 1] == write
          && events.get(other).joined()
          && candidate.strong.has(other, atomic)
          && (initial
              || (candidate.strong.has(write, other) && candidate.strong.has(write, atomic)))) {
        return true;
      }
    }
    return false;
  }

  private void judge(Candidate candidate, int[] source, Relation schedule) {
    budget.step();
    if (candidates == bounds.candidates()) {
      complete = false;
      return;
    }
    candidates++;
    boolean ends = candidate.ends();
    Map<Outcome, Long> possible = new HashMap<>();
    Set<Axiom> violated =
        new Axioms(
                candidate,
                source,
                schedule,
                test.locations().size(),
                survivor -> survive(candidate, survivor, ends, possible))
            .judge();
    possible.forEach((outcome, count) -> allowed.merge(outcome, count, Long::sum));
    if (ends) {
      // an order of writes that no axiom had to refuse was never tried: causality fixes it
      forbid(candidate, possible, violated.isEmpty() ? EnumSet.of(Axiom.COHERENCE) : violated);
    }
  }

  /** Notes why a candidate does not have the outcomes that it does not have. */
  private void forbid(Candidate candidate, Map<Outcome, Long> possible, Set<Axiom> why) {
    for (Outcome outcome : outcomes(candidate, conceivable(candidate)).keySet()) {
      if (!possible.containsKey(outcome)) {
        forbidden.computeIfAbsent(outcome, o -> EnumSet.noneOf(Axiom.class)).addAll(why);
      }
    }
  }

  private void survive(
      Candidate candidate, Axioms.Survivor survivor, boolean ends, Map<Outcome, Long> possible) {
    races.addAll(Races.of(candidate, survivor.causality()));
    if (ends) {
      outcomes(candidate, survivor.coherence())
          .forEach((outcome, count) -> possible.merge(outcome, count, Long::sum));
    } else {
      boolean spins = candidate.traces.stream().anyMatch(ThreadTrace::spinning);
      (spins ? spinning : deadlocks).merge(staying(candidate), 1L, Long::sum);
    }
  }

  private static String staying(Candidate candidate) {
    return candidate.traces.stream()
        .filter(trace -> !trace.ends())
        .map(ThreadTrace::stays)
        .collect(Collectors.joining(", "));
  }

  /** For each location, one order for each write that could be the last if no axiom spoke. */
  private List<List<Coherence.Order>> conceivable(Candidate candidate) {
    List<List<Coherence.Order>> orders = new ArrayList<>();
    for (int location = 0; location < test.locations().size(); location++) {
      List<Integer> writes = candidate.writes(location);
      Set<Integer> last = new TreeSet<>();
      for (int write : writes.size() == 1 ? writes : writes.subList(1, writes.size())) {
        last.add(candidate.events.get(write).writeValue());
      }
      orders.add(List.of(new Coherence.Order(last)));
    }
    return orders;
  }

  /** The outcomes of a candidate with the given coherence orders, and how often each. */
  private Map<Outcome, Long> outcomes(Candidate candidate, List<List<Coherence.Order>> coherence) {
    Map<List<Integer>, Long> partial = new HashMap<>(Map.of(List.of(), 1L));
    for (String name : observables) {
      int location = test.locations().indexOf(name);
      Map<Integer, Long> values =
          location < 0 ? Map.of(register(candidate, name), 1L) : ends(coherence.get(location));
      Map<List<Integer>, Long> longer = new HashMap<>();
      partial.forEach(
          (prefix, count) ->
              values.forEach((value, ways) -> longer.put(append(prefix, value), count * ways)));
      partial = longer;
    }
    long unobserved = 1;
    for (int location = 0; location < coherence.size(); location++) {
      if (!observables.contains(test.locations().get(location))) {
        unobserved *= coherence.get(location).size();
      }
    }
    Map<Outcome, Long> outcomes = new HashMap<>();
    for (Map.Entry<List<Integer>, Long> entry : partial.entrySet()) {
      outcomes.put(new Outcome(observables, entry.getKey()), entry.getValue() * unobserved);
    }
    return outcomes;
  }

  private static int register(Candidate candidate, String name) {
    int colon = name.indexOf(':');
    int thread = Integer.parseInt(name.substring(1, colon));
    return candidate.traces.get(thread).registers().getOrDefault(name.substring(colon + 1), 0);
  }

  /** The values with which a location may end, and in how many of its orders. */
  private static Map<Integer, Long> ends(List<Coherence.Order> orders) {
    Map<Integer, Long> ends = new HashMap<>();
    orders.forEach(order -> order.last().forEach(value -> ends.merge(value, 1L, Long::sum)));
    return ends;
  }

  private static List<Integer> append(List<Integer> prefix, int value) {
    List<Integer> longer = new ArrayList<>(prefix);
    longer.add(value);
    return List.copyOf(longer);
  }

  /** Data races of an execution (PTX ISA 9.0, 8.7.1). */
  private static final class Races {
    private Races() {}

    /** Conflicting accesses that are neither ordered by causality nor morally strong. */
    static SortedSet<String> of(Candidate candidate, Relation causality) {
      SortedSet<String> races = new TreeSet<>();
      for (int a = 0; a < candidate.events.size(); a++) {
        for (int b = a + 1; b < candidate.events.size(); b++) {
          Event one = candidate.events.get(a);
          Event other = candidate.events.get(b);
          if (conflict(one, other)
              && !candidate.strong.has(a, b)
              && !causality.has(a, b)
              && !causality.has(b, a)) {
            races.add(one.where() + " and " + other.where());
          }
        }
      }
      return races;
    }

    private static boolean conflict(Event a, Event b) {
      return !a.isInitial()
          && a.isMemory()
          && a.location() == b.location()
          && (a.writes() || b.writes());
    }
  }
}
