package dev.doorbell.experiments.run;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The only way in which a run's files reach the disk: whole or not at all, and durable before the
 * call returns. Tests put a disk that fills up in its place.
 */
public class Disk {
  private static final OpenOption[] NEW = {
    StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE
  };
  private static final OpenOption[] APPEND = {
    StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE
  };

  /** In this order: a change of the owner may clear bits of the mode. */
  private static final List<String> OWNED = List.of("unix:uid", "unix:gid", "unix:mode");

  interface File extends Closeable {
    byte[] read() throws IOException;

    void write(ByteBuffer bytes) throws IOException;

    /** Returns once everything written is on the medium. */
    void force() throws IOException;

    void truncate(long length) throws IOException;

    long length() throws IOException;
  }

  /** A file that another process appends to. */
  static final class BusyException extends IOException {
    private static final long serialVersionUID = 1;

    BusyException(Path path) {
      super(path + " is being written by another process");
    }
  }

  public Disk() {}

  File open(Path path, OpenOption... options) throws IOException {
    FileChannel channel = FileChannel.open(path, options);
    if (List.of(options).contains(StandardOpenOption.READ)) {
      if (!lock(channel)) {
        channel.close();
        throw new BusyException(path);
      }
      channel.position(channel.size());
    }
    return new File() {
      @Override
      public byte[] read() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size()));
        while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {
          // Until all of it is there.
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
      }

      @Override
      public void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
      }

      @Override
      public void force() throws IOException {
        channel.force(true);
      }

      @Override
      public void truncate(long length) throws IOException {
        channel.truncate(length);
      }

      @Override
      public long length() throws IOException {
        return channel.size();
      }

      @Override
      public void close() throws IOException {
        channel.close();
      }
    };
  }

  /**
   * Until the channel is closed, or the process has ended in whatever way. This process loses the
   * lock, too, when it closes any other channel of the same file.
   */
  private static boolean lock(FileChannel channel) {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      return false;
    } catch (IOException e) {
      return true; // A file system without locks: owners cannot be distinguished there.
    }
  }

  /** Opens a file to append to, locked against other processes. */
  final File append(Path path) throws IOException {
    return open(path, APPEND);
  }

  /**
   * Puts a file in place at once: a reader sees the old one or the new one, never a part. A file
   * that was there keeps its mode and its owner, and a link its name. What is no regular file (a
   * device, a pipe), and a file whose owner this process cannot keep, is opened and written.
   */
  public final void replace(Path target, byte[] bytes) throws IOException {
    if (Files.exists(target) && !Files.isRegularFile(target)) {
      write(target, bytes, StandardOpenOption.WRITE);
      return;
    }
    Path place = Files.exists(target) ? target.toRealPath() : target;
    Path temporary = place.resolveSibling("." + place.getFileName() + ".part");
    try {
      Files.deleteIfExists(temporary);
      write(temporary, new byte[0], NEW);
      if (Files.exists(place) && !keptAs(place, temporary)) {
        Files.delete(temporary);
        write(place, bytes, NEW);
        return;
      }
      write(temporary, bytes, NEW);
      Files.move(temporary, place, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      Files.deleteIfExists(temporary);
      throw e;
    }
  }

  private void write(Path target, byte[] bytes, OpenOption... options) throws IOException {
    try (File file = open(target, options)) {
      file.write(ByteBuffer.wrap(bytes));
      if (Files.isRegularFile(target)) {
        file.force();
      }
    }
  }

  /** Gives a new file the owner and the mode of the one whose place it takes. */
  private static boolean keptAs(Path old, Path young) {
    try {
      for (String kept : OWNED) {
        Object value = Files.getAttribute(old, kept);
        if (!Objects.equals(value, Files.getAttribute(young, kept))) {
          Files.setAttribute(young, kept, value);
        }
      }
      return true;
    } catch (IOException _) {
      return false;
    }
  }
}
