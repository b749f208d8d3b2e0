package dev.doorbell.doctor.log;

import dev.doorbell.doctor.report.Paragraphs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The lines of a log that are recognised.
 *
 * @param lines number of lines in the log
 * @param matches recognised patterns, in the order of first appearance
 * @param unknown lines by number that report something and are not recognised; all where none is
 */
public record LogDiagnosis(int lines, List<Match> matches, SortedMap<Integer, String> unknown) {
  private static final int SHOWN = 160;
  private static final int UNKNOWN_SHOWN = 10;
  private static final Pattern REPORT =
      Pattern.compile(
          "^\\s*[EFW]\\d{4} " // glog's mark of an error, a fatal one or a warning
              + "|(?i)\\b(warn(ing)?|err(or)?|fail(ed|ure)?|fatal|cannot|unable|abort(ed|ing)?)\\b");

  /** Local protection errors beside one of these are the IOMMU's doing. */
  private static final Set<String> IOMMU = Set.of("DB-LOG-350", "DB-LOG-351", "DB-LOG-352");

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
    unknown = new TreeMap<>(unknown);
  }

  /** Reads a log; each line is taken for the first pattern that it matches. */
  public static LogDiagnosis of(String log) {
    SortedMap<Integer, String> lines = new TreeMap<>();
    log.lines().forEach(line -> lines.put(lines.size() + 1, line));
    return of(lines);
  }

  /** Reads lines by their numbers. */
  public static LogDiagnosis of(SortedMap<Integer, String> lines) {
    Map<LogPattern, Match> found = new LinkedHashMap<>();
    SortedMap<Integer, String> unknown = new TreeMap<>();
    for (Map.Entry<Integer, String> each : lines.entrySet()) {
      String line = each.getValue();
      Optional<LogPattern> pattern = LogPattern.matching(line);
      if (pattern.isPresent()) {
        Match fresh = new Match(pattern.get(), 1, each.getKey(), line.strip());
        found.merge(
            pattern.get(),
            fresh,
            (old, _) -> new Match(old.pattern, old.count + 1, old.first, old.line));
      } else if (REPORT.matcher(line).find()) {
        unknown.put(each.getKey(), line.strip());
      }
    }
    if (found.isEmpty()) {
      lines.forEach((number, line) -> unknown.put(number, line.strip()));
    }
    return new LogDiagnosis(lines.size(), new ArrayList<>(found.values()), unknown);
  }

  /** Returns the number of lines that are recognised. */
  public int recognised() {
    return matches.stream().mapToInt(Match::count).sum();
  }

  /** Returns a text for a terminal. */
  public String text() {
    StringBuilder text = new StringBuilder();
    for (Match match : matches) {
      text.append(
          "%s  %s  line %d%s%n"
              .formatted(
                  match.pattern.code(),
                  match.pattern.library(),
                  match.first,
                  match.count == 1 ? "" : " and %d more".formatted(match.count - 1)));
      text.append("  | ").append(shortened(match.line)).append('\n');
      CompletionError.in(match.line)
          .ifPresent(error -> Paragraphs.add(text, "  status  ", error.text()));
      Paragraphs.add(text, "  means   ", match.pattern.meaning());
      Paragraphs.add(text, "  fix     ", match.pattern.fix());
      if (!match.pattern.checks().isEmpty()) {
        Paragraphs.add(
            text, "  see     ", "doctor --explain " + String.join(", ", match.pattern.checks()));
      }
      text.append('\n');
    }
    if (has(IOMMU) && has(Set.of("DB-LOG-12"))) {
      text.append(
          "the IOMMU stopped the access: the local protection error is its consequence\n\n");
    }
    unknown.entrySet().stream()
        .limit(UNKNOWN_SHOWN)
        .forEach(
            line ->
                text.append("not understood  line %d%n".formatted(line.getKey()))
                    .append("  | %s%n".formatted(shortened(line.getValue()))));
    if (unknown.size() > UNKNOWN_SHOWN) {
      text.append("not understood  %d more%n".formatted(unknown.size() - UNKNOWN_SHOWN));
    }
    return text.append(
            "%d of %d lines recognised, %d kinds%n".formatted(recognised(), lines, matches.size()))
        .toString();
  }

  /** Returns true if a line of one of these codes was recognised. */
  public boolean has(Set<String> codes) {
    return matches.stream().anyMatch(match -> codes.contains(match.pattern.code()));
  }

  private static String shortened(String line) {
    return line.length() <= SHOWN ? line : line.substring(0, SHOWN - 3) + "...";
  }

  /** Returns everything about one pattern. */
  public static String explain(LogPattern pattern) {
    StringBuilder text = new StringBuilder();
    text.append(
        "%s  %s%n"
            .formatted(
                pattern.code(),
                pattern.status() > 0
                    ? "a completion in error"
                    : "a line of %s's log".formatted(pattern.library())));
    text.append("  pattern   ").append(pattern.looksFor()).append('\n');
    Paragraphs.add(text, "  means     ", pattern.meaning());
    Paragraphs.add(text, "  fix       ", pattern.fix());
    Paragraphs.add(text, "  see       ", String.join(", ", pattern.checks()));
    pattern.sources().forEach(source -> Paragraphs.add(text, "  source    ", source));
    return text.toString();
  }
}
