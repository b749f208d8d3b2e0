package dev.doorbell.interop.shim.client;

import dev.doorbell.core.memory.AddressSpace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Memory of a program's emulated GPUs: a file in memory that the program and this process map at
 * the same address, so that an address means the same to the program, its kernels and the HCAs. No
 * other program has a mapping of it, except of parts that the program has exported.
 */
public final class GpuWindow implements AutoCloseable {
  /** Addresses that neither a JVM nor a C program uses by itself. */
  private static final long FIRST = 1L << 45;

  private static final long BYTES = 64L << 30;
  private static final int MOST = 1 << 10;

  private final LinuxCalls libc = new LinuxCalls();
  private final int file;
  private final long base;
  private final AddressSpace space;

  private GpuWindow(int file, long base) {
    this.file = file;
    this.base = base;
    this.space = AddressSpace.over(base, BYTES);
  }

  /**
   * Creates a window at the first free place.
   *
   * @throws IOException when the system refuses
   */
  public static GpuWindow create() throws IOException {
    LinuxCalls libc = new LinuxCalls();
    int file = libc.sealedMemory("doorbell-gpu", BYTES);
    if (file < 0) {
      throw new IOException("no memory for a program's GPUs: errno " + -file);
    }
    for (int i = 0; i < MOST; i++) {
      long base = FIRST + i * BYTES;
      if (libc.mapShared(base, BYTES, LinuxCalls.MAP_FIXED_NOREPLACE, file, 0) == 0) {
        return new GpuWindow(file, base);
      }
    }
    libc.close(file);
    throw new IOException("no addresses are free for a program's GPUs");
  }

  /** Allocates from the window. */
  public AddressSpace space() {
    return space;
  }

  /** Descriptor of the file in this process. */
  public int file() {
    return file;
  }

  public long base() {
    return base;
  }

  public long bytes() {
    return BYTES;
  }

  /** True when the whole range lies in the window. */
  public boolean contains(long start, long bytes) {
    long offset = start - base;
    return offset >= 0 && bytes >= 0 && bytes <= BYTES && offset <= BYTES - bytes;
  }

  /**
   * Lets a part of the window be pages of another file.
   *
   * @throws IOException when they cannot be mapped
   */
  public void overlay(long address, long bytes, Path other, long offset) throws IOException {
    // A page behind the end of a file ends a process that touches it.
    if (offset < 0 || bytes <= 0 || offset > Files.size(other) - bytes) {
      throw new IOException("pages behind the end of a file");
    }
    int opened = libc.open(other.toString());
    int error =
        opened < 0 ? opened : libc.mapShared(address, bytes, LinuxCalls.MAP_FIXED, opened, offset);
    libc.close(opened);
    if (error != 0) {
      throw new IOException("pages of a program: errno " + -error);
    }
  }

  /** Ends {@link #overlay}: the part is the window's own again. */
  public void restore(long address, long bytes) {
    libc.mapShared(address, bytes, LinuxCalls.MAP_FIXED, file, address - base);
  }

  /** Gives all of it back; no address of it may be used any more. */
  @Override
  public void close() {
    space.close();
    libc.unmap(base, BYTES);
    libc.close(file);
  }
}
