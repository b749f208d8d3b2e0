package dev.doorbell.core.problem;

import java.util.List;

/** A config that cannot be used, with everything that is wrong with it; exit code 3. */
public final class ConfigException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient List<Problem> problems;

  public ConfigException(List<Problem> problems) {
    super(problems.isEmpty() ? "invalid configuration" : problems.getFirst().text());
    this.problems = List.copyOf(problems);
  }

  public ConfigException(Problem problem) {
    this(List.of(problem));
  }

  /** Throws all problems at once, if there are any. */
  public static void throwIfAny(List<Problem> problems) throws ConfigException {
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  /** Every problem found, in the order of the file. */
  public List<Problem> problems() {
    return problems;
  }
}
