package dev.doorbell.interop.shim.client;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.UserMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Memory of another process, as a kernel copies from and to user space: {@code process_vm_readv}
 * and {@code process_vm_writev} of Linux, one range per call. For devices, memory that is not there
 * is a return value, not an exception.
 */
public final class ClientMemory implements UserMemory {
  private static final int COPY_BYTES = 1 << 16;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

  private final LinuxCalls linux = new LinuxCalls();
  private final int pid;
  private final MemorySegment copy = Arena.ofAuto().allocate(COPY_BYTES, Long.BYTES);

  /** Two {@code struct iovec}: of this process, of the other one. */
  private final MemorySegment vectors = Arena.ofAuto().allocate(4L * Long.BYTES, Long.BYTES);

  private final long local = vectors.address();
  private final long remote = local + 2L * Long.BYTES;

  public ClientMemory(int pid) {
    this.pid = pid;
  }

  @Override
  public void copyIn(long address, byte[] to) throws ErrnoException {
    ErrnoException.require(
        to.length <= COPY_BYTES && read(address, copy.address(), to.length), Errno.EFAULT);
    MemorySegment.copy(copy, 0, MemorySegment.ofArray(to), 0, to.length);
  }

  @Override
  public void copyOut(long address, byte[] from) throws ErrnoException {
    ErrnoException.require(from.length <= COPY_BYTES, Errno.EFAULT);
    MemorySegment.copy(MemorySegment.ofArray(from), 0, copy, 0, from.length);
    ErrnoException.require(
        from.length == 0 || write(copy.address(), address, from.length), Errno.EFAULT);
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
   * Where that one has ended nothing is copied: a device still has its pages until its queue pairs
   * are closed, and nobody reads them.
   *
   * @return false when not all of them can be written
   */
  boolean write(long source, long address, long bytes) {
    setVectors(source, address, bytes);
    long written = linux.writeProcess(pid, local, remote);
    return written == bytes || written == -Errno.ESRCH;
  }

  private void setVectors(long localAddress, long remoteAddress, long bytes) {
    vectors.set(LONG, 0, localAddress);
    vectors.set(LONG, Long.BYTES, bytes);
    vectors.set(LONG, 2L * Long.BYTES, remoteAddress);
    vectors.set(LONG, 3L * Long.BYTES, bytes);
  }
}
