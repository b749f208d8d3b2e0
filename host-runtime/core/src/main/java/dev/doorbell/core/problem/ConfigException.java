package dev.doorbell.core.problem;

import java.util.List;

/** A config that cannot be used, with everything that is wrong with it; exit code 3. */
public final class ConfigException extends ProblemException {
  private static final long serialVersionUID = 1L;

  public ConfigException(List<Problem> problems) {
    super(problems.isEmpty() ? "invalid configuration" : problems.getFirst().text(), problems);
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
}
