package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pages about commands are what the commands say, and the pages beside them lead somewhere. */
class CommandPagesTest {
  private static final Path DOCS = Path.of("../docs");
  private static final Path PAGES = DOCS.resolve("commands");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]+)(#[^)]*)?\\)");
  private static final String REWRITE =
      "run: ./doorbell test experiments CommandPagesTest" + " -Ddocs.write=true";

  @Test
  void the_pages_are_what_the_commands_say() throws IOException {
    Map<String, String> pages = CommandPages.all();
    if (Boolean.getBoolean("docs.write")) {
      Files.createDirectories(PAGES);
      for (Map.Entry<String, String> page : pages.entrySet()) {
        Files.writeString(PAGES.resolve(page.getKey()), page.getValue());
      }
    }
    for (Map.Entry<String, String> page : pages.entrySet()) {
      Path file = PAGES.resolve(page.getKey());
      assertThat(file).as(REWRITE).exists();
      assertThat(Files.readString(file))
          .as("docs/commands/%s is stale; %s", page.getKey(), REWRITE)
          .isEqualTo(page.getValue());
    }
    try (Stream<Path> files = Files.list(PAGES)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(pages.keySet());
    }
  }

  @Test
  void links_between_pages_lead_to_files() throws IOException {
    try (Stream<Path> files = Files.walk(DOCS)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".md")).toList()) {
        Matcher link = LINK.matcher(Files.readString(file));
        while (link.find()) {
          if (!link.group(1).contains("://")) {
            assertThat(file.resolveSibling(link.group(1)))
                .as("%s of %s", link.group(1), file)
                .exists();
          }
        }
      }
    }
  }

  @Test
  void the_index_names_every_page() throws IOException {
    String index = Files.readString(DOCS.resolve("README.md"));
    try (Stream<Path> files = Files.list(DOCS)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".md") && !name.equals("README.md")) {
          assertThat(index).contains("(" + name + ")");
        }
      }
    }
    assertThat(index).contains("(commands/README.md)");
  }
}
