package dev.doorbell.experiments.config.document;

import dev.doorbell.core.problem.Problem;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Orders problems as a reader meets them: by file, then line, then column. */
public record ProblemPosition(String file, int line, int column)
    implements Comparable<ProblemPosition> {
  private static final Pattern IN_FILE = Pattern.compile("(.*):(\\d+):(\\d+)");

  public static ProblemPosition of(Problem problem) {
    String where = problem.where() == null ? "" : problem.where();
    Matcher matcher = IN_FILE.matcher(where);
    return matcher.matches()
        ? new ProblemPosition(
            matcher.group(1),
            Integer.parseInt(matcher.group(2)),
            Integer.parseInt(matcher.group(3)))
        : new ProblemPosition(where, 0, 0);
  }

  @Override
  public int compareTo(ProblemPosition other) {
    int byFile = file.compareTo(other.file);
    int byLine = byFile != 0 ? byFile : Integer.compare(line, other.line);
    return byLine != 0 ? byLine : Integer.compare(column, other.column);
  }
}
