package dev.doorbell.core.hca;

/** Registered memory. Work requests name it by its keys; addresses in them are the memory's own. */
public interface MemoryRegion extends AutoCloseable {
  /** Names the region in local data segments. */
  int lkey();

  /** Names the region in a peer's remote address segments. */
  int rkey();

  long address();

  /** Its length in bytes. */
  long length();

  /** Ends the registration; work requests that name it fail from then on. */
  @Override
  void close();
}
