package dev.doorbell.core.fabric.explore.litmus.axiom;

import dev.doorbell.core.fabric.explore.litmus.LitmusResult.Axiom;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The coherence orders of one location that the axioms allow (PTX ISA 9.0, 8.9.6 and 8.10). */
final class Coherence {
  private final Candidate candidate;
  private final List<Event> events;
  private final int[] source;
  private final Relation causality;
  private final Set<Axiom> violated;
  private final List<Integer> writes;
  private final List<Integer> accesses = new ArrayList<>();
  private final List<Order> orders = new ArrayList<>();

  /**
   * An order of the writes to one location.
   *
   * @param last values of the writes that no other follows: what the location may hold in the end
   */
  record Order(Set<Integer> last) {}

  /**
   * @param source by event, the write that it reads from
   * @param violated gets the axioms that forbid an order
   */
  Coherence(
      Candidate candidate, int[] source, int location, Relation causality, Set<Axiom> violated) {
    this.candidate = candidate;
    this.events = candidate.events;
    this.source = source;
    this.causality = causality;
    this.violated = violated;
    this.writes = candidate.writes(location);
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i).location() == location) {
        accesses.add(i);
      }
    }
  }

  /** Every order that is allowed. Writes in a data race stay unordered. */
  List<Order> orders() {
    Relation order = new Relation(events.size());
    for (int from : writes) {
      for (int to : writes) {
        if (from != to && causality.has(from, to)) {
          order.add(from, to);
        }
      }
    }
    order.close();
    if (order.isReflexive()) {
      violated.add(Axiom.COHERENCE);
    } else {
      orient(order, 0, 1);
    }
    return orders;
  }

  /**
   * Tries both directions of the morally strong pairs from ({@code a}, {@code b}) on. An order that
   * breaks atomicity does so however the pairs that are left are ordered.
   */
  private void orient(Relation order, int a, int b) {
    candidate.budget.step();
    if (breaksAtomicity(order)) {
      violated.add(Axiom.ATOMICITY);
      return;
    }
    int i = a;
    int j = b;
    while (i < writes.size()) {
      if (j == writes.size()) {
        i++;
        j = i + 1;
        continue;
      }
      int one = writes.get(i);
      int other = writes.get(j);
      j++;
      if (candidate.strong.has(one, other) && !order.has(one, other) && !order.has(other, one)) {
        Relation first = order.copy();
        first.addTransitively(one, other);
        orient(first, i, j);
        Relation second = order.copy();
        second.addTransitively(other, one);
        orient(second, i, j);
        return;
      }
    }
    judge(order);
  }

  private void judge(Relation order) {
    Relation fromReads = fromReads(order);
    if (breaksLocation(order, fromReads)) {
      violated.add(Axiom.SC_PER_LOCATION);
    } else if (readsThePast(fromReads)) {
      violated.add(Axiom.CAUSALITY);
    } else if (repeatsWhatIsLast(order)) {
      orders.add(new Order(last(order)));
    }
  }

  /** Reads before the writes that follow, in the order, the one they read from. */
  private Relation fromReads(Relation order) {
    Relation fromReads = new Relation(events.size());
    for (int read : accesses) {
      for (int write : writes) {
        if (source[read] != Axioms.NOBODY && write != read && order.has(source[read], write)) {
          fromReads.add(read, write);
        }
      }
    }
    return fromReads;
  }

  /** 8.10.3: a write between an atomic's read and its write, morally strong to the atomic. */
  private boolean breaksAtomicity(Relation order) {
    for (int atomic : writes) {
      if (!events.get(atomic).joined()) {
        continue;
      }
      for (int write : writes) {
        if (write != atomic
            && candidate.strong.has(write, atomic)
            && order.has(source[atomic - 1], write)
            && order.has(write, atomic)) {
          return true;
        }
      }
    }
    return false;
  }

  /** 8.10.5: of morally strong accesses program order and communication form no cycle. */
  private boolean breaksLocation(Relation order, Relation fromReads) {
    Relation all = new Relation(events.size());
    for (int from : accesses) {
      for (int to : accesses) {
        boolean communicates =
            source[to] == from
                || (order.has(from, to) && events.get(from).writes())
                || fromReads.has(from, to);
        if (candidate.strong.has(from, to) && (communicates || candidate.program.has(from, to))) {
          all.add(from, to);
        }
      }
    }
    return all.isCyclic();
  }

  /** 8.10.6, second half: a read does not read what a write that precedes it has overwritten. */
  private boolean readsThePast(Relation fromReads) {
    for (int read : accesses) {
      for (int write : writes) {
        if (write != read && causality.has(write, read) && fromReads.has(read, write)) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean repeatsWhatIsLast(Relation order) {
    for (int read : accesses) {
      if (candidate.repeated[read] && order.row(source[read]) != 0) {
        return false;
      }
    }
    return true;
  }

  private Set<Integer> last(Relation order) {
    Set<Integer> last = new java.util.TreeSet<>();
    for (int write : writes) {
      if (order.row(write) == 0) {
        last.add(events.get(write).writeValue());
      }
    }
    return last;
  }
}
