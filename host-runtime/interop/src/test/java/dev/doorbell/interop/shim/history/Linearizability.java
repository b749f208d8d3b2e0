package dev.doorbell.interop.shim.history;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Looks for an order of the operations on one word in which each sees what those before it left,
 * and none comes before one that had ended when it began (Wing and Gong, JPDC 1993; states that
 * were searched are not searched again, as in Lowe, CCPE 2017). An operation without an end may
 * stand anywhere behind its beginning, or nowhere.
 */
final class Linearizability {
  private final List<Operation> operations;
  private final BitSet done = new BitSet();
  private final Set<Node> searched = new HashSet<>();

  private record Node(BitSet done, long value) {}

  private Linearizability(List<Operation> operations) {
    this.operations =
        operations.stream().sorted(Comparator.comparingLong(Operation::begin)).toList();
  }

  /** Returns true if there is such an order, from a word that holds zero. */
  static boolean holds(List<Operation> operations) {
    return new Linearizability(operations).search(0);
  }

  private boolean search(long from) {
    BitSet taken = new BitSet();
    long value = from;
    while (true) {
      List<Integer> next = List.of();
      for (int each : first()) {
        Operation operation = operations.get(each);
        if (operation.isKnown() && operation.value() == value) {
          // One that changes nothing takes no other's place.
          if (operation.apply(value) == value) {
            next = List.of(each);
            break;
          }
          next = with(next, each);
        }
      }
      for (int each : first()) {
        Operation operation = operations.get(each);
        if (!operation.isKnown() && operation.apply(value) != value) {
          next = with(next, each);
        }
      }
      if (next.isEmpty() || next.size() > 1) {
        boolean found = remaining() == 0 || branch(next, value);
        done.andNot(taken);
        return found;
      }
      int only = next.getFirst();
      done.set(only);
      taken.set(only);
      value = operations.get(only).apply(value);
    }
  }

  private boolean branch(List<Integer> next, long value) {
    if (next.isEmpty() || !searched.add(new Node((BitSet) done.clone(), value))) {
      return false;
    }
    for (int each : next) {
      done.set(each);
      boolean found = search(operations.get(each).apply(value));
      done.clear(each);
      if (found) {
        return true;
      }
    }
    return false;
  }

  /** Known operations that have no place yet. */
  private long remaining() {
    long known = 0;
    for (int i = done.nextClearBit(0); i < operations.size(); i = done.nextClearBit(i + 1)) {
      known += operations.get(i).isKnown() ? 1 : 0;
    }
    return known;
  }

  /** Operations without a place that began before the first end of such a one. */
  private List<Integer> first() {
    List<Integer> first = new ArrayList<>();
    long end = Long.MAX_VALUE;
    for (int i = done.nextClearBit(0); i < operations.size(); i = done.nextClearBit(i + 1)) {
      Operation operation = operations.get(i);
      if (operation.begin() > end) {
        break;
      }
      end = Math.min(end, operation.end());
      first.add(i);
    }
    return first;
  }

  private static List<Integer> with(List<Integer> list, int more) {
    List<Integer> longer = new ArrayList<>(list);
    longer.add(more);
    return longer;
  }
}
