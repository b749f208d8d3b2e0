package dev.doorbell.interop.shim.client;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Reads and writes the memory of another process: {@code process_vm_readv} and {@code
 * process_vm_writev} of Linux, one range per call. Memory that is not there is a return value, not
 * an exception.
 */
public final class ProcessMemory {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

  private final LinuxCalls linux = new LinuxCalls();
  private final int pid;

  /** Two {@code struct iovec}: of this process, of the other one. */
  private final MemorySegment vectors = Arena.ofAuto().allocate(4L * Long.BYTES, Long.BYTES);

  private final long local = vectors.address();
  private final long remote = local + 2L * Long.BYTES;

  ProcessMemory(int pid) {
    this.pid = pid;
  }

  /**
   * Copies from {@code address} in the other process to native memory of this one.
   *
   * @return false when not all of them can be read
   */
  boolean read(long address, long target, long bytes) {
    setVectors(target, address, bytes);
    return linux.readProcess(pid, local, remote) == bytes;
  }

  /**
   * Copies native memory of this process to {@code address} in the other one, in ascending order.
   *
   * @return false when not all of them can be written
   */
  boolean write(long source, long address, long bytes) {
    setVectors(source, address, bytes);
    return linux.writeProcess(pid, local, remote) == bytes;
  }

  private void setVectors(long localAddress, long remoteAddress, long bytes) {
    vectors.set(LONG, 0, localAddress);
    vectors.set(LONG, Long.BYTES, bytes);
    vectors.set(LONG, 2L * Long.BYTES, remoteAddress);
    vectors.set(LONG, 3L * Long.BYTES, bytes);
  }
}
