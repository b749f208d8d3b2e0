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
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tables of pages are what experiments measure: a part of each always, all with {@code
 * -Ddoorbell.whole=true}. {@code -Ddocs.write=true} writes them anew.
 */
class PageTablesTest {
  private static final Path PAGES = Path.of("../docs");

  /** An experiment whose medians a page shows. */
  enum Study {
    SIGNAL_ORDER(
        "adapters.md",
        "signal",
        true,
        "size=64,window=1",
        point ->
            Map.of(
                size(point.get("size")) + ", " + point.get("window").asLong(),
                micros(point, "latency", "%.2f"))),
    UNORDERED_ALLGATHER(
        "adapters.md",
        "algorithm,signal",
        true,
        "size=1K,algorithm=direct",
        point -> Map.of(size(point.get("size")), micros(point, "collective", "%.1f")));

    private final String page;

    /** Axes, with commas between. */
    private final String rows;

    /** Adapters that have the same figures share a row. */
    private final boolean ofAdapters;

    /** What is measured every day. */
    private final String part;

    /** What stands in which columns. */
    @SuppressWarnings("ImmutableEnumChecker") // the functions have no state
    private final Function<JsonNode, Map<String, String>> cells;

    Study(
        String page,
        String rows,
        boolean ofAdapters,
        String part,
        Function<JsonNode, Map<String, String>> cells) {
      this.page = page;
      this.rows = rows;
      this.ofAdapters = ofAdapters;
      this.part = part;
      this.cells = cells;
    }

    String experiment() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    Path file() {
      return PAGES.resolve(page);
    }

    String begin() {
      return "<!-- " + experiment() + ": written by PageTablesTest -->\n";
    }

    String end() {
      return "<!-- end of " + experiment() + " -->\n";
    }

    List<String> axes() {
      return Pattern.compile(",").splitAsStream(rows).toList();
    }

    /** What stands before the cells. */
    List<String> heads() {
      return ofAdapters ? Stream.concat(axes().stream(), Stream.of("on")).toList() : axes();
    }

    List<String> row(JsonNode point) {
      return axes().stream()
          .map(point::get)
          .map(value -> value.isNumber() ? size(value) : "`" + value.asString() + "`")
          .toList();
    }

    private static String size(JsonNode bytes) {
      long size = bytes.asLong();
      return size < 1024
          ? size + " B"
          : size < 1 << 20 ? size / 1024 + " KiB" : size / 1024 / 1024 + " MiB";
    }

    private static String micros(JsonNode point, String metric, String format) {
      double nanos = point.at("/metrics/" + metric + "/p50").asDouble();
      return String.format(Locale.ROOT, format, nanos / 1000);
    }
  }

  /** A cell of a table; of no adapter where the table has none. */
  private record Place(List<String> row, String adapter, String column) {
    Place on(String other) {
      return new Place(row, other, column);
    }
  }

  /** The adapter whose figures a table always has. */
  private static final String USUAL = "cx7";

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  void a_part_of_a_table_is_what_the_experiment_measures(Study study) throws IOException {
    Map<Place, String> measured = measure(study, List.of("--only", study.part));
    assertThat(measured).isNotEmpty();
    assertThat(shown(study)).as(stale(study)).containsAllEntriesOf(measured);
  }

  @ParameterizedTest
  @EnumSource
  void a_table_is_what_the_experiment_measures(Study study) throws IOException {
    boolean writes = Boolean.getBoolean("docs.write");
    assumeTrue(
        writes || Boolean.getBoolean("doorbell.whole"), "-Ddoorbell.whole=true measures all");
    String text = table(study, measure(study, List.of()));
    if (writes) {
      String page = Files.readString(study.file());
      int begin = page.indexOf(study.begin()) + study.begin().length();
      Files.writeString(
          study.file(),
          page.substring(0, begin) + text + page.substring(page.indexOf(study.end())));
    }
    assertThat(block(study)).as(stale(study)).isEqualTo(text);
  }

  private static String stale(Study study) {
    return "docs/%s is stale; run: ./doorbell test experiments PageTablesTest -Ddocs.write=true"
        .formatted(study.page);
  }

  private static String block(Study study) throws IOException {
    String page = Files.readString(study.file());
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
      String adapter = study.ofAdapters ? point.get("nic").asString() : "";
      study
          .cells
          .apply(point)
          .forEach(
              (column, value) -> cells.put(new Place(study.row(point), adapter, column), value));
    }
    Map<Place, String> shown = new LinkedHashMap<>(cells);
    shown.keySet().removeIf(place -> study.ofAdapters && isAsUsual(place, cells));
    return shown;
  }

  /** Adapters whose figures of a row are within 5 % of the default adapter's have no row. */
  private static boolean isAsUsual(Place place, Map<Place, String> cells) {
    return !place.adapter.equals(USUAL)
        && cells.keySet().stream()
            .filter(each -> each.row.equals(place.row) && each.adapter.equals(place.adapter))
            .allMatch(each -> isNear(cells.get(each), cells.get(each.on(USUAL))));
  }

  private static boolean isNear(@Nullable String value, @Nullable String usual) {
    return value != null
        && usual != null
        && Math.abs(Double.parseDouble(value) / Double.parseDouble(usual) - 1) <= 0.05;
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
    lines.add(line(Stream.of(study.heads(), columns).flatMap(part -> part.stream())));
    lines.add("|" + " --- |".repeat(study.heads().size() + columns.size()));
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
                                        study.ofAdapters ? List.of(names) : List.<String>of(),
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
    int axes = study.axes().size();
    int first = study.heads().size();
    Map<Place, String> cells = new LinkedHashMap<>();
    for (List<String> line : lines.subList(2, lines.size())) {
      String adapters = study.ofAdapters ? line.get(axes).replace("`", "") : "";
      for (String adapter : adapters.split(", ", -1)) {
        for (int i = first; i < line.size() - 1; i++) {
          cells.put(
              new Place(line.subList(0, axes), adapter, lines.getFirst().get(i)), line.get(i));
        }
      }
    }
    return cells;
  }
}
