package dev.doorbell.interop.shim.abi;

/** The program has to share some memory before a command can run; the library then repeats it. */
public final class PagesNotShared extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient PageRange range;
  private final boolean onGpu;

  /** Pages of the host. */
  public PagesNotShared(PageRange range) {
    this(range, false);
  }

  private PagesNotShared(PageRange range, boolean onGpu) {
    super("memory at 0x%x".formatted(range.start()), null, false, false);
    this.range = range;
    this.onGpu = onGpu;
  }

  /** Reports a range that is no memory of the host, and may be a GPU's. */
  public static PagesNotShared onGpu(long start, long bytes) {
    return new PagesNotShared(new PageRange(start, bytes), true);
  }

  public boolean isOnGpu() {
    return onGpu;
  }

  public PageRange range() {
    return range;
  }
}
