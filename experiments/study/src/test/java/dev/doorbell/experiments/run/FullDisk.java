package dev.doorbell.experiments.run;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/** A disk with room for so many bytes, that writes what fits before it says that it is full. */
public final class FullDisk extends Disk {
  private long room;

  public FullDisk(long room) {
    this.room = room;
  }

  @Override
  File open(Path path, OpenOption... options) throws IOException {
    File file = super.open(path, options);
    return new File() {
      @Override
      public byte[] read() throws IOException {
        return file.read();
      }

      @Override
      public void write(ByteBuffer bytes) throws IOException {
        int fits = (int) Math.min(room, bytes.remaining());
        boolean all = fits == bytes.remaining();
        file.write(bytes.slice(bytes.position(), fits));
        bytes.position(bytes.position() + fits);
        room -= fits;
        if (!all) {
          throw new FileSystemException(path.toString(), null, "No space left on device");
        }
      }

      @Override
      public void force() {
        // The tests cut files themselves; waiting for the medium would only be slow.
      }

      @Override
      public void truncate(long length) throws IOException {
        file.truncate(length);
      }

      @Override
      public long length() throws IOException {
        return file.length();
      }

      @Override
      public void close() throws IOException {
        file.close();
      }
    };
  }
}
