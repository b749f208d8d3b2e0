package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The costs in docs/adapters.md are what the experiments measure: a part of them always, all with
 * {@code -Ddoorbell.whole=true}. {@code -Ddocs.write=true} writes them anew.
 */
class AdapterCostsTest {
  private static final Path PAGE = Path.of("../docs/adapters.md");

  /** An experiment whose medians the page shows. */
  enum Study {
    SIGNAL_ORDER("latency", "signal", "size=64,window=1", "%.2f"),
    UNORDERED_ALLGATHER("collective", "algorithm,signal", "size=1K,algorithm=direct", "%.1f");

    private final String metric;

    /** Axes, with commas between. */
    private final String rows;

    /** What is measured every day. */
    private final String part;

    private final String format;

    Study(String metric, String rows, String part, String format) {
      this.metric = metric;
      this.rows = rows;
      this.part = part;
      this.format = format;
    }

    String experiment() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    String begin() {
      return "<!-- " + experiment() + ": written by AdapterCostsTest -->\n";
    }

    String end() {
      return "<!-- end of " + experiment() + " -->\n";
    }

    List<String> axes() {
      return Pattern.compile(",").splitAsStream(rows).toList();
    }

    List<String> row(JsonNode point) {
      return axes().stream().map(axis -> "`" + point.get(axis).asString() + "`").toList();
    }

    /** The column of a point: its message size, and how many messages a group has. */
    String column(JsonNode point) {
      long size = point.get("size").asLong();
      String text =
          size < 1024
              ? size + " B"
              : size < 1 << 20 ? size / 1024 + " KiB" : size / 1024 / 1024 + " MiB";
      return point.has("window") ? text + ", " + point.get("window").asLong() : text;
    }

    String value(JsonNode point) {
      double nanos = point.at("/metrics/" + metric + "/p50").asDouble();
      return String.format(Locale.ROOT, format, nanos / 1000);
    }
  }

  /** A cell of a table. */
  private record Place(List<String> row, String adapter, String column) {}

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  void a_part_of_the_costs_is_what_the_experiment_measures(Study study) throws IOException {
    Map<Place, String> measured = measure(study, List.of("--only", study.part));
    assertThat(measured).isNotEmpty();
    assertThat(shown(study)).as(stale()).containsAllEntriesOf(measured);
  }

  @ParameterizedTest
  @EnumSource
  void the_costs_are_what_the_experiment_measures(Study study) throws IOException {
    boolean writes = Boolean.getBoolean("docs.write");
    assumeTrue(
        writes || Boolean.getBoolean("doorbell.whole"), "-Ddoorbell.whole=true measures all");
    String text = table(study, measure(study, List.of()));
    if (writes) {
      String page = Files.readString(PAGE);
      int begin = page.indexOf(study.begin()) + study.begin().length();
      Files.writeString(
          PAGE, page.substring(0, begin) + text + page.substring(page.indexOf(study.end())));
    }
    assertThat(block(study)).as(stale()).isEqualTo(text);
  }

  private static String stale() {
    return "docs/adapters.md is stale; run: ./doorbell test experiments AdapterCostsTest"
        + " -Ddocs.write=true";
  }

  private static String block(Study study) throws IOException {
    String page = Files.readString(PAGE);
    return page.substring(
        page.indexOf(study.begin()) + study.begin().length(), page.indexOf(study.end()));
  }

  private Map<Place, String> measure(Study study, List<String> options) {
    // A busy machine fails no test.
    List<String> arguments =
        new ArrayList<>(List.of("run", study.experiment(), "--json", "-s", "timeout=15min"));
    arguments.addAll(options);
    arguments.addAll(List.of("--out", folder.toString()));
    String run = run(arguments).get("run").asString();
    Map<Place, String> cells = new LinkedHashMap<>();
    for (JsonNode point : run(List.of("table", run, "--json")).get("points")) {
      cells.put(
          new Place(study.row(point), point.get("nic").asString(), study.column(point)),
          study.value(point));
    }
    return cells;
  }

  private static JsonNode run(List<String> arguments) {
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    ExitCode code = NamedExperimentsTest.run(output, arguments.toArray(String[]::new));
    String text = output.toString(StandardCharsets.UTF_8);
    assertThat(code).as(text).isEqualTo(ExitCode.OK);
    return JsonMapper.shared().readTree(text);
  }

  /** A line for each row and adapters that have the same figures. */
  private static String table(Study study, Map<Place, String> cells) {
    Set<String> columns = new LinkedHashSet<>();
    Map<List<String>, Map<String, Map<String, String>>> rows = new LinkedHashMap<>();
    cells.forEach(
        (place, value) -> {
          columns.add(place.column);
          rows.computeIfAbsent(place.row, row -> new LinkedHashMap<>())
              .computeIfAbsent(place.adapter, adapter -> new LinkedHashMap<>())
              .put(place.column, value);
        });
    List<String> lines = new ArrayList<>();
    lines.add(line(Stream.of(study.axes(), List.of("on"), columns).flatMap(part -> part.stream())));
    lines.add("|" + " --- |".repeat(study.axes().size() + 1 + columns.size()));
    rows.forEach(
        (row, adapters) ->
            adapters.entrySet().stream()
                .collect(
                    Collectors.groupingBy(
                        Map.Entry::getValue,
                        LinkedHashMap::new,
                        Collectors.mapping(
                            entry -> "`" + entry.getKey() + "`", Collectors.joining(", "))))
                .forEach(
                    (values, names) ->
                        lines.add(
                            line(
                                Stream.of(
                                        row,
                                        List.of(names),
                                        columns.stream()
                                            .map(column -> values.getOrDefault(column, ""))
                                            .toList())
                                    .flatMap(List::stream)))));
    return String.join("\n", lines) + "\n";
  }

  private static String line(Stream<String> cells) {
    return cells.collect(Collectors.joining(" | ", "| ", " |"));
  }

  /** The cells of the page. */
  private static Map<Place, String> shown(Study study) throws IOException {
    List<List<String>> lines =
        block(study)
            .lines()
            .filter(line -> line.startsWith("| "))
            .map(line -> Arrays.stream(line.split("\\|", -1)).skip(1).map(String::strip).toList())
            .toList();
    int first = study.axes().size() + 1;
    Map<Place, String> cells = new LinkedHashMap<>();
    for (List<String> line : lines.subList(2, lines.size())) {
      for (String adapter : line.get(first - 1).replace("`", "").split(", ", -1)) {
        for (int i = first; i < line.size() - 1; i++) {
          cells.put(
              new Place(line.subList(0, first - 1), adapter, lines.getFirst().get(i)), line.get(i));
        }
      }
    }
    return cells;
  }
}
