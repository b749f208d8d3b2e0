package dev.doorbell.interop.shim.client;

import dev.doorbell.core.uverbs.generated.UverbsAbi;
import java.io.IOException;

/**
 * A file in memory as the preload library shares it with a server: of full length and sealed
 * against shrinking. For clients of a server that are written in Java.
 */
public final class SharedFile implements AutoCloseable {
  private final LinuxCalls libc = new LinuxCalls();
  private final int descriptor;

  /** Creates one; its pages take memory as they are touched. */
  public SharedFile() throws IOException {
    descriptor = libc.sealedMemory("doorbell-hca", UverbsAbi.FILE_BYTES);
    if (descriptor < 0) {
      throw new IOException("no file in memory can be created: errno " + -descriptor);
    }
  }

  /** Its number in this process. */
  public int descriptor() {
    return descriptor;
  }

  @Override
  public void close() {
    libc.close(descriptor);
  }
}
