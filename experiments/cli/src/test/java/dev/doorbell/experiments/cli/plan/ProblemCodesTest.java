package dev.doorbell.experiments.cli.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.plan.Glossary.ProblemCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whatever code a problem has, the list of codes explains, and no other. */
class ProblemCodesTest {
  private static final Path HOME = Path.of("..");
  private static final Path PAGE = HOME.resolve("docs/codes.md");
  private static final Path CODES =
      HOME.resolve(
          "experiments/cli/src/main/resources/dev/doorbell/experiments/cli/plan/codes.txt");
  private static final Pattern CODE = Pattern.compile("DB-[A-Z]\\d{3}");

  @Test
  void every_code_of_the_sources_is_explained() throws IOException {
    List<String> explained =
        ProblemCodes.all().stream().map(ProblemCodes.ProblemCode::code).toList();
    assertThat(explained)
        .as("cli/plan/codes.txt")
        .doesNotHaveDuplicates()
        .containsExactlyElementsOf(inSources());
  }

  @Test
  void meanings_and_fixes_are_sentences() {
    assertThat(ProblemCodes.all())
        .allSatisfy(
            code -> {
              assertThat(code.meaning()).as(code.code()).matches("[A-Z`].{15,}\\.");
              assertThat(code.fix()).as(code.code()).hasSizeGreaterThan(15);
            });
  }

  @Test
  void the_page_is_what_describe_says() throws IOException {
    StringBuilder page = new StringBuilder();
    page.append(
        """
        # Codes of problems

        <!-- Generated from codes.txt by ProblemCodesTest. -->

        Each message of Doorbell has a code, which stays the same from version to version. The message prints the place,
        the fault, its effect and the fix. `./doorbell describe DB-C035` prints meaning and fix of a code, and
        [codes.txt](../experiments/cli/src/main/resources/dev/doorbell/experiments/cli/plan/codes.txt) has all codes, one
        a line. Codes such as `DB-PEERMEM-02` are those of the [doctor](doctor.md).

        | codes | number | about |
        | --- | --- | --- |
        """);
    areas()
        .forEach(
            (area, codes) ->
                page.append(
                    "| %s to %s | %d | %s |%n"
                        .formatted(codes.getFirst(), codes.getLast(), codes.size(), area)));
    if (Boolean.getBoolean("docs.write")) {
      Files.writeString(PAGE, page);
    }
    assertThat(Files.readString(PAGE))
        .as("run: ./doorbell test experiments ProblemCodesTest -Ddocs.write=true")
        .isEqualTo(page.toString());
  }

  /** Codes by the headings of the list, in the order of the file. */
  private static Map<String, List<String>> areas() throws IOException {
    Map<String, List<String>> areas = new LinkedHashMap<>();
    String heading = "";
    for (String line : Files.readAllLines(CODES)) {
      if (line.startsWith("# ")) {
        heading = line.substring(2);
      } else {
        areas
            .computeIfAbsent(heading, _ -> new ArrayList<>())
            .add(line.substring(0, line.indexOf(' ')));
      }
    }
    return areas;
  }

  private static SortedSet<String> inSources() throws IOException {
    SortedSet<String> codes = new TreeSet<>();
    try (Stream<Path> files = Files.find(HOME, 20, (path, what) -> isMainSource(path))) {
      for (Path file : files.toList()) {
        Matcher code = CODE.matcher(Files.readString(file));
        while (code.find()) {
          codes.add(code.group());
        }
      }
    }
    return codes;
  }

  private static boolean isMainSource(Path path) {
    String name = path.toString();
    return (name.endsWith("Kind.yaml") && name.contains("/src/main/resources/"))
        || (name.endsWith(".java") && name.contains("/src/main/java/"));
  }
}
