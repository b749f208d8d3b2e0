package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher {@code doorbell}, in a folder of its own with a Maven that only ends. */
class LauncherTest {
  @TempDir private Path folder;
  private String said = "";

  private int test(String maven) throws IOException, InterruptedException {
    Files.copy(
        Path.of("..", "doorbell"), folder.resolve("doorbell"), StandardCopyOption.REPLACE_EXISTING);
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
}
