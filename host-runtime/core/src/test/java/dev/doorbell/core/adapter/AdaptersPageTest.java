package dev.doorbell.core.adapter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The promises in docs/adapters.md are those of the files. */
class AdaptersPageTest {
  private static final Path PAGE = Path.of("../../docs/adapters.md");
  private static final String BEGIN = "<!-- promises: written by AdaptersPageTest -->\n";
  private static final String END = "<!-- end of promises -->\n";

  @Test
  void the_page_has_the_promises_of_the_files() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    int end = page.indexOf(END);
    if (Boolean.getBoolean("docs.write")) {
      Files.writeString(PAGE, page.substring(0, begin) + text() + page.substring(end));
      page = Files.readString(PAGE);
      end = page.indexOf(END);
    }
    assertThat(page.substring(begin, end))
        .as(
            "docs/adapters.md is stale; run: ./doorbell test core AdaptersPageTest"
                + " -Ddocs.write=true")
        .isEqualTo(text());
  }

  private static String text() {
    StringBuilder text = new StringBuilder("| adapter | what it is |\n| --- | --- |\n");
    for (Adapter adapter : Adapters.all()) {
      text.append("| `%s` | %s |%n".formatted(adapter, adapter.title()));
    }
    text.append("\n| promise | answers |\n| --- | --- |\n");
    for (Promise promise : Promise.values()) {
      Map<String, List<String>> answers = answers(promise);
      String usual =
          Collections.max(
                  answers.entrySet(), Comparator.comparingInt(each -> each.getValue().size()))
              .getKey();
      String names =
          answers.keySet().stream()
              .filter(each -> !each.equals(usual))
              .map(each -> "`%s`: %s; ".formatted(each, String.join(", ", answers.get(each))))
              .collect(Collectors.joining());
      text.append(
          "| `%s`: %s | %s`%s`: %s |%n"
              .formatted(
                  promise.key(),
                  promise.question(),
                  names,
                  usual,
                  names.isEmpty() ? "all" : "others"));
    }
    return text.append('\n').toString();
  }

  /** The adapters of each answer. */
  private static Map<String, List<String>> answers(Promise promise) {
    Map<String, List<String>> answers = new LinkedHashMap<>();
    for (Adapter adapter : Adapters.all()) {
      answers
          .computeIfAbsent(Promise.word(adapter.promises().answer(promise)), _ -> new ArrayList<>())
          .add(adapter.name());
    }
    return answers;
  }

  @Test
  void every_answer_has_its_source_beside_it() {
    for (Adapter adapter : Adapters.all()) {
      for (Promise promise : Promise.values()) {
        assertThat(String.valueOf(adapter.sources().get(promise.key())))
            .as("%s of %s", promise.key(), adapter)
            .matches("(?s).{10,}");
      }
    }
  }
}
