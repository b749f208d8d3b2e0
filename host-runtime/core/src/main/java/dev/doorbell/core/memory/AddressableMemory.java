package dev.doorbell.core.memory;

import java.lang.foreign.MemorySegment;

/** Memory that the CPU addresses as kernels do: that of an emulated world, or of this machine. */
public abstract class AddressableMemory implements Memory {
  /**
   * Refuses an access that would leave this memory, or comes too late.
   *
   * @param what the access, for the message
   */
  protected abstract void check(String what, long offset, long bytes);

  @Override
  public final void write(long offset, MemorySegment source) {
    check("write", offset, source.byteSize());
    RawMemory.copyIn(source, 0, address() + offset, source.byteSize());
  }

  @Override
  public final void read(long offset, MemorySegment target) {
    check("read", offset, target.byteSize());
    RawMemory.copyOut(address() + offset, target, 0, target.byteSize());
  }

  @Override
  public final void fill(long offset, long bytes, byte value) {
    check("fill", offset, bytes);
    if (value == 0) {
      zero(address() + offset, bytes);
    } else if (bytes > 0) {
      RawMemory.fill(address() + offset, bytes, value);
    }
  }

  /** Writes zeros to memory that was checked. */
  protected void zero(long address, long bytes) {
    if (bytes > 0) {
      RawMemory.fill(address, bytes, (byte) 0);
    }
  }
}
