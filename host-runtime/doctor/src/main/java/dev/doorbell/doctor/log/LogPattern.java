package dev.doorbell.doctor.log;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import dev.doorbell.core.mlx5.generated.StatusTable;
import dev.doorbell.doctor.catalogue.DataFile;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A line that a library is known to print, an entry of {@code patterns.yaml}.
 *
 * @param code stable, {@code DB-LOG-} and a number
 * @param library the library that prints the line; {@code verbs} for statuses
 * @param pattern searched for anywhere in a line; null for a status
 * @param status a status of {@code ibv_wc_status}, or 0
 * @param meaning what has happened
 * @param fix what to do; empty where nothing has to be done
 * @param checks codes of the doctor's checks that concern the same matter
 * @param sources where the line was reported or is printed
 * @param examples lines that must be taken for this pattern
 * @param not look-alikes, which must not be taken for it
 */
public record LogPattern(
    String code,
    String library,
    @Nullable Pattern pattern,
    int status,
    String meaning,
    @JsonSetter(nulls = Nulls.AS_EMPTY) String fix,
    @JsonSetter(nulls = Nulls.AS_EMPTY) List<String> checks,
    @JsonSetter(nulls = Nulls.AS_EMPTY) List<String> sources,
    List<String> examples,
    List<String> not) {
  /** No message is longer; patterns may take the square of a line's length. */
  private static final int LONGEST_LINE = 4096;

  private static final List<LogPattern> ALL =
      DataFile.list(LogPattern.class, "patterns.yaml", LogPattern.class);

  public LogPattern {
    if (status > 0) {
      meaning = StatusTable.cause(status);
      fix = StatusTable.fix(status);
      sources = List.of(StatusTable.sources(status).split(" ", -1));
    }
    checks = List.copyOf(checks);
    sources = List.copyOf(sources);
    examples = List.copyOf(examples);
    not = List.copyOf(not);
    if (!code.matches("DB-LOG-\\d{2,3}")
        || (pattern == null) == (status == 0)
        || meaning.isEmpty()
        || examples.isEmpty()
        || not.isEmpty()) {
      throw new IllegalArgumentException("incomplete entry " + code);
    }
  }

  /** Returns every pattern; a line is taken for the first that it matches. */
  public static List<LogPattern> all() {
    return ALL;
  }

  /** Returns the status that a line reports, else the first pattern that it matches. */
  public static Optional<LogPattern> matching(String line) {
    if (line.length() > LONGEST_LINE) {
      return matching(line.substring(0, LONGEST_LINE));
    }
    int status = CompletionError.in(line).map(CompletionError::status).orElse(0);
    return ALL.stream().filter(pattern -> pattern.takes(line, status)).findFirst();
  }

  private boolean takes(String line, int found) {
    return pattern == null ? status == found : pattern.matcher(line).find();
  }

  /** Finds a pattern by its code in any case, with or without {@code DB-}. */
  public static Optional<LogPattern> find(String code) {
    String wanted = code.toUpperCase(Locale.ROOT);
    return ALL.stream()
        .filter(pattern -> pattern.code.equals(wanted) || pattern.code.equals("DB-" + wanted))
        .findFirst();
  }

  /** Returns what is searched for, in words. */
  public String looksFor() {
    return pattern == null
        ? "status %d, %s".formatted(status, StatusTable.name(status))
        : pattern.pattern();
  }
}
