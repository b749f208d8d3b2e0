package dev.doorbell.interop.shim.abi;

/** Small structures in a program's memory. Both throw EFAULT. */
public interface UserMemory {
  void copyIn(long address, byte[] to) throws ErrnoException;

  void copyOut(long address, byte[] from) throws ErrnoException;
}
