package dev.doorbell.doctor.log;

import dev.doorbell.doctor.report.Paragraphs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The lines of a log that are recognised.
 *
 * @param lines number of lines in the log
 * @param matches recognised patterns, in the order of first appearance
 */
public record LogDiagnosis(int lines, List<Match> matches) {
  private static final int SHOWN = 160;

  /**
   * A pattern and where it was found.
   *
   * @param count number of lines that match
   * @param first number of the first such line, from 1
   * @param line the first such line
   */
  public record Match(LogPattern pattern, int count, int first, String line) {}

  public LogDiagnosis {
    matches = List.copyOf(matches);
  }

  /** Reads a log; each line is taken for the first pattern that it matches. */
  public static LogDiagnosis of(String log) {
    Map<LogPattern, Match> found = new LinkedHashMap<>();
    int number = 0;
    for (String line : log.lines().toList()) {
      number++;
      Optional<LogPattern> pattern = LogPattern.matching(line);
      if (pattern.isPresent()) {
        Match fresh = new Match(pattern.get(), 1, number, line.strip());
        found.merge(
            pattern.get(),
            fresh,
            (old, _) -> new Match(old.pattern, old.count + 1, old.first, old.line));
      }
    }
    return new LogDiagnosis(number, new ArrayList<>(found.values()));
  }

  /** Returns a text for a terminal. */
  public String text() {
    StringBuilder text = new StringBuilder();
    int recognised = 0;
    for (Match match : matches) {
      recognised += match.count;
      text.append(
          "%s  %s  line %d%s%n"
              .formatted(
                  match.pattern.code(),
                  match.pattern.library(),
                  match.first,
                  match.count == 1 ? "" : " and %d more".formatted(match.count - 1)));
      text.append("  | ").append(shortened(match.line)).append('\n');
      Paragraphs.add(text, "  means   ", match.pattern.meaning());
      if (!match.pattern.fix().isEmpty()) {
        Paragraphs.add(text, "  fix     ", match.pattern.fix());
      }
      if (!match.pattern.checks().isEmpty()) {
        Paragraphs.add(
            text, "  see     ", "doctor --explain " + String.join(", ", match.pattern.checks()));
      }
      text.append('\n');
    }
    return text.append(
            "%d of %d lines recognised, %d kinds%n".formatted(recognised, lines, matches.size()))
        .toString();
  }

  private static String shortened(String line) {
    return line.length() <= SHOWN ? line : line.substring(0, SHOWN - 3) + "...";
  }

  /** Returns plain maps, lists, words and numbers, ready to be written as JSON. */
  public Map<String, Object> json() {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("lines", lines);
    report.put("matches", matches.stream().map(LogDiagnosis::object).toList());
    return report;
  }

  private static Map<String, Object> object(Match match) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("code", match.pattern.code());
    object.put("library", match.pattern.library());
    object.put("count", match.count);
    object.put("firstLine", match.first);
    object.put("line", match.line);
    object.put("meaning", match.pattern.meaning());
    object.put("fix", match.pattern.fix());
    object.put("checks", match.pattern.checks());
    return object;
  }

  /** Returns everything about one pattern. */
  public static String explain(LogPattern pattern) {
    StringBuilder text = new StringBuilder();
    text.append("%s  a line of %s's log%n".formatted(pattern.code(), pattern.library()));
    text.append("  pattern   ").append(pattern.pattern().pattern()).append('\n');
    Paragraphs.add(text, "  means     ", pattern.meaning());
    if (!pattern.fix().isEmpty()) {
      Paragraphs.add(text, "  fix       ", pattern.fix());
    }
    if (!pattern.checks().isEmpty()) {
      Paragraphs.add(text, "  see       ", String.join(", ", pattern.checks()));
    }
    pattern.sources().forEach(source -> Paragraphs.add(text, "  source    ", source));
    return text.toString();
  }
}
