package dev.doorbell.interop.shim.gpu;

import dev.doorbell.core.memory.Allocation;

/**
 * Memory in a program's window.
 *
 * @param device index of the GPU that it belongs to
 * @param kind use of it
 */
record GpuBlock(Allocation allocation, int device, Kind kind) {
  /** Use of a block; the order is that of the protocol. */
  enum Kind {
    DEVICE,
    HOST,
    MANAGED,
    /** Pages of a file of the program: registered host memory, doorbell pages. */
    FILE,
    /** Memory that another program has exported. */
    IMPORTED,
    /** Addresses to which the program maps pages of files. */
    RESERVED;

    /** Returns the kind that a program names by number. */
    @SuppressWarnings("EnumOrdinal") // the order is that of the protocol
    static Kind of(long number) throws CudaException {
      CudaException.require(number >= 0 && number < values().length, CudaStatus.INVALID_VALUE);
      return values()[(int) number];
    }

    /** Its number in the protocol. */
    @SuppressWarnings("EnumOrdinal") // the order is that of the protocol
    int number() {
      return ordinal();
    }
  }

  /** True when its pages are those of another file. */
  boolean isOverlay() {
    return kind == Kind.FILE || kind == Kind.IMPORTED || kind == Kind.RESERVED;
  }
}
