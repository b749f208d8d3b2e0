package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the pages point to is there. */
class DocumentationTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Set<String> PASSED_OVER = Set.of("target", "runs", "node_modules");

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    for (String place : List.of("README.md", "CONTRIBUTING.md", "docs", "papers", "kernels")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(place))) {
        files
            .filter(file -> file.toString().endsWith(".md"))
            .filter(file -> Stream.of(file.toString().split("/")).noneMatch(PASSED_OVER::contains))
            .forEach(pages::add);
      }
    }
    return pages;
  }

  @Test
  void every_link_leads_to_a_file_and_every_anchor_to_a_heading() throws IOException {
    List<String> dead = new ArrayList<>();
    for (Path page : pages()) {
      Matcher link = LINK.matcher(prose(Files.readString(page)));
      while (link.find()) {
        String target = link.group(1);
        if (target.matches("(https?|mailto):.*")) {
          continue;
        }
        String[] parts = target.split("#", 2);
        Path file =
            parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).toAbsolutePath().normalize();
        boolean there =
            Files.exists(file)
                && (parts.length == 1
                    || !file.toString().endsWith(".md")
                    || anchors(Files.readString(file)).contains(parts[1]));
        // The text of a paper is a template: what it links to lies beside what is generated.
        if (!there && !Files.exists(page.resolveSibling("paper.yaml"))) {
          dead.add(ROOT.relativize(page) + ": " + target);
        }
      }
    }
    assertThat(dead).isEmpty();
  }

  @Test
  void every_page_of_docs_is_found_from_its_index() throws IOException {
    String index = Files.readString(ROOT.resolve("docs/README.md"));
    try (Stream<Path> pages = Files.list(ROOT.resolve("docs"))) {
      assertThat(
              pages
                  .map(page -> String.valueOf(page.getFileName()))
                  .filter(name -> name.endsWith(".md") && !name.equals("README.md")))
          .allSatisfy(name -> assertThat(index).contains("](" + name + ")"));
    }
  }

  /**
   * Each answer is a link, and {@link #every_link_leads_to_a_file_and_every_anchor_to_a_heading}
   * follows it.
   */
  @Test
  void at_least_fifteen_questions_where_would_i_have_one_place_each() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/architecture.md"));
    String table = page.substring(page.indexOf("## Where would I ..."));
    List<String> rows = table.lines().filter(line -> line.startsWith("| ")).skip(2).toList();
    assertThat(rows)
        .hasSizeGreaterThanOrEqualTo(15)
        .allSatisfy(row -> assertThat(LINK.matcher(row).results()).hasSize(1));
  }

  /** Without blocks and spans of code. */
  private static String prose(String text) {
    return text.replaceAll("(?s)```.*?```", "").replaceAll("`[^`\\n]*`", "code");
  }

  /** As the usual viewers make them of headings. */
  private static Set<String> anchors(String text) {
    Set<String> anchors = new HashSet<>();
    for (String line : text.split("\n", -1)) {
      if (line.matches("#{1,6} .*")) {
        anchors.add(
            line.replaceFirst("^#+ ", "")
                .strip()
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-'));
      }
    }
    return anchors;
  }
}
