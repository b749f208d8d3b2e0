package dev.doorbell.experiments.scenario.foreign;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class StandInFilesTest {
  private static final Path RESOURCES = Path.of("lab/src/test/resources/dev/doorbell/experiments");

  /** A {@code .file} line with a folder names the machine that compiled the stand-in. */
  @Test
  void compiled_stand_ins_name_sources_without_folders() throws IOException {
    try (Stream<Path> files = Files.walk(RESOURCES)) {
      List<Path> compiled = files.filter(file -> file.toString().endsWith(".ptx")).toList();
      assertThat(compiled).isNotEmpty();
      for (Path file : compiled) {
        assertThat(Files.readAllLines(file))
            .as(file.toString())
            .noneMatch(line -> line.startsWith("\t.file\t") && line.contains("/"));
      }
    }
  }
}
