package dev.doorbell.interop.shim.abi;

/**
 * Whole pages of a program.
 *
 * @param start address in the program
 * @param bytes a multiple of the page size
 */
public record PageRange(long start, long bytes) {
  public long end() {
    return start + bytes;
  }
}
