package dev.doorbell.experiments.run;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * The only way in which a run's files reach the disk: whole or not at all, and durable before the
 * call returns. Tests put a disk that fills up in its place.
 */
public class Disk {
  private static final OpenOption[] NEW = {
    StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE
  };
  private static final OpenOption[] APPEND = {
    StandardOpenOption.CREATE, StandardOpenOption.APPEND, StandardOpenOption.WRITE
  };

  /** An open file. */
  interface File extends Closeable {
    void write(ByteBuffer bytes) throws IOException;

    /** Returns once everything written is on the medium. */
    void force() throws IOException;

    void truncate(long length) throws IOException;

    long length() throws IOException;
  }

  /** The file system of this machine. */
  public Disk() {}

  File open(Path path, OpenOption... options) throws IOException {
    FileChannel channel = FileChannel.open(path, options);
    return new File() {
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

  /** Opens a file to be appended to. */
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
