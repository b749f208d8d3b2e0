package dev.doorbell.experiments.results.print;

import java.util.List;

/**
 * Verdicts as the JUnit XML that continuous integration systems show: a test suite with a test case
 * for each verdict. The elements and attributes are those that Jenkins, GitLab and the common
 * GitHub actions read: {@code testsuite}, {@code testcase}, {@code failure}, {@code error} and
 * {@code skipped}.
 */
public final class JUnitXml {
  private JUnitXml() {}

  /** Outcomes of a test case. */
  public enum Outcome {
    PASSED(""),
    FAILED("failure"),
    /** It could not be decided. */
    UNDECIDED("error"),
    SKIPPED("skipped");

    private final String element;

    Outcome(String element) {
      this.element = element;
    }
  }

  /**
   * A test case.
   *
   * @param group in which reports sort it, such as a metric
   * @param message one sentence; printed where the case has not passed
   */
  public record Case(String group, String name, Outcome outcome, String message) {}

  /** The text of the file, in UTF-8, the same for the same cases. */
  public static String text(String suite, List<Case> cases) {
    StringBuilder text = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text.append(
        "<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n"
            .formatted(
                escaped(suite),
                cases.size(),
                count(cases, Outcome.FAILED),
                count(cases, Outcome.UNDECIDED),
                count(cases, Outcome.SKIPPED)));
    for (Case one : cases) {
      text.append(
          "  <testcase classname=\"%s\" name=\"%s\""
              .formatted(escaped(one.group()), escaped(one.name())));
      text.append(
          one.outcome() == Outcome.PASSED
              ? "/>\n"
              : "><%s message=\"%s\"/></testcase>\n"
                  .formatted(one.outcome().element, escaped(one.message())));
    }
    return text.append("</testsuite>\n").toString();
  }

  private static long count(List<Case> cases, Outcome outcome) {
    return cases.stream().filter(one -> one.outcome() == outcome).count();
  }

  private static String escaped(String text) {
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                case '\n', '\r', '\t' -> out.append(' ');
                default -> {
                  if (c >= ' ') {
                    out.appendCodePoint(c);
                  }
                }
              }
            });
    return out.toString();
  }
}
