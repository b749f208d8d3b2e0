package dev.doorbell.core.fabric.explore.litmus.axiom;

import dev.doorbell.core.fabric.explore.litmus.LitmusTest;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.ThreadPlace;
import dev.doorbell.core.fabric.explore.litmus.axiom.Event.BarrierUse;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds who meets whom at the barriers of a candidate execution: every way in which the arrivals
 * may follow each other, told apart by who arrived together.
 *
 * <p>Each column stands for a warp, the unit in which hardware counts arrivals; counts are columns.
 * A barrier without a count waits for all columns of its CTA, and one that has ended never arrives.
 */
final class BarrierSchedules {
  /** The events of one completion of a barrier. */
  private record Generation(List<Integer> members) {}

  private final LitmusTest test;
  private final List<Event> events;
  private final List<List<Integer>> queues = new ArrayList<>();

  /** Marks threads whose last event never completes. */
  private final boolean[] blocked;

  private final Budget budget;
  private final Set<Set<Generation>> found = new LinkedHashSet<>();
  private final Set<List<Object>> seen = new HashSet<>();

  BarrierSchedules(Candidate candidate) {
    this.test = candidate.test;
    this.events = candidate.events;
    this.budget = candidate.budget;
    this.blocked = candidate.blocked();
    for (int thread = 0; thread < test.threads().size(); thread++) {
      queues.add(new ArrayList<>());
    }
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i).barrier() != null) {
        queues.get(events.get(i).thread()).add(i);
      }
    }
  }

  /**
   * Returns what synchronizes with what, once for each way in which barriers may complete that
   * agrees with the values that the candidate's reductions yield; empty when there is none. Without
   * any barrier one empty relation.
   */
  List<Relation> relations() {
    explore(new int[queues.size()], new ArrayList<>(), Set.of());
    List<Relation> relations = new ArrayList<>();
    for (Set<Generation> schedule : found) {
      Relation relation = new Relation(events.size());
      for (Generation generation : schedule) {
        for (int from : generation.members) {
          for (int to : generation.members) {
            if (from != to && waits(to)) {
              relation.add(from, to);
            }
          }
        }
      }
      relations.add(relation);
    }
    return relations;
  }

  private boolean waits(int event) {
    BarrierUse barrier = events.get(event).barrier();
    return barrier != null && barrier.waits();
  }

  /**
   * @param next by thread: its next barrier
   * @param arrived events of barriers that are not complete, in the order of arrival
   */
  private void explore(int[] next, List<Integer> arrived, Set<Generation> complete) {
    budget.step();
    List<Integer> positions = new ArrayList<>();
    for (int position : next) {
      positions.add(position);
    }
    if (!seen.add(List.of(positions, Set.copyOf(arrived), complete))) {
      return;
    }
    boolean moved = false;
    for (int thread = 0; thread < next.length; thread++) {
      if (next[thread] == queues.get(thread).size() || isWaiting(thread, arrived)) {
        continue;
      }
      moved = true;
      int[] after = next.clone();
      int event = queues.get(thread).get(after[thread]++);
      arrive(event, after, arrived, complete);
    }
    if (!moved && isTheEnd(arrived)) {
      found.add(complete);
    }
  }

  private boolean isWaiting(int thread, List<Integer> arrived) {
    return arrived.stream().anyMatch(e -> events.get(e).thread() == thread && waits(e));
  }

  private void arrive(int event, int[] next, List<Integer> arrived, Set<Generation> complete) {
    List<Integer> here = new ArrayList<>();
    List<Integer> elsewhere = new ArrayList<>();
    for (int other : arrived) {
      (sameBarrier(event, other) ? here : elsewhere).add(other);
    }
    for (int other : here) {
      if (expected(other) != expected(event)) {
        return; // undefined: threads disagree on how many take part
      }
    }
    here.add(event);
    if (here.size() < expected(event)) {
      List<Integer> more = new ArrayList<>(arrived);
      more.add(event);
      explore(next, more, complete);
      return;
    }
    if (agrees(here)) {
      here.sort(Integer::compare);
      Set<Generation> more = new HashSet<>(complete);
      more.add(new Generation(here));
      explore(next, elsewhere, Set.copyOf(more));
    }
  }

  private boolean sameBarrier(int a, int b) {
    BarrierUse one = events.get(a).barrier();
    BarrierUse other = events.get(b).barrier();
    return one != null && other != null && one.id() == other.id() && place(a).sameCta(place(b));
  }

  private ThreadPlace place(int event) {
    return test.threads().get(events.get(event).thread()).place();
  }

  private int expected(int event) {
    BarrierUse barrier = events.get(event).barrier();
    return barrier == null || barrier.count() == 0
        ? test.threadsOfCta(events.get(event).thread())
        : barrier.count();
  }

  /** Returns true if reductions yield what the candidate says, and no blocked thread passes. */
  private boolean agrees(List<Integer> members) {
    int count = members.stream().mapToInt(this::predicate).sum();
    long reducing = members.stream().filter(this::reduces).count();
    for (int member : members) {
      BarrierUse barrier = events.get(member).barrier();
      int thread = events.get(member).thread();
      boolean last = queues.get(thread).getLast() == member;
      if (barrier == null || (blocked[thread] && last)) {
        return false;
      }
      int yields =
          switch (barrier.instruction().kind()) {
            case SYNC, ARRIVE -> events.get(member).readValue();
            case RED_POPC -> count;
            case RED_AND -> count == reducing ? 1 : 0;
            case RED_OR -> count > 0 ? 1 : 0;
          };
      if (yields != events.get(member).readValue()) {
        return false;
      }
    }
    return true;
  }

  private boolean reduces(int event) {
    BarrierUse barrier = events.get(event).barrier();
    return barrier != null && barrier.instruction().predicate() != null;
  }

  private int predicate(int event) {
    BarrierUse barrier = events.get(event).barrier();
    return barrier == null ? 0 : barrier.predicate();
  }

  /** Returns true if those who wait for ever are those of whom the candidate says so. */
  private boolean isTheEnd(List<Integer> arrived) {
    for (int thread = 0; thread < blocked.length; thread++) {
      if (isWaiting(thread, arrived) != blocked[thread]) {
        return false;
      }
    }
    return true;
  }
}
