package dev.doorbell.experiments.results.paper;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text of a paper. In Markdown, <code>{{number NAME}}</code>, <code>{{figure NAME}}</code> and
 * <code>{{table NAME}}</code> stand for what is generated; in LaTeX, {@code \doorbell{NAME}} and
 * paths that begin with {@code generated/}. A result that is written out by hand is refused.
 */
final class PaperText {
  private static final Pattern PLACEHOLDER =
      Pattern.compile("\\{\\{\\s*(\\w+)\\s+([A-Za-z0-9-]+)\\s*}}");
  private static final Pattern MACRO = Pattern.compile("\\\\doorbell\\{([^}]*)}");
  private static final Pattern GENERATED = Pattern.compile("\\{generated/([^}]*)}");

  /** A number with a unit that only results have. */
  private static final Pattern RESULT =
      Pattern.compile(
          "\\d[\\d.,]*(?:\\s|~|\\\\,|\u00A0)?(?:ns|µs|us|ms|GB/s|Gb/s|\\\\?%)(?![A-Za-z])");

  private final String file;
  private final String text;
  private final List<Problem> problems;

  PaperText(String file, String text, List<Problem> problems) {
    this.file = file;
    this.text = text;
    this.problems = problems;
  }

  /** Texts that replace names. */
  record Generated(
      Map<String, String> numbers,
      Map<String, String> figures,
      Map<String, String> tables,
      Map<String, String> captions) {}

  String markdown(Generated generated) {
    StringBuilder out = new StringBuilder();
    boolean code = false;
    int number = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      code ^= line.startsWith("```");
      if (!code && !line.startsWith("    ")) {
        refuseResults(line.replaceAll("`[^`]*`", ""), number);
      }
      out.append(code ? line : replaced(line, number, generated)).append('\n');
    }
    out.setLength(out.length() - 1);
    return out.toString();
  }

  private String replaced(String line, int number, Generated generated) {
    Matcher matcher = PLACEHOLDER.matcher(line);
    StringBuilder out = new StringBuilder();
    while (matcher.find()) {
      String name = matcher.group(2);
      String with =
          switch (matcher.group(1)) {
            case "number" -> known("number", name, generated.numbers(), number);
            case "table" -> known("table", name, generated.tables(), number).strip();
            case "figure" ->
                "![%s](%s)"
                    .formatted(
                        plain(generated.captions().getOrDefault(name, name)),
                        known("figure", name, generated.figures(), number));
            default -> {
              problem(number, "'%s' is neither number, figure nor table", matcher.group(1));
              yield "";
            }
          };
      matcher.appendReplacement(out, Matcher.quoteReplacement(with));
    }
    return matcher.appendTail(out).toString();
  }

  /** A caption as Markdown that shows it as it is: no markup of HTML, no end of the link's text. */
  private static String plain(String caption) {
    return caption.replace("<", "&lt;").replace("[", "\\[").replace("]", "\\]");
  }

  private String known(String kind, String name, Map<String, String> names, int line) {
    String found = names.get(name);
    if (found == null) {
      problem(
          line, "no %s '%s'%s in paper.yaml", kind, name, Nearest.suggestion(name, names.keySet()));
      return "";
    }
    return found;
  }

  /** LaTeX is left as it is; what it names has to be there. */
  void checkLatex(Set<String> numbers, Set<String> files) {
    int number = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      String plain = line.replaceAll("(?<!\\\\)%.*", "");
      Matcher macro = MACRO.matcher(plain);
      while (macro.find()) {
        if (!numbers.contains(macro.group(1)) && !macro.group(1).startsWith("#")) {
          problem(
              number,
              "no number '%s'%s in paper.yaml",
              macro.group(1),
              Nearest.suggestion(macro.group(1), numbers));
        }
      }
      Matcher path = GENERATED.matcher(plain);
      while (path.find()) {
        String name = path.group(1);
        if (!files.contains(name)
            && !files.contains(name + ".tex")
            && !files.contains(name + ".pdf")
            && files.stream().noneMatch(file -> file.startsWith(name + "/"))) {
          problem(number, "nothing generates '%s'", "generated/" + name);
        }
      }
      refuseResults(plain, number);
    }
  }

  private void refuseResults(String line, int number) {
    Matcher result = RESULT.matcher(PLACEHOLDER.matcher(line).replaceAll(""));
    if (result.find()) {
      problem(
          number,
          "'%s' is a result written by hand: name it under 'numbers', with its source",
          result.group());
    }
  }

  private void problem(int line, String what, Object... parts) {
    List<Object> all = new ArrayList<>(List.of(parts));
    problems.add(Problem.of("DB-C072", file + ":" + line, what.formatted(all.toArray())));
  }
}
