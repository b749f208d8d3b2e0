package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.schema.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How the model runs a row: one point and what is read of it, or a sum of such terms.
 *
 * <pre>
 *   config    = term { (" + " | " - ") term } [ " / " number ] | "none:" reason
 *   term      = setting { " " setting } " | " metric [ " " statistic ]
 *   setting   = name "=" value
 *   statistic = median | p99 | min | max
 * </pre>
 *
 * @param terms what is added up; empty where the row cannot be run
 * @param divisor of the sum
 * @param reason why the row cannot be run; null where it can
 */
record RowConfig(List<Term> terms, double divisor, @Nullable String reason) {
  private static final Pattern DIVIDED = Pattern.compile("(.*)\\s/\\s*([0-9]+(?:\\.[0-9]+)?)\\s*");
  private static final Pattern SIGN = Pattern.compile("\\s([+-])\\s");
  private static final String NONE = "none:";

  /** Keys of a config beside the settings of experiments. */
  static final List<String> OTHER_KEYS = List.of("kernel", "samples", "warmup", "seed");

  /** What is read of samples. */
  enum Statistic {
    MEDIAN,
    P99,
    MIN,
    MAX
  }

  /**
   * One point and what is read of it.
   *
   * @param sign 1 or -1
   * @param settings of the form {@code key=value}
   */
  record Term(int sign, List<String> settings, String metric, Statistic statistic) {}

  /**
   * Reads the text of a config.
   *
   * @param place of the row, for problems
   * @throws ConfigException with every problem at once
   */
  static RowConfig parse(String place, String text) throws ConfigException {
    if (text.startsWith(NONE)) {
      return new RowConfig(List.of(), 1, text.substring(NONE.length()).strip());
    }
    List<Problem> problems = new ArrayList<>();
    Matcher divided = DIVIDED.matcher(text);
    boolean quotient = divided.matches();
    String sum = quotient ? divided.group(1) : text;
    double divisor = quotient ? Double.parseDouble(divided.group(2)) : 1;
    if (divisor == 0) {
      problems.add(wrong(place, "the config divides by 0"));
    }
    List<Term> terms = new ArrayList<>();
    Matcher signs = SIGN.matcher(sum);
    int from = 0;
    int sign = 1;
    while (signs.find()) {
      terms.add(term(place, sign, sum.substring(from, signs.start()), problems));
      sign = signs.group(1).equals("-") ? -1 : 1;
      from = signs.end();
    }
    terms.add(term(place, sign, sum.substring(from), problems));
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return new RowConfig(terms, divisor, null);
  }

  private static Term term(String place, int sign, String text, List<Problem> problems) {
    List<String> halves = List.of(text.strip().split("\\|", -1));
    if (halves.size() != 2 || halves.stream().anyMatch(String::isBlank)) {
      problems.add(
          wrong(
              place,
              "'%s' is not a config such as 'kernel=put_price size=8 | post'"
                  .formatted(text.strip())));
      return new Term(sign, List.of(), "", Statistic.MEDIAN);
    }
    List<String> settings = List.of(halves.getFirst().strip().split("\\s+"));
    settings.forEach(setting -> check(place, setting, problems));
    if (settings.stream().noneMatch(setting -> setting.startsWith("kernel="))) {
      problems.add(wrong(place, "'%s' names no kernel".formatted(text.strip())));
    }
    List<String> read = List.of(halves.getLast().strip().split("\\s+"));
    List<String> metrics = List.copyOf(Schema.experiment().metrics().keySet());
    if (!metrics.contains(read.getFirst())) {
      problems.add(
          wrong(
              place,
              "unknown metric '%s'%s"
                  .formatted(read.getFirst(), Nearest.suggestion(read.getFirst(), metrics))));
    }
    return new Term(sign, settings, read.getFirst(), statistic(place, read, problems));
  }

  private static void check(String place, String setting, List<Problem> problems) {
    int equals = setting.indexOf('=');
    String key = equals < 0 ? setting : setting.substring(0, equals);
    List<String> known = new ArrayList<>(OTHER_KEYS);
    known.addAll(Schema.experiment().settings().keySet());
    if (key.equals("placement")) {
      problems.add(
          wrong(place, "a config has no placement: the row's machine says on which topology"));
    } else if (equals < 0 || equals == setting.length() - 1) {
      problems.add(
          wrong(place, "'%s' is not a setting such as size=8 or batch=16".formatted(setting)));
    } else if (!known.contains(key)) {
      problems.add(
          wrong(place, "unknown setting '%s'%s".formatted(key, Nearest.suggestion(key, known))));
    }
  }

  private static Statistic statistic(String place, List<String> read, List<Problem> problems) {
    String word = read.size() == 1 ? "median" : String.join(" ", read.subList(1, read.size()));
    for (Statistic statistic : Statistic.values()) {
      if (statistic.name().equalsIgnoreCase(word)) {
        return statistic;
      }
    }
    problems.add(
        wrong(place, "'%s' behind the metric is none of median, p99, min, max".formatted(word)));
    return Statistic.MEDIAN;
  }

  private static Problem wrong(String place, String what) {
    return Problem.of("DB-C081", place, what);
  }
}
