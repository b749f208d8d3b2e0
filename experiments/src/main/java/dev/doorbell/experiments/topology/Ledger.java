package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.Constant;
import dev.doorbell.core.problem.Problem;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.nodes.Node;

/** What reading a file brings to light: its constants, and what is wrong with it. */
final class Ledger {
  private record Entry(int line, int column, Problem problem) {}

  private final String file;
  private final Map<String, Double> instead;
  private final List<Entry> entries = new ArrayList<>();
  private final List<Constant> constants = new ArrayList<>();

  Ledger(String file) {
    this(file, Map.of());
  }

  /**
   * @param instead values that constants get instead of those in the file, by key
   */
  Ledger(String file, Map<String, Double> instead) {
    this.file = file;
    this.instead = Map.copyOf(instead);
  }

  /** The value that a constant gets. */
  double value(String key, double inFile) {
    return instead.getOrDefault(key, inFile);
  }

  void problem(Node at, String code, String what) {
    int line = at.getStartMark().map(Mark::getLine).orElse(0) + 1;
    int column = at.getStartMark().map(Mark::getColumn).orElse(0) + 1;
    String where = "%s:%d:%d".formatted(file, line, column);
    entries.add(new Entry(line, column, Problem.of(code, where, what)));
  }

  void constant(Constant constant) {
    constants.add(constant);
  }

  List<Constant> constants() {
    return constants;
  }

  boolean clean() {
    return entries.isEmpty();
  }

  /** In the order in which a reader meets them. */
  List<Problem> problems() {
    return entries.stream()
        .sorted(Comparator.comparingInt(Entry::line).thenComparingInt(Entry::column))
        .map(Entry::problem)
        .toList();
  }
}
