package dev.doorbell.core.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.format.FormatTable.Described;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The generated classes are those that src/main/formats and the C headers describe. */
class FormatsTest {
  private static final Path FORMATS = Path.of("src/main/formats");
  private static final Path JAVA = Path.of("src/main/java");

  @Test
  void generated_classes_are_those_that_are_described() throws IOException {
    Map<Path, String> expected = expected();
    if (Boolean.getBoolean("formats.write")) {
      for (Map.Entry<Path, String> file : expected.entrySet()) {
        if (!tokens(Files.exists(file.getKey()) ? Files.readString(file.getKey()) : "")
            .equals(tokens(file.getValue()))) {
          Files.createDirectories(file.getKey().getParent());
          Files.writeString(file.getKey(), file.getValue());
        }
      }
    }
    for (Map.Entry<Path, String> file : expected.entrySet()) {
      String stands = Files.exists(file.getKey()) ? Files.readString(file.getKey()) : "";
      assertThat(tokens(stands))
          .as(
              "%s is stale; run: ./doorbell test core FormatsTest -Dformats.write=true, and format"
                  + " what it wrote: ./doorbell format",
              file.getKey())
          .isEqualTo(tokens(file.getValue()));
    }
    assertThat(generated()).isEqualTo(new TreeSet<>(expected.keySet()));
  }

  private static Map<Path, String> expected() throws IOException {
    Map<Path, String> files = new TreeMap<>();
    for (Path path : list(FORMATS, ".txt")) {
      FormatTable table = FormatTable.parse(Files.readString(path));
      Path folder = JAVA.resolve(table.packageName().replace('.', '/')).resolve("generated");
      String source = String.valueOf(path.getFileName());
      for (Described described : table.classes()) {
        files.put(
            folder.resolve(described.name + ".java"),
            described.header.isEmpty()
                ? FormatWriter.write(table.packageName(), source, described)
                : HeaderWriter.write(table.packageName(), described));
      }
      files.put(
          folder.resolve("package-info.java"),
          """
          /** Layouts written by FormatsTest from src/main/formats/%s: nobody edits them. */
          @NullMarked
          package %s.generated;

          import org.jspecify.annotations.NullMarked;
          """
              .formatted(source, table.packageName()));
    }
    return files;
  }

  private static NavigableSet<Path> generated() throws IOException {
    NavigableSet<Path> found = new TreeSet<>(list(JAVA, ".java"));
    found.removeIf(path -> !String.valueOf(path.getParent()).endsWith("generated"));
    return found;
  }

  private static NavigableSet<Path> list(Path folder, String end) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(path -> path.toString().endsWith(end))
          .collect(TreeSet::new, TreeSet::add, TreeSet::addAll);
    }
  }

  /** Removes what a formatter adds: spaces, stars of Javadoc, and cuts of long strings. */
  private static String tokens(String text) {
    return text.replaceAll("(?m)^\\s*\\*(?!/)", "").replaceAll("\\s+", "").replace("\"+\"", "");
  }
}
