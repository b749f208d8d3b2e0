package dev.doorbell.experiments.doctor.log;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The lines that are known, the more telling before the more general. Numbers stay; new ones are
 * added at the end of their library.
 */
final class LogPatterns {
  static final List<LogPattern> ALL = all();

  private LogPatterns() {}

  private static List<LogPattern> all() {
    List<LogPattern> patterns = new ArrayList<>();
    NcclPatterns.addTo(patterns);
    NvshmemPatterns.addTo(patterns);
    return List.copyOf(patterns);
  }

  static void add(
      List<LogPattern> to,
      int number,
      String library,
      String regex,
      String meaning,
      String fix,
      String checks,
      String... sources) {
    to.add(
        new LogPattern(
            "DB-LOG-%02d".formatted(number),
            library,
            Pattern.compile(regex),
            meaning,
            fix,
            checks.isEmpty() ? List.of() : List.of(checks.split(" ", -1)),
            Arrays.asList(sources)));
  }
}
