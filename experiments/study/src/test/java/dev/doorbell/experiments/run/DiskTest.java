package dev.doorbell.experiments.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskTest {
  private static final byte[] TEXT = "new".getBytes(StandardCharsets.UTF_8);

  @TempDir private Path folder;

  @Test
  void a_file_keeps_its_mode_and_leaves_nothing_beside_it() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "old");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    new Disk().replace(file, TEXT);
    assertThat(file).hasContent("new");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(folder).isDirectoryContaining(found -> found.equals(file));
    assertThat(folder.toFile().list()).hasSize(1);
  }

  @Test
  void a_link_stays_a_link() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "old");
    Path link = Files.createSymbolicLink(folder.resolve("link"), file);
    new Disk().replace(link, TEXT);
    assertThat(link).isSymbolicLink();
    assertThat(file).hasContent("new");
  }

  @Test
  void a_device_is_written_and_stays_one() throws IOException {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.isWritable(full), "no /dev/full here");
    assertThatThrownBy(() -> new Disk().replace(full, TEXT)).hasMessageContaining("No space left");
    new Disk().replace(Path.of("/dev/null"), TEXT);
    assertThat(Files.isRegularFile(full)).isFalse();
    assertThat(Files.isRegularFile(Path.of("/dev/null"))).isFalse();
  }

  @Test
  void a_pipe_is_written() throws IOException, InterruptedException {
    Path pipe = folder.resolve("pipe");
    assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0, "no mkfifo");
    Process reader = new ProcessBuilder("cat", pipe.toString()).start();
    new Disk().replace(pipe, TEXT);
    assertThat(reader.getInputStream().readAllBytes()).isEqualTo(TEXT);
    assertThat(Files.isRegularFile(pipe)).isFalse();
  }

  @Test
  void the_owner_of_a_file_stays_its_owner() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "old");
    assumeTrue((int) Files.getAttribute(file, "unix:uid") == 0, "only root gives files away");
    Files.setAttribute(file, "unix:uid", 12_345);
    new Disk().replace(file, TEXT);
    assertThat(Files.getAttribute(file, "unix:uid")).isEqualTo(12_345);
    assertThat(file).hasContent("new");
  }
}
