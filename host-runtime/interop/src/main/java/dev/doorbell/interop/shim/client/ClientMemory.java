package dev.doorbell.interop.shim.client;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.UserMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Small structures in another process's memory, as a kernel copies from and to user space. */
public final class ClientMemory implements UserMemory {
  private static final int COPY_BYTES = 1 << 16;

  private final ProcessMemory memory;
  private final MemorySegment copy = Arena.ofAuto().allocate(COPY_BYTES, Long.BYTES);

  public ClientMemory(int pid) {
    this(new ProcessMemory(pid));
  }

  ClientMemory(ProcessMemory memory) {
    this.memory = memory;
  }

  @Override
  public void copyIn(long address, byte[] to) throws ErrnoException {
    ErrnoException.require(
        to.length <= COPY_BYTES && memory.read(address, copy.address(), to.length), Errno.EFAULT);
    MemorySegment.copy(copy, 0, MemorySegment.ofArray(to), 0, to.length);
  }

  @Override
  public void copyOut(long address, byte[] from) throws ErrnoException {
    ErrnoException.require(from.length <= COPY_BYTES, Errno.EFAULT);
    MemorySegment.copy(MemorySegment.ofArray(from), 0, copy, 0, from.length);
    ErrnoException.require(
        from.length == 0 || memory.write(copy.address(), address, from.length), Errno.EFAULT);
  }
}
