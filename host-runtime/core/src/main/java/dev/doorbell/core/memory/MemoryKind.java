package dev.doorbell.core.memory;

/** The kind of a range of memory; decides who reaches it, over which path, at what price. */
public enum MemoryKind {
  /** GPU memory ({@code cuMemAlloc}). On a real GPU the CPU cannot address it. */
  DEVICE("gpu"),
  /** Managed memory ({@code cuMemAllocManaged}): pages move between GPU and host. */
  MANAGED("managed"),
  /** Page-locked host memory that the GPU and the HCA may address. */
  HOST("host"),
  /** On-chip memory of the HCA (MEMIC), mapped into the address space. */
  NIC("nic"),
  /** Doorbell pages of the HCA: every store is a transaction and none is combined or dropped. */
  UAR("uar"),
  /** Addresses of a multicast object: {@code multimem} instructions alone may use them. */
  MULTICAST("multicast"),
  /** Shared and local memory of running CTAs: nobody but their threads reaches it. */
  SCRATCH("scratch");

  private final String word;

  MemoryKind(String word) {
    this.word = word;
  }

  /** The word used for this kind in configurations and messages. */
  public String word() {
    return word;
  }
}
