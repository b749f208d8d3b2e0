package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.Main;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.run.FakeRuntime;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the tool is to the system around it: its language, its signals. */
class ProcessTest {
  private static final Pattern FOREIGN_DIGIT = Pattern.compile("[\\p{Nd}&&[^0-9]]");

  @TempDir private Path folder;

  @Test
  void digits_are_ascii_in_every_language() throws Exception {
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
      assertThat("%d".formatted(7)).isNotEqualTo("7");
      Path config = Files.writeString(folder.resolve("small.yaml"), Configs.SMALL);
      Path runs = folder.resolve("runs");
      int status =
          ToolLauncher.run(
              FakeRuntime::new, "run", config.toString(), "--out", runs.toString(), "-q");
      assertThat(status).isZero();
      try (Stream<Path> files = Files.walk(runs)) {
        List<Path> written = files.filter(Files::isRegularFile).toList();
        assertThat(written).hasSizeGreaterThan(8);
        for (Path file : written) {
          assertThat(Files.readString(file))
              .as(file.toString())
              .doesNotContainPattern(FOREIGN_DIGIT);
        }
      }
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void what_is_named_like_an_experiment_in_the_working_folder_never_stands_in_for_it_silently()
      throws Exception {
    Files.createDirectory(folder.resolve("pull-vs-push"));
    Files.writeString(folder.resolve("message-rate"), Configs.SMALL);
    List<String> command =
        new ArrayList<>(TestProgram.java("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of(Main.class.getName(), "validate", "pull-vs-push", "message-rate"));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).directory(folder.toFile()).start();
    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .contains("pull-vs-push  ok")
        .contains("message-rate  DB-C001  there is a file here", "./message-rate for the file");
    assertThat(process.waitFor()).isEqualTo(3);
  }

  /** The pipe at which it waits is never written to. */
  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void a_terminated_validate_ends_at_once_and_speaks_of_no_run() throws Exception {
    Path pipe = folder.resolve("pipe.yaml");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    List<String> command =
        new ArrayList<>(TestProgram.java("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of(Main.class.getName(), "validate", pipe.toString()));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).directory(folder.toFile()).start();
    try {
      while (process.info().totalCpuDuration().map(spent -> spent.toMillis() < 300).orElse(false)) {
        process.waitFor(20, TimeUnit.MILLISECONDS);
      }
      long asked = System.nanoTime();
      process.toHandle().destroy();
      process.waitFor();
      assertThat(System.nanoTime() - asked).isLessThan(15_000_000_000L); // it was 20 s
      assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .doesNotContain("journal");
    } finally {
      process.destroyForcibly();
    }
  }
}
