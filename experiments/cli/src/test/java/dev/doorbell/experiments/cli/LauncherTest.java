package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher {@code doorbell}, in a folder of its own with a Maven that only ends. */
class LauncherTest {
  @TempDir private Path folder;
  private String said = "";

  private int test(String maven) throws IOException, InterruptedException {
    Files.copy(
        Path.of("..", "doorbell"), folder.resolve("doorbell"), StandardCopyOption.REPLACE_EXISTING);
    Path launcherSources = Files.createDirectories(folder.resolve("host-runtime/launcher"));
    try (Stream<Path> sources = Files.list(Path.of("..", "host-runtime", "launcher"))) {
      for (Path source : sources.toList()) {
        Files.copy(
            source,
            launcherSources.resolve(source.getFileName()),
            StandardCopyOption.REPLACE_EXISTING);
      }
    }
    Files.writeString(
        folder.resolve("pom.xml"),
        """
        <project>
          <modules/>
          <properties>
            <maven.compiler.release>25</maven.compiler.release>
            <test.argLine/>
            <tests.minutes>1</tests.minutes>
          </properties>
        </project>
        """);
    Path bin = Files.createDirectories(folder.resolve("bin"));
    Path program = Files.writeString(bin.resolve("mvn"), "#!/bin/sh\n" + maven + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    ProcessBuilder launcher =
        new ProcessBuilder("bash", folder.resolve("doorbell").toString(), "test");
    launcher.environment().put("JAVA_HOME", System.getProperty("java.home"));
    launcher.environment().merge("PATH", bin + ":", (path, first) -> first + path);
    try (TestProgram run = TestProgram.start(folder, launcher)) {
      int status = run.await();
      said = run.said();
      return status;
    }
  }

  @Test
  void tests_that_fail_are_a_failure_whatever_is_shown_of_them() throws Exception {
    assertThat(test("echo '[ERROR] a test'; exit 3")).isEqualTo(3);
    assertThat(test("echo nothing that is shown; exit 4")).isEqualTo(4);
    assertThat(said).contains("the whole log is");
  }

  @Test
  void tests_that_pass_are_none_though_nothing_is_shown() throws Exception {
    assertThat(test("echo nothing that is shown")).isZero();
  }

  /** Starts the launcher of a bundle whose Java says what it is called with. */
  private List<String> bundled(String... files) throws IOException, InterruptedException {
    Files.copy(
        Path.of("..", "doorbell"), folder.resolve("doorbell"), StandardCopyOption.REPLACE_EXISTING);
    Path bin = Files.createDirectories(folder.resolve("runtime/bin"));
    Path java = Files.writeString(bin.resolve("java"), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.createDirectories(folder.resolve("lib"));
    for (String file : files) {
      Files.createFile(folder.resolve("lib").resolve(file));
    }
    ProcessBuilder launcher =
        new ProcessBuilder("bash", folder.resolve("doorbell").toString(), "list", "topologies");
    try (TestProgram run = TestProgram.start(folder, launcher)) {
      assertThat(run.await()).isZero();
      return run.said().lines().toList();
    }
  }

  @Test
  void a_bundle_names_its_jars_in_one_order_and_its_cache() throws Exception {
    Path lib = folder.toRealPath().resolve("lib");

    List<String> words = bundled("b.jar", "C.jar", "a.jar", "doorbell.aot");

    assertThat(words)
        .containsSubsequence(
            "-XX:AOTCache=" + lib.resolve("doorbell.aot"),
            "-cp",
            lib.resolve("C.jar") + ":" + lib.resolve("a.jar") + ":" + lib.resolve("b.jar"),
            "dev.doorbell.experiments.Main",
            "list",
            "topologies");
  }

  @Test
  void a_bundle_without_a_cache_asks_for_none() throws Exception {
    assertThat(bundled("a.jar")).noneMatch(word -> word.contains("AOT"));
  }
}
