package dev.doorbell.experiments.doctor.log;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A line that a library is known to print.
 *
 * @param code stable, {@code DB-LOG-} and a number
 * @param library that prints it
 * @param pattern what is looked for anywhere in a line
 * @param meaning what has happened
 * @param fix what to do
 * @param checks codes of the doctor that look at the same matter
 * @param sources where the line was reported or is printed
 */
public record LogPattern(
    String code,
    String library,
    Pattern pattern,
    String meaning,
    String fix,
    List<String> checks,
    List<String> sources) {
  public LogPattern {
    checks = List.copyOf(checks);
    sources = List.copyOf(sources);
  }

  boolean matches(String line) {
    Matcher matcher = pattern.matcher(line);
    return matcher.find();
  }
}
