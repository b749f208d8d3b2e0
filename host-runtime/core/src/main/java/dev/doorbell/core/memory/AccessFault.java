package dev.doorbell.core.memory;

/** An access outside every allocation, or to one it has no business with. */
public final class AccessFault extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final long address;
  private final long size;

  public AccessFault(String what, long address, long size, String nearest) {
    super("%s of %d bytes at 0x%x: %s".formatted(what, size, address, nearest));
    this.address = address;
    this.size = size;
  }

  /** The first byte of the refused access. */
  public long address() {
    return address;
  }

  /** The number of bytes of the refused access. */
  public long size() {
    return size;
  }
}
