package dev.doorbell.experiments.cli.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.plan.Glossary.ProblemCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

        <!-- Generated from codes.txt by ProblemCodesTest; edit that, not this. -->

        This page lists the code of each message of Doorbell; codes stay the same from version to version. The message prints
        the place, what is wrong there, and the fix; `./doorbell describe DB-C035` prints a code's meaning and fix. Codes such
        as `DB-PEERMEM-02` are those of the [doctor](doctor.md).

        | code | meaning |
        | --- | --- |
        """);
    for (ProblemCodes.ProblemCode code : ProblemCodes.all()) {
      page.append("| %s | %s |%n".formatted(code.code(), cell(code.meaning())));
    }
    if (Boolean.getBoolean("docs.write")) {
      Files.writeString(PAGE, page);
    }
    assertThat(Files.readString(PAGE))
        .as("run: ./doorbell test experiments ProblemCodesTest -Ddocs.write=true")
        .isEqualTo(page.toString());
  }

  private static String cell(String text) {
    return text.replace("|", "\\|");
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
    return name.endsWith(".java") && name.contains("/src/main/java/");
  }
}
