package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.Main;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kind of points that docs/architecture.md shows compiles, is found and measures. */
class UserKindTest {
  /** docs/architecture.md links to them. */
  private static final Path SOURCES =
      Path.of("cli/src/test/resources/dev/doorbell/experiments/cli/kind");

  private static final String SERVICE =
      "META-INF/services/dev.doorbell.experiments.scenario.kind.ExperimentKind";

  @TempDir private Path folder;

  private void put(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  @BeforeEach
  void compile() throws IOException {
    put("FirstPut.java", Files.readString(SOURCES.resolve("FirstPut.java")));
    put("META-INF/doorbell/kind.json", Files.readString(SOURCES.resolve("kind.json")));
    put(SERVICE, "FirstPut\n");
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-Xlint:all",
                "-Werror",
                "-d",
                folder.toString(),
                folder.resolve("FirstPut.java").toString());
    assertThat(code).isZero();
  }

  private String doorbell(String config, String... words) throws Exception {
    put(
        "mine.yaml",
        """
        experiment: mine
        question: q?
        kernel: post_once
        axes: { %s }
        measure: { metrics: [first-put], samples: 1 }
        """
            .formatted(config));
    List<String> command = new ArrayList<>(TestProgram.java("-XX:TieredStopAtLevel=1"));
    command.set(command.size() - 1, command.getLast() + File.pathSeparator + folder);
    command.add(Main.class.getName());
    command.addAll(List.of(words));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).directory(folder.toFile()).start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return text;
  }

  @Test
  void a_kind_of_another_jar_has_its_setting_its_metric_and_its_points() throws Exception {
    assertThat(doorbell("puts: [2], size: [64, 256]", "run", "mine.yaml"))
        .contains("first-put", "verified")
        .doesNotContain("error");
    assertThat(doorbell("puts: [2], size: [12]", "validate", "mine.yaml"))
        .contains("MINE-1", "puts of 12 bytes", "use multiples of 8");
    assertThat(doorbell("puts: [101]", "validate", "mine.yaml")).contains("puts", "at most 100");
    assertThat(doorbell("puts: [0]", "validate", "mine.yaml"))
        .contains("DB-P020", "first-put", "puts: 1 or more");
  }
}
