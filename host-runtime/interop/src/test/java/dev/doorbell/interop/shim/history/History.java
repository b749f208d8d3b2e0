package dev.doorbell.interop.shim.history;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import dev.doorbell.interop.shim.history.Operation.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Operations of the clients of a memory, with what they returned. */
public final class History {
  private final List<Operation> operations;

  private History(List<Operation> operations) {
    this.operations = operations;
  }

  /** Returns the history of clients, each with its lines; the last may be cut off. */
  public static History of(List<List<String>> clients) {
    List<Operation> operations = new ArrayList<>();
    for (int i = 0; i < clients.size(); i++) {
      operations.addAll(Operation.parse(i, clients.get(i)));
    }
    return new History(operations);
  }

  /** Returns how many operations have no end. */
  public long unknown() {
    return operations.stream().filter(each -> !each.isKnown()).count();
  }

  /** Returns the rules that are broken, and where. */
  public List<String> broken() {
    Map<Integer, List<Operation>> words =
        operations.stream().collect(groupingBy(Operation::word, TreeMap::new, toList()));
    List<String> broken = new ArrayList<>();
    List<Operation> data = List.of();
    for (Map.Entry<Integer, List<Operation>> word : words.entrySet()) {
      List<Operation> own = word.getValue();
      if (own.stream().anyMatch(each -> each.kind() == Kind.ADD || each.kind() == Kind.CAS)) {
        if (!Linearizability.holds(own)) {
          broken.add("word %d is not linearizable: %s".formatted(word.getKey(), own));
        }
        continue;
      }
      broken.addAll(WordOrder.broken(own));
      if (data.isEmpty()) {
        data = own;
      } else {
        broken.addAll(WordOrder.brokenFlags(data, own));
        data = List.of();
      }
    }
    return broken;
  }

  @Override
  public String toString() {
    return "%d operations, %d without an end".formatted(operations.size(), unknown());
  }
}
