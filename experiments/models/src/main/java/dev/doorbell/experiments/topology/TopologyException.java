package dev.doorbell.experiments.topology;

import dev.doorbell.core.problem.Problem;
import java.util.List;

/** A topology that cannot be used, with everything that is wrong with it; exit code 3. */
public final class TopologyException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient List<Problem> problems;

  /**
   * @param problems in the order of the file
   */
  public TopologyException(List<Problem> problems) {
    super(problems.isEmpty() ? "invalid topology" : problems.getFirst().text());
    this.problems = List.copyOf(problems);
  }

  public List<Problem> problems() {
    return problems;
  }
}
