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

  /** Opens a file to be appended to by nobody else. */
  final File append(Path path) throws IOException {
    return open(path, APPEND);
  }

  /** Puts a file in place at once: a reader sees the old one or the new one, never a part. */
  final void replace(Path target, byte[] bytes) throws IOException {
    Path name = target.getFileName();
    Path temporary = target.resolveSibling("." + name + ".part");
    try {
      try (File file = open(temporary, NEW)) {
        file.write(ByteBuffer.wrap(bytes));
        file.force();
      }
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      Files.deleteIfExists(temporary);
      throw e;
    }
  }
}
