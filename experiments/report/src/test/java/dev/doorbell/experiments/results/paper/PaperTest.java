package dev.doorbell.experiments.results.paper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PaperTest {
  private static final String HEAD = "paper: mine\ntext: [paper.md]\n";

  private static List<String> problems(String text) {
    ConfigException wrong =
        catchThrowableOfType(ConfigException.class, () -> Paper.parse("paper.yaml", text));
    return wrong.problems().stream().map(each -> each.where() + " " + each.what()).toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"pull-vs-push", "many-ranks"})
  void the_papers_of_the_repository_are_sound(String name) throws ConfigException {
    Paper paper = Paper.read(Path.of("../papers", name));
    assertThat(paper.name()).isEqualTo(name);
    assertThat(paper.runs()).isNotEmpty();
    assertThat(paper.numbers()).isNotEmpty();
  }

  @Test
  void defaults_are_those_of_the_page() throws ConfigException {
    Paper paper =
        Paper.parse(
            "paper.yaml",
            HEAD
                + """
                runs: {main: {experiment: pull-vs-push, set: [size=64]}}
                figures: {f: {run: main, kind: line, y: latency, caption: c}}
                tables: {t: {run: main}}
                numbers:
                  a: {run: main, value: "latency{size=64}"}
                  b: {value: 1.5, basis: exact, digits: 4}
                """);
    assertThat(paper.runs().get("main"))
        .isEqualTo(new Paper.Run("pull-vs-push", List.of("size=64"), "", "", ""));
    assertThat(Objects.requireNonNull(paper.figures().get("f")).caption()).isEqualTo("c");
    assertThat(Objects.requireNonNull(paper.figures().get("f")).shown().name()).isEqualTo("f");
    assertThat(paper.tables().get("t"))
        .isEqualTo(new Paper.Table("main", "summary", "", List.of(), "", List.of(), ""));
    assertThat(paper.numbers().get("a"))
        .isEqualTo(new Paper.Quantity("latency{size=64}", "main", "", "", 3, "modelled", ""));
    assertThat(paper.numbers().get("b"))
        .isEqualTo(new Paper.Quantity("1.5", "", "", "", 4, "exact", ""));
  }

  @Test
  void the_schema_names_line_column_and_nearest_word() {
    assertThat(
            problems(
                HEAD
                    + """
                    runs: {main: {experimnt: a}}
                    tables: {t: {run: main, show: sumary}}
                    numbers:
                      a: {value: 1}
                      b: {value: 1, basis: cited}
                      c: {basis: exact}
                    """))
        .containsExactly(
            "paper.yaml:3:15 unknown key 'experimnt' in main  - did you mean 'experiment'?",
            "paper.yaml:4:31 unknown show 'sumary'  - did you mean 'summary'?",
            "paper.yaml:6:6 key 'basis' is missing",
            "paper.yaml:7:6 key 'source' is missing",
            "paper.yaml:8:6 key 'value' is missing");
  }

  @Test
  void what_one_part_says_of_another_is_checked() {
    assertThat(
            problems(
                HEAD
                    + """
                    runs:
                      main: {experiment: a, calibrate: b}
                      Other: {experiment: a}
                    figures: {f: {run: mine, kind: line, y: latency}}
                    tables: {t: {run: main, show: residuals, measured: man}}
                    numbers: {n: {run: non, value: 1}}
                    """))
        .containsExactly(
            "paper.yaml:4:3 run 'main' needs one of 'experiment', 'calibrate' and 'stored'",
            "paper.yaml:5:3 run 'Other': a name of a run is lower-case letters, digits and hyphens",
            "paper.yaml:6:20 unknown run 'mine'  - known: main, Other",
            "paper.yaml:7:52 unknown run 'man'  - did you mean 'main'?",
            "paper.yaml:8:20 unknown run 'non'  - known: main, Other");
  }
}
