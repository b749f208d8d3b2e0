package dev.doorbell.experiments.workbench.validation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.scenario.SessionRuntime;
import dev.doorbell.experiments.workbench.validation.Validation.RowPoints;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Neighbours of published rows: a row's config with one setting, or the metric, moved to each value
 * that another row of the kernel has, or that comes with the kernel. What is refused of them, and
 * why, is a page that {@code -Ddocs.write=true} writes.
 */
class NeighboursTest {
  private static final Path PAGE = Path.of("validation/neighbours.md");

  /** Values that no row has. */
  private static final Map<String, List<String>> MORE =
      Map.of(
          "put_minimal",
          List.of(
              "transport=dc",
              "direction=one",
              "direction=receive",
              "sharing=own",
              "sharing=lock",
              "order=fence-sc",
              "order=fenced-record",
              "order=release",
              "order=release-system",
              "signaled=last",
              "await=queue",
              "await=all",
              "posting=cpu-rung",
              "sm_mhz=990"),
          "proxy_minimal",
          List.of("handoff=tuned", "sm_mhz=990"));

  private final RowPoints points = new RowPoints(new SessionRuntime(), 1);
  private final Row row = RowFile.builtIn().getFirst();
  private final Map<String, Set<RowConfig.Term>> rows = new TreeMap<>();
  private final Map<String, Map<String, Set<String>>> values = new TreeMap<>();

  @Test
  @Tag("slow")
  void what_is_refused_of_neighbours_is_on_the_page() throws Exception {
    collect();
    Map<String, List<String>> refused = new TreeMap<>();
    int neighbours = 0;
    for (Map.Entry<String, Set<RowConfig.Term>> kernel : rows.entrySet()) {
      for (RowConfig.Term term : kernel.getValue()) {
        for (Map.Entry<String, Set<String>> axis :
            values.getOrDefault(kernel.getKey(), Map.of()).entrySet()) {
          for (String value : axis.getValue()) {
            Map<String, String> moved = settings(term);
            if (value.equals(moved.getOrDefault(axis.getKey(), ""))) {
              continue;
            }
            neighbours++;
            moved.put(axis.getKey(), value);
            for (Problem problem : problems(moved)) {
              refused
                  .computeIfAbsent(reason(problem), _ -> new ArrayList<>())
                  .add(axis.getKey() + "=" + value);
            }
          }
        }
      }
    }
    String page = page(neighbours, refused);
    if (Boolean.getBoolean("docs.write")) {
      Files.writeString(PAGE, page);
    }
    assertThat(page)
        .as("test --slow experiments NeighboursTest -Ddocs.write=true")
        .isEqualTo(Files.readString(PAGE));
  }

  private void collect() throws ConfigException {
    for (Row published : RowFile.builtIn()) {
      if (published.config().startsWith("dma")) {
        continue;
      }
      for (RowConfig.Term term : RowConfig.parse(published.place(), published.config()).terms()) {
        Map<String, String> settings = settings(term);
        String kernel = settings.getOrDefault("kernel", "");
        rows.computeIfAbsent(kernel, _ -> new LinkedHashSet<>()).add(term);
        settings.remove("kernel");
        settings.forEach((key, value) -> value(kernel, key, value));
        MORE.getOrDefault(kernel, List.of()).forEach(more -> value(kernel, name(more), word(more)));
      }
    }
  }

  private void value(String kernel, String key, String value) {
    values
        .computeIfAbsent(kernel, _ -> new TreeMap<>())
        .computeIfAbsent(
            key, _ -> new LinkedHashSet<>(key.equals("metric") ? List.of() : List.of("")))
        .add(value);
  }

  /** Of a setting such as {@code size=8}: size. */
  private static String name(String setting) {
    return setting.substring(0, setting.indexOf('='));
  }

  private static String word(String setting) {
    return setting.substring(setting.indexOf('=') + 1);
  }

  /** A term's settings, with its metric among them. */
  private static Map<String, String> settings(RowConfig.Term term) {
    Map<String, String> map = new LinkedHashMap<>();
    term.settings().forEach(one -> map.put(name(one), word(one)));
    map.put("metric", term.metric());
    return map;
  }

  private List<Problem> problems(Map<String, String> settings) {
    List<String> words = new ArrayList<>();
    settings.forEach(
        (key, value) -> {
          if (!value.isEmpty() && !key.equals("metric")) {
            words.add(key + "=" + value);
          }
        });
    try {
      points.point(
          row,
          new RowConfig.Term(
              1, words, settings.getOrDefault("metric", ""), RowConfig.Statistic.MEDIAN),
          "h200-cx7");
      return List.of();
    } catch (ConfigException e) {
      return e.problems();
    }
  }

  private static String reason(Problem problem) {
    String effect = problem.effect();
    return "%s | %s"
        .formatted(problem.what().replaceAll("[0-9]+", "N"), effect == null ? "" : effect);
  }

  private static String page(int neighbours, Map<String, List<String>> refused) {
    StringBuilder text = new StringBuilder();
    text.append(
        """
        # Neighbours of the published rows

        <!-- Written by NeighboursTest. -->

        A neighbour is a row's config with one setting, or the metric, at the value that another row of the kernel has, or that comes with
        the kernel. Of %d, these are refused; all others run. N stands for a number, the last column for moves that lead there.

        | refused | why | neighbours | such as |
        | --- | --- | ---: | --- |
        """
            .formatted(neighbours));
    refused.entrySet().stream()
        .sorted(
            Comparator.comparingInt((Map.Entry<String, List<String>> one) -> -one.getValue().size())
                .thenComparing(Map.Entry::getKey))
        .forEach(
            one ->
                text.append(
                    "| %s | %d | %s |%n"
                        .formatted(one.getKey(), one.getValue().size(), such(one.getValue()))));
    return text.toString();
  }

  private static String such(List<String> moves) {
    return String.join(
        ", ", moves.stream().distinct().sorted().limit(3).map(one -> "`" + one + "`").toList());
  }
}
