package dev.doorbell.interop.shim.abi;

/** The program has to share some pages before a command can run; the library then repeats it. */
public final class PagesNotShared extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient PageRange range;

  public PagesNotShared(PageRange range) {
    super("pages at 0x%x".formatted(range.start()), null, false, false);
    this.range = range;
  }

  public PageRange range() {
    return range;
  }
}
