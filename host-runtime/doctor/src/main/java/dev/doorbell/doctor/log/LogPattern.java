package dev.doorbell.doctor.log;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import dev.doorbell.doctor.catalogue.DataFile;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A line that a library is known to print, an entry of {@code patterns.yaml}.
 *
 * @param code stable, {@code DB-LOG-} and a number
 * @param library the library that prints the line
 * @param pattern searched for anywhere in a line
 * @param meaning what has happened
 * @param fix what to do; empty where nothing has to be done
 * @param checks codes of the doctor's checks that concern the same matter
 * @param sources where the line was reported or is printed
 * @param examples lines that must be taken for this pattern
 */
public record LogPattern(
    String code,
    String library,
    Pattern pattern,
    String meaning,
    @JsonSetter(nulls = Nulls.AS_EMPTY) String fix,
    @JsonSetter(nulls = Nulls.AS_EMPTY) List<String> checks,
    List<String> sources,
    List<String> examples) {
  /** No message is longer; patterns may take the square of a line's length. */
  private static final int LONGEST_LINE = 4096;

  private static final List<LogPattern> ALL =
      DataFile.list(LogPattern.class, "patterns.yaml", LogPattern.class);

  public LogPattern {
    checks = List.copyOf(checks);
    sources = List.copyOf(sources);
    examples = List.copyOf(examples);
    if (!code.matches("DB-LOG-\\d\\d") || meaning.isEmpty() || examples.isEmpty()) {
      throw new IllegalArgumentException("incomplete entry " + code);
    }
  }

  /** Returns every pattern; a line is taken for the first that it matches. */
  public static List<LogPattern> all() {
    return ALL;
  }

  /** Returns the first pattern that a line matches. */
  public static Optional<LogPattern> matching(String line) {
    if (line.length() > LONGEST_LINE) {
      return matching(line.substring(0, LONGEST_LINE));
    }
    return ALL.stream().filter(pattern -> pattern.pattern.matcher(line).find()).findFirst();
  }

  /** Finds a pattern by its code in any case, with or without {@code DB-}. */
  public static Optional<LogPattern> find(String code) {
    String wanted = code.toUpperCase(Locale.ROOT);
    return ALL.stream()
        .filter(pattern -> pattern.code.equals(wanted) || pattern.code.equals("DB-" + wanted))
        .findFirst();
  }
}
