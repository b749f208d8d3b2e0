package dev.doorbell.interop.shim;

/** A command cannot go on before the program has shared some pages; it is asked again then. */
final class NeedsPages extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient ClientProcess.Range range;

  NeedsPages(ClientProcess.Range range) {
    super("pages at 0x%x".formatted(range.start()), null, false, false);
    this.range = range;
  }

  ClientProcess.Range range() {
    return range;
  }
}
