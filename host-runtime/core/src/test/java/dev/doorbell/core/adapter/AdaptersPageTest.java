package dev.doorbell.core.adapter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
    for (Promise promise : Promise.values()) {
      text.append("\n**`%s`**: %s.%n%n".formatted(promise.key(), promise.question()));
      text.append("| answer | adapters | source |\n| --- | --- | --- |\n");
      rows(promise)
          .forEach(
              (row, names) ->
                  text.append(
                      "| `%s` | %s | %s |%n"
                          .formatted(
                              row.getFirst(),
                              names.stream()
                                  .map(name -> "`" + name + "`")
                                  .collect(Collectors.joining(", ")),
                              row.getLast())));
    }
    return text.append('\n').toString();
  }

  /** The adapters of each answer with its source. */
  private static Map<List<String>, List<String>> rows(Promise promise) {
    Map<List<String>, List<String>> rows = new LinkedHashMap<>();
    for (Adapter adapter : Adapters.all()) {
      List<String> row =
          List.of(
              Promise.word(adapter.promises().answer(promise)),
              String.valueOf(adapter.sources().get(promise.key())));
      rows.merge(
          row, List.of(adapter.name()), (a, b) -> Stream.concat(a.stream(), b.stream()).toList());
    }
    return rows;
  }
}
