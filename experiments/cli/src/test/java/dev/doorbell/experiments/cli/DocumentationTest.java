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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the pages point to is there. */
class DocumentationTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Set<String> PASSED_OVER = Set.of("target", "runs", "node_modules");

  /** Words of docs. The number may fall and never rise; the goal is 45,000. */
  private static final int WORDS = 42_950;

  /** Sentences of docs that open with a question word. The number may fall and never rise. */
  private static final int OPENINGS = 0;

  /** A sentence with more words than this is long. */
  private static final int LONG_SENTENCE = 25;

  /** Words of the mean sentence of docs and README. The number may fall and never rise. */
  private static final double MEAN_SENTENCE = 16.0;

  /** Percentage of long sentences in docs and README. The number may fall and never rise. */
  private static final double LONG_SENTENCES = 12.9;

  private static final Pattern OPENING =
      Pattern.compile("(?:^|[.:?!] |- )(?:What|Whose|Where|Which|Of|By|How|So (?:many|much)) ");

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

  @Test
  void pages_of_docs_become_fewer_words() throws IOException {
    int words = 0;
    for (Path page : docs()) {
      words += words(Files.readString(page));
    }
    assertThat(words).as("words of docs; lower WORDS to what is left").isLessThanOrEqualTo(WORDS);
  }

  @Test
  void a_page_has_at_most_1500_words_beside_tables_and_code() throws IOException {
    List<String> tooLong = new ArrayList<>();
    for (Path page : docs()) {
      String name = String.valueOf(page.getFileName());
      if (words(sentences(page)) > 1500) {
        tooLong.add(name);
      }
    }
    assertThat(tooLong).isEmpty();
  }

  @Test
  void sentences_of_docs_open_with_their_subject() throws IOException {
    List<String> openings = new ArrayList<>();
    for (Path page : docs()) {
      String text = sentences(page);
      Matcher opening = OPENING.matcher(text);
      while (opening.find()) {
        int end = Math.min(text.length(), opening.start() + 60);
        openings.add(page.getFileName() + ": " + text.substring(opening.start(), end));
      }
    }
    assertThat(openings.size())
        .as("write who does what; lower OPENINGS to what is left: %s", openings)
        .isLessThanOrEqualTo(OPENINGS);
  }

  @Test
  void sentences_become_shorter() throws IOException {
    List<Integer> lengths = new ArrayList<>();
    for (Path page : docs()) {
      if (!page.startsWith(ROOT.resolve("docs/commands"))) { // options are no sentences
        lengths.addAll(sentenceLengths(Files.readString(page)));
      }
    }
    lengths.addAll(sentenceLengths(Files.readString(ROOT.resolve("README.md"))));
    double mean = lengths.stream().mapToInt(length -> length).average().orElseThrow();
    long many = lengths.stream().filter(length -> length > LONG_SENTENCE).count();
    assertThat(mean)
        .as("mean words of a sentence; lower MEAN_SENTENCE to what is left")
        .isLessThanOrEqualTo(MEAN_SENTENCE);
    assertThat(100.0 * many / lengths.size())
        .as("%% of sentences above %d words; lower LONG_SENTENCES to what is left", LONG_SENTENCE)
        .isLessThanOrEqualTo(LONG_SENTENCES);
  }

  @Test
  void a_sentence_ends_with_its_mark_its_paragraph_or_its_item() {
    assertThat(
            sentenceLengths(
                """
                # A heading is none

                One two, e.g. three
                four. Five `six seven` eight? Nine
                - ten eleven
                2. twelve

                | a | table | is none |

                    nor is code

                Version 1.2 ends: here.
                """))
        .containsExactly(5, 3, 1, 2, 1, 4);
  }

  /** Words of each sentence beside headings, tables and code. */
  private static List<Integer> sentenceLengths(String page) {
    StringBuilder text = new StringBuilder();
    for (String line : prose(page).split("\n", -1)) {
      boolean breaks =
          line.isBlank() || line.startsWith("|") || line.startsWith("    ") || line.startsWith("#");
      if (breaks) {
        text.append('\n');
      } else {
        text.append(line.matches("\\s*([-*]|\\d+\\.) .*") ? '\n' : ' ');
        text.append(line.replaceFirst("^\\s*([-*]|\\d+\\.) ", ""));
      }
    }
    return Pattern.compile("\n|(?<=[.!?]) (?=[\\p{Lu}(\\[*`])")
        .splitAsStream(text)
        .map(DocumentationTest::words)
        .filter(length -> length > 0)
        .toList();
  }

  private static List<Path> docs() throws IOException {
    return pages().stream().filter(page -> page.startsWith(ROOT.resolve("docs"))).toList();
  }

  private static int words(String text) {
    return (int) Pattern.compile("\\S+").matcher(text).results().count();
  }

  /** A page in one line, without tables and code. */
  private static String sentences(Path page) throws IOException {
    return prose(Files.readString(page))
        .lines()
        .filter(line -> !line.startsWith("|") && !line.startsWith("    "))
        .collect(Collectors.joining(" "));
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
