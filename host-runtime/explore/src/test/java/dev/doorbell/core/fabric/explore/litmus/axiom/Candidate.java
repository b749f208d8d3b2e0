package dev.doorbell.core.fabric.explore.litmus.axiom;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.ThreadPlace;
import dev.doorbell.core.fabric.explore.litmus.axiom.TraceEnumerator.ThreadTrace;
import java.util.ArrayList;
import java.util.List;

/** One trace of every thread, put together: what is fixed before anybody reads from anybody. */
final class Candidate {
  /** Initial writes first, one a location; then the threads' events in program order. */
  final List<Event> events;

  final List<ThreadTrace> traces;

  /** Program order, transitive. */
  final Relation program;

  /** Morally strong pairs, both ways round. */
  final Relation strong;

  final List<Pattern> releases = new ArrayList<>();

  final List<Pattern> acquires = new ArrayList<>();

  /**
   * For each event, a strong read of a round that is repeated for ever. What it reads is what is
   * written last: writes reach strong reads in the end. A weak read may be made once for all
   * rounds.
   */
  final boolean[] repeated;

  /** For each event, the events that it depends on, as bits. */
  final long[] dependencies;

  final LitmusTest test;

  final Budget budget;

  /**
   * A release or acquire pattern.
   *
   * @param access its write, or its read
   * @param end its first operation when it releases, its last when it acquires
   */
  record Pattern(int access, int end) {}

  Candidate(LitmusTest test, List<ThreadTrace> traces, Budget budget) {
    this.test = test;
    this.budget = budget;
    this.traces = traces;
    List<Event> all = new ArrayList<>();
    for (int location = 0; location < test.locations().size(); location++) {
      all.add(Event.initial(location, test.initial().get(location)));
    }
    List<Integer> starts = new ArrayList<>();
    for (ThreadTrace trace : traces) {
      starts.add(all.size());
      all.addAll(trace.events());
    }
    events = List.copyOf(all);
    program = new Relation(events.size());
    strong = new Relation(events.size());
    dependencies = new long[events.size()];
    repeated = new boolean[events.size()];
    for (int thread = 0; thread < traces.size(); thread++) {
      place(starts.get(thread), traces.get(thread).events().size());
      repeat(starts.get(thread), traces.get(thread));
    }
    relateStrong();
    findPatterns();
  }

  static int size(LitmusTest test, List<ThreadTrace> traces) {
    return test.locations().size() + traces.stream().mapToInt(t -> t.events().size()).sum();
  }

  private void place(int start, int count) {
    for (int i = start; i < start + count; i++) {
      dependencies[i] = events.get(i).dependencies() << start;
      for (int later = i + 1; later < start + count; later++) {
        program.add(i, later);
      }
    }
  }

  private void repeat(int start, ThreadTrace trace) {
    for (int i = trace.lastRound(); trace.spinning() && i < trace.events().size(); i++) {
      repeated[start + i] = trace.events().get(i).reads() && trace.events().get(i).isStrong();
    }
  }

  boolean ends() {
    return traces.stream().allMatch(ThreadTrace::ends);
  }

  /** Section "Morally Strong Operations"; every access is of the same width. */
  private void relateStrong() {
    for (int a = 0; a < events.size(); a++) {
      for (int b = 0; b < events.size(); b++) {
        if (a != b && areStrong(events.get(a), events.get(b))) {
          strong.add(a, b);
        }
      }
    }
  }

  private boolean areStrong(Event a, Event b) {
    if (a.barrier() != null || b.barrier() != null) {
      return false;
    }
    if (a.isMemory() && b.isMemory() && (a.location() != b.location() || !a.sameWay(b))) {
      return false;
    }
    if (a.thread() == b.thread()) {
      return true;
    }
    return a.isStrong() && b.isStrong() && reaches(a, b) && reaches(b, a);
  }

  private boolean reaches(Event from, Event to) {
    return from.isInitial()
        || to.isInitial()
        || place(from).reaches(Access.scope(from.access()), place(to));
  }

  private ThreadPlace place(Event event) {
    return test.threads().get(event.thread()).place();
  }

  /** Section "Release and Acquire Patterns". */
  private void findPatterns() {
    for (int first = 0; first < events.size(); first++) {
      Event event = events.get(first);
      if (event.isRelease()) {
        if (event.isMemory()) {
          releases.add(new Pattern(first, first));
        }
        for (int later = 0; later < events.size(); later++) {
          Event write = events.get(later);
          if (program.has(first, later)
              && write.writes()
              && write.isStrong()
              && near(event, write)) {
            releases.add(new Pattern(later, first));
          }
        }
      }
      if (event.isAcquire()) {
        if (event.isMemory()) {
          acquires.add(new Pattern(first, first));
        }
        for (int earlier = 0; earlier < events.size(); earlier++) {
          Event read = events.get(earlier);
          if (program.has(earlier, first)
              && read.reads()
              && !read.reduction()
              && read.isStrong()
              && near(event, read)) {
            acquires.add(new Pattern(earlier, first));
          }
        }
      }
    }
  }

  /** A fence is near every location, an access its own. */
  private static boolean near(Event end, Event access) {
    return end.isFence() || end.location() == access.location();
  }

  /** Writes to a location, the initial one first. */
  List<Integer> writes(int location) {
    List<Integer> writes = new ArrayList<>();
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i).location() == location && events.get(i).writes()) {
        writes.add(i);
      }
    }
    return writes;
  }

  boolean[] blocked() {
    boolean[] blocked = new boolean[traces.size()];
    for (int thread = 0; thread < blocked.length; thread++) {
      blocked[thread] = traces.get(thread).blocked();
    }
    return blocked;
  }
}
