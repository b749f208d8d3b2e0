package dev.doorbell.interop.access;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Objects;

/**
 * Folders that only this process's user can enter: mode 0700, owned by the user, no symbolic link,
 * and below no folder in which another user could replace them.
 */
public final class PrivateFolder {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final int UID = effectiveUser();
  private static final int ROOT = 0;
  private static final int OTHERS = 0077;
  private static final int WRITABLE_BY_ALL = 0002;
  private static final int STICKY = 01000;

  private PrivateFolder() {}

  /**
   * The user's folder for what runs: {@code $XDG_RUNTIME_DIR/doorbell}, or {@code doorbell-UID} in
   * shared memory, where hundreds of small files take the least time, or else in the temporary
   * folder. It need not exist.
   */
  public static Path ofUser() {
    String runtime = System.getenv("XDG_RUNTIME_DIR");
    if (runtime != null && !runtime.isEmpty()) {
      return Path.of(runtime, "doorbell");
    }
    Path temporary =
        Files.isWritable(SHARED_MEMORY)
            ? SHARED_MEMORY
            : Path.of(System.getProperty("java.io.tmpdir"));
    return temporary.resolve("doorbell-" + UID);
  }

  /**
   * Creates a folder, or checks the one that exists. Missing folders above it are created like it.
   *
   * @return the folder, without symbolic links in its path
   * @throws IOException when others can enter or replace it; the message says why
   */
  public static Path open(Path folder) throws IOException {
    Path absolute = folder.toAbsolutePath().normalize();
    Path name = absolute.getFileName();
    Path above = absolute.getParent();
    if (name == null || above == null) {
      throw new IOException("the root folder is open to all users");
    }
    for (Path each = above; each != null; each = each.getParent()) {
      checkLink(each);
    }
    Path parent = Files.exists(above, LinkOption.NOFOLLOW_LINKS) ? above.toRealPath() : open(above);
    for (Path each = parent; each != null; each = each.getParent()) {
      checkAncestor(each);
    }
    Path real = parent.resolve(name);
    try {
      Files.createDirectory(
          real, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException _) {
      checkExisting(real);
    }
    return real;
  }

  /** A symbolic link of another user may lead anywhere. */
  private static void checkLink(Path path) throws IOException {
    if (Files.isSymbolicLink(path) && !isTrusted(attributes(path).uid)) {
      throw new IOException("%s is a symbolic link of another user".formatted(path));
    }
  }

  private static void checkAncestor(Path folder) throws IOException {
    Attributes found = attributes(folder);
    int mode = found.mode;
    if (!isTrusted(found.uid)) {
      throw new IOException(
          "%s belongs to another user, who could replace what is in it".formatted(folder));
    }
    if ((mode & WRITABLE_BY_ALL) != 0 && (mode & STICKY) == 0) {
      throw new IOException("every user can replace what is in %s".formatted(folder));
    }
  }

  private static void checkExisting(Path folder) throws IOException {
    Attributes found = attributes(folder);
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException("%s is a symbolic link or no folder".formatted(folder));
    }
    if (found.uid != UID) {
      throw new IOException("%s belongs to another user".formatted(folder));
    }
    if ((found.mode & OTHERS) != 0) {
      throw new IOException("other users can enter %s ('chmod 700' it)".formatted(folder));
    }
  }

  private static boolean isTrusted(int uid) {
    return uid == UID || uid == ROOT;
  }

  private record Attributes(int uid, int mode) {}

  private static Attributes attributes(Path path) throws IOException {
    Map<String, Object> found =
        Files.readAttributes(path, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
    return new Attributes(
        (int) Objects.requireNonNull(found.get("uid")),
        (int) Objects.requireNonNull(found.get("mode")));
  }

  private static int effectiveUser() {
    try {
      return attributes(Path.of("/proc/self/stat")).uid;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The user as whom this process runs. */
  public static int user() {
    return UID;
  }
}
