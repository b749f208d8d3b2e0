package dev.doorbell.experiments.cli.paper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.paper.PaperRuns.BuildTime;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BuildTimeTest {
  @TempDir Path folder;

  @Test
  void a_result_is_stale_once_a_class_or_a_kernel_is_newer() throws IOException {
    Path archive = file("lib/kernels.jar", 1_000);
    Path kernel = file("classes/ptx/put.ptx", 2_000);
    Path manifest = file("run/manifest.json", 3_000);
    String classPath = archive + File.pathSeparator + folder.resolve("classes");

    assertThat(BuildTime.isBefore(manifest, classPath)).isTrue();

    Files.setLastModifiedTime(kernel, FileTime.fromMillis(3_001));
    assertThat(BuildTime.isBefore(manifest, classPath)).isFalse();
    Files.setLastModifiedTime(kernel, FileTime.fromMillis(2_000));
    Files.setLastModifiedTime(archive, FileTime.fromMillis(4_000));
    assertThat(BuildTime.isBefore(manifest, classPath)).isFalse();
  }

  @Test
  void a_result_that_is_not_there_is_stale() {
    assertThat(BuildTime.isBefore(folder.resolve("manifest.json"), "")).isFalse();
  }

  private Path file(String name, long millis) throws IOException {
    Path path = folder.resolve(name);
    Files.createDirectories(path.getParent());
    Files.writeString(path, name);
    Files.setLastModifiedTime(path, FileTime.fromMillis(millis));
    return path;
  }
}
