package dev.doorbell.interop.shim.client;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Reads and writes the memory of another process: {@code process_vm_readv} and {@code
 * process_vm_writev} of Linux, one range per call. Memory that is not there is a return value, not
 * an exception.
 */
@SuppressWarnings("restricted")
public final class ProcessMemory {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final MethodHandle READ = find("process_vm_readv");
  private static final MethodHandle WRITE = find("process_vm_writev");

  private final int pid;

  /** Two {@code struct iovec}: of this process, of the other one. */
  private final MemorySegment vectors = Arena.ofAuto().allocate(4L * Long.BYTES, Long.BYTES);

  private final long local = vectors.address();
  private final long remote = local + 2L * Long.BYTES;

  ProcessMemory(int pid) {
    this.pid = pid;
  }

  private static MethodHandle find(String name) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(LONG, INT, LONG, LONG, LONG, LONG, LONG));
  }

  /**
   * Copies from {@code address} in the other process to native memory of this one.
   *
   * @return false when not all of them can be read
   */
  boolean read(long address, long target, long bytes) {
    setVectors(target, address, bytes);
    try {
      return (long) READ.invokeExact(pid, local, 1L, remote, 1L, 0L) == bytes;
    } catch (Throwable e) {
      throw new IllegalStateException("process_vm_readv", e);
    }
  }

  /**
   * Copies native memory of this process to {@code address} in the other one, in ascending order.
   *
   * @return false when not all of them can be written
   */
  boolean write(long source, long address, long bytes) {
    setVectors(source, address, bytes);
    try {
      return (long) WRITE.invokeExact(pid, local, 1L, remote, 1L, 0L) == bytes;
    } catch (Throwable e) {
      throw new IllegalStateException("process_vm_writev", e);
    }
  }

  private void setVectors(long localAddress, long remoteAddress, long bytes) {
    vectors.set(LONG, 0, localAddress);
    vectors.set(LONG, Long.BYTES, bytes);
    vectors.set(LONG, 2L * Long.BYTES, remoteAddress);
    vectors.set(LONG, 3L * Long.BYTES, bytes);
  }
}
