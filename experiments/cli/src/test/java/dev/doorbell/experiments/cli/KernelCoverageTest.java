package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.workbench.explore.Laboratory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code kernels/coverage.csv} says how much of each kernel {@code explore} covers. */
class KernelCoverageTest {
  private static final Path PAGE = Path.of("../docs/adapters.md");
  private static final Path TABLE = Path.of("../kernels/coverage.csv");

  /** Reruns in seconds. */
  private static final String SHORT = "put_light";

  /**
   * Files of the device library, with the purpose of their branches, in the order of the columns.
   */
  private static final Map<String, Pattern> LIBRARY = new LinkedHashMap<>();

  static {
    LIBRARY.put("other orders of a post", Pattern.compile("\\bminimal[.]cuh"));
    LIBRARY.put("queues of other adapters", Pattern.compile("\\b(efa|elsewhere)\\w*[.]cuh"));
    LIBRARY.put("the proxy", Pattern.compile("\\b(proxy|command_queue)[.]cuh"));
    LIBRARY.put("errors and deadlines and kinds of CQ", Pattern.compile("\\bcompletion[.]cuh"));
    LIBRARY.put(
        "full rings and ways to ring",
        Pattern.compile("\\b(post|exclusive|handoff\\w*|queue_pair)[.]cuh"));
    LIBRARY.put("other paths and requests", Pattern.compile("[.]cuh"));
  }

  private final Session session = new Session();

  /** The row of a kernel, or nothing where {@code explore} refuses it. */
  private String row(String kernel) {
    if (session.type("explore", kernel, "--seeds", "20", "--budget", "20m", "--json")
        == ExitCode.USAGE) {
      return "";
    }
    JsonNode json = JsonMapper.shared().readTree(session.out());
    List<JsonNode> worlds =
        json.has("worlds") ? json.get("worlds").valueStream().toList() : List.of(json);
    JsonNode coverage = json.get("coverage");
    List<String> tried = new ArrayList<>();
    int runs = 0;
    for (JsonNode world : worlds) {
      String options = world.path("world").asString("");
      tried.add(options.isEmpty() ? "default" : options);
      runs += world.get("finished").asInt();
    }
    int ways = coverage.get("ways").asInt();
    int pairs = coverage.get("pairs").asInt();
    return "%s,%s,%d,%d,%d,%d,%d,%d,%d,%s,%s\n"
        .formatted(
            kernel,
            String.join("; ", tried),
            runs,
            coverage.get("instructions_executed").asInt(),
            coverage.get("instructions").asInt(),
            ways - coverage.get("never_taken").size(),
            ways,
            pairs - coverage.get("one_order").size(),
            pairs,
            verdict(json.get("verdict").asString()),
            left(kernel, coverage.get("never_taken")));
  }

  private static String head() {
    return "kernel,worlds,schedules,instructions executed,instructions,ways taken,ways out of branches,"
        + "pairs in both orders,pairs,verdict,not taken: the kernel's own file,"
        + LIBRARY.keySet().stream()
            .map(what -> "not taken: " + what)
            .collect(Collectors.joining(","))
        + "\n";
  }

  private static String verdict(String word) {
    return switch (word) {
      case "clean" -> "CLEAN";
      case "not_covered" -> "no finding";
      default -> word;
    };
  }

  /** Counts the ways that were not taken, by their purpose. */
  private static String left(String kernel, JsonNode untaken) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    LIBRARY.keySet().forEach(what -> counts.put(what, 0));
    int own = 0;
    for (JsonNode way : untaken) {
      String source = way.path("source").asString("");
      String of =
          LIBRARY.entrySet().stream()
              .filter(each -> !source.startsWith(kernel + ".cu:"))
              .filter(each -> each.getValue().matcher(source).find())
              .map(Map.Entry::getKey)
              .findFirst()
              .orElse("");
      own += of.isEmpty() ? 1 : 0;
      counts.computeIfPresent(of, (what, count) -> count + 1);
    }
    return own + counts.values().stream().map(count -> "," + count).collect(Collectors.joining());
  }

  @Test
  void every_kernel_has_a_row_or_a_reason_why_it_has_none() throws IOException {
    TreeSet<String> named = new TreeSet<>();
    Files.readAllLines(TABLE).stream()
        .skip(1)
        .forEach(row -> named.add(row.substring(0, row.indexOf(','))));
    String page = Files.readString(PAGE);
    page.substring(page.indexOf("Not explored on adapters:"))
        .lines()
        .filter(line -> line.startsWith("- `"))
        .flatMap(line -> Pattern.compile("`(\\w+)`(?=[,:])").matcher(line).results())
        .forEach(kernel -> named.add(kernel.group(1)));
    assertThat(named).containsExactlyElementsOf(new TreeSet<>(new Laboratory().kernels()));
  }

  @Test
  void the_row_of_a_short_kernel_is_what_explore_says() throws IOException {
    assertThat(Files.readString(TABLE)).startsWith(head()).contains(row(SHORT));
  }

  @Test
  @Tag("slow")
  void the_table_has_what_is_covered_of_each_kernel() throws IOException {
    String text =
        head()
            + new Laboratory()
                .kernels().stream().sorted().map(this::row).collect(Collectors.joining());
    if (Boolean.getBoolean("docs.write")) {
      Files.writeString(TABLE, text);
    }
    assertThat(Files.readString(TABLE))
        .as(
            "kernels/coverage.csv is stale; run: ./doorbell test --slow experiments KernelCoverageTest"
                + " -Ddocs.write=true")
        .isEqualTo(text);
  }
}
