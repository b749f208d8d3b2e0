package dev.doorbell.experiments.config.figure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.document.YamlDocument;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.config.schema.Vocabulary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class FigureReaderTest {

  private static ExperimentConfig config(String figure) throws ConfigException {
    String text = Configs.SMALL.replaceFirst("(?s)outputs:.*", "").stripTrailing();
    return new ConfigReader(Vocabulary.anything())
        .read("own.yaml", text + "\noutputs:\n  figures:\n    - " + figure + "\n", List.of());
  }

  private static String refused(String figure) {
    try {
      return config(figure).figures().toString();
    } catch (ConfigException e) {
      return e.problems().stream().map(Problem::text).collect(Collectors.joining("\n"));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          LINE     | {name: f, x: size, y: latency, series: path}
          CDF      | {name: f, kind: cdf, y: latency, series: path}
          BAR      | {name: f, kind: bar, x: path, y: latency, series: size}
          HEATMAP  | {name: f, kind: heatmap, x: size, rows: placement, series: path, y: latency}
          TORNADO  | {name: f, kind: tornado, y: latency, only: 'path=pull', share: 10}
          TIMELINE | {name: f, kind: timeline, only: 'path=pull,size=64'}
          """)
  void every_kind_can_be_asked_for_in_a_config(FigureKind kind, String figure)
      throws ConfigException {
    String three = figure.replace("rows: placement", "rows: qps");
    ExperimentConfig config =
        new ConfigReader(Vocabulary.anything())
            .read(
                "own.yaml",
                Configs.SMALL.replaceFirst("(?s)outputs:.*", "").stripTrailing()
                    + "\noutputs:\n  figures:\n    - "
                    + three
                    + "\n",
                List.of("qps=1,2"));
    assertThat(config.figures()).singleElement().extracting(FigureSpec::kind).isEqualTo(kind);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {name: f, kind: heat, y: latency}                  | did you mean 'heatmap'
          {name: f, y: latency}                              | a figure of kind line needs the key 'x'
          {name: f, kind: tornado}                           | a figure of kind tornado needs the key 'y'
          {name: f, x: path, y: latency}                     | axis 'path' holds words, and a line needs numbers
          {name: f, kind: bar, x: sise, y: latency}          | did you mean 'size'
          {name: f, x: size, y: bandwith}                    | did you mean 'goodput'
          {name: f, x: size, y: latency, series: size}       | 'size' is both x and series
          {name: f, x: size, y: latency, rows: path}         | 'rows' means nothing in a figure of kind line
          {name: f, kind: tornado, y: latency, x: size}      | 'x' means nothing in a figure of kind tornado
          {name: f, kind: tornado, y: latency, only: 'a=1'}  | unknown setting 'a'
          {name: f, kind: tornado, y: latency, share: 200}   | share 200 is out of range
          {name: f, x: size, y: latency, colour: red}        | unknown key 'colour'
          {x: size, y: latency}                              | key 'name' is missing
          """)
  void what_is_wrong_with_a_figure_is_said_with_its_place(String figure, String said) {
    assertThat(refused(figure)).contains("own.yaml:", said);
  }

  @Test
  void a_figure_of_a_paper_is_read_by_the_same_rules_and_leaves_the_rest_open()
      throws ConfigException {
    List<Problem> problems = new ArrayList<>();
    YamlDocument.Parsed document =
        YamlDocument.parse(
            "paper.yaml",
            """
            figures:
              a: {run: r, kind: bar, y: latency, caption: c}
              b: {run: r, kind: pie}
            """,
            "paper");
    FigureReader reader = new FigureReader(document.root(), document.positions(), problems);
    Set<String> beside = Set.of("run", "caption");
    assertThat(reader.figure("/figures/a", beside))
        .isEqualTo(
            new FigureSpec(
                FigureKind.BAR,
                "",
                "",
                "latency",
                "",
                "",
                "",
                List.of(),
                null,
                null,
                FigureSpec.SHARE,
                "",
                "",
                "",
                FigureStyle.DEFAULT));
    assertThat(problems).isEmpty();
    assertThat(reader.figure("/figures/b", beside)).isNull();
    assertThat(problems).singleElement().extracting(Problem::where).isEqualTo("paper.yaml:3:21");
  }

  @Test
  void options_of_the_command_line_are_named_where_they_are_wrong() {
    SequencedMap<String, String> given = new LinkedHashMap<>(Map.of("rows", "path"));
    SequencedMap<String, String> options = new LinkedHashMap<>(Map.of("rows", "--rows"));
    assertThatThrownBy(() -> FigureReader.ofOptions(given, options))
        .isInstanceOfSatisfying(
            ConfigException.class,
            e -> assertThat(e.problems().getFirst().text()).startsWith("--rows path  DB-C010"));
  }

  @ParameterizedTest
  @EnumSource
  void the_schema_has_every_kind(FigureKind kind) {
    assertThat(Schema.strings(Schema.experiment().root().at("/$defs/figure/properties/kind/enum")))
        .contains(kind.word());
  }
}
