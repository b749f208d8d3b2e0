package dev.doorbell.interop.shim.client;

import dev.doorbell.interop.shim.abi.ErrnoException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A program's eventfd (eventfd(2)), which the server signals. */
public final class EventFile implements AutoCloseable {
  private final LinuxCalls libc = new LinuxCalls();
  private final MemorySegment one = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
  private int file;

  /**
   * @param descriptor in the process {@code pid}
   */
  public EventFile(int pid, int descriptor) throws ErrnoException {
    file = libc.descriptorOf(pid, descriptor);
    ErrnoException.require(file >= 0, -file);
    one.set(ValueLayout.JAVA_LONG, 0, 1);
  }

  /** Adds 1 to its count; one that is full stays so. */
  public void signal() {
    if (file >= 0) {
      libc.write(file, one.address(), Long.BYTES);
    }
  }

  @Override
  public void close() {
    if (file >= 0) {
      libc.close(file);
      file = -1;
    }
  }
}
