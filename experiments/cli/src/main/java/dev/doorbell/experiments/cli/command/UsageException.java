package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A command line that cannot be understood; exit code 2. */
public final class UsageException extends ProblemException {
  private static final long serialVersionUID = 1L;

  public UsageException(Problem problem) {
    super(problem, null);
  }

  /** Returns a usage exception of a wrong value or combination of options. */
  public static UsageException wrong(@Nullable String where, String what) {
    return of("DB-U003", where, what);
  }

  /** Returns a usage exception of a wrong value or combination of options, with advice. */
  public static UsageException wrong(@Nullable String where, String what, String fix) {
    return of("DB-U003", where, what, fix);
  }

  /** Returns a usage exception of a problem whose text says it all; see {@link Problem}. */
  public static UsageException of(String code, @Nullable String where, String what) {
    return new UsageException(Problem.of(code, where, what));
  }

  /** Returns a usage exception of a problem with advice; see {@link Problem}. */
  public static UsageException of(String code, @Nullable String where, String what, String fix) {
    return new UsageException(Problem.of(code, where, what).fix(fix));
  }

  /** Refuses a word that is none of {@code words}, and suggests the nearest. */
  public static void requireWord(String option, String word, List<String> words)
      throws UsageException {
    if (!words.contains(word)) {
      String what = "unknown word '%s'%s".formatted(word, Nearest.suggestion(word, words));
      throw of("DB-U025", option, what, "one of " + String.join(", ", words));
    }
  }

  /** Refuses a number below {@code least} or above {@code most}. */
  public static void requireRange(String option, int value, int least, int most)
      throws UsageException {
    if (value < least || value > most) {
      String what = "%d is out of range: %d to %d is possible".formatted(value, least, most);
      throw of("DB-U025", option, what);
    }
  }
}
