package dev.doorbell.interop.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Folders and files that others can use are refused. */
class PrivateFolderTest {
  @TempDir Path folder;

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void a_missing_folder_is_created_for_its_user_alone_with_those_above_it() throws IOException {
    Path made = PrivateFolder.open(folder.resolve("a/b"));
    assertThat(mode(made)).isEqualTo("rwx------");
    assertThat(mode(folder.resolve("a"))).isEqualTo("rwx------");
    assertThat(PrivateFolder.open(folder.resolve("a/b"))).isEqualTo(made);
  }

  @Test
  void a_folder_that_others_can_enter_or_redirect_is_refused() throws IOException {
    Path shared = Files.createDirectory(folder.resolve("shared"));
    Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(() -> PrivateFolder.open(shared)).hasMessageContaining("can enter");
    assertThatThrownBy(() -> PrivateFolder.open(shared.resolve("below")))
        .hasMessageContaining("every user can replace");
    Path target = Files.createDirectory(folder.resolve("target"));
    Path link = Files.createSymbolicLink(folder.resolve("link"), target);
    assertThatThrownBy(() -> PrivateFolder.open(link)).hasMessageContaining("symbolic link");
    Path file = Files.createFile(folder.resolve("file"));
    assertThatThrownBy(() -> PrivateFolder.open(file)).isInstanceOf(IOException.class);
    assertThat(target).isEmptyDirectory();
  }

  @Test
  void a_link_of_another_user_is_not_followed() throws IOException {
    assumeTrue(PrivateFolder.user() == 0, "only root can make a link of another user; run as root");
    Path target = Files.createDirectory(folder.resolve("target"));
    Path link = Files.createSymbolicLink(folder.resolve("link"), target);
    PrivateFolder.open(link.resolve("mine"));
    Files.setAttribute(link, "unix:uid", 12_345, LinkOption.NOFOLLOW_LINKS);
    assertThatThrownBy(() -> PrivateFolder.open(link.resolve("below")))
        .hasMessageContaining("symbolic link of another user");
    Path foreign = Files.createDirectory(folder.resolve("foreign"));
    Files.setAttribute(foreign, "unix:uid", 12_345);
    assertThatThrownBy(() -> PrivateFolder.open(foreign)).hasMessageContaining("another user");
    assertThatThrownBy(() -> PrivateFolder.open(foreign.resolve("below")))
        .hasMessageContaining("another user");
    assertThat(target.resolve("below")).doesNotExist();
  }
}
