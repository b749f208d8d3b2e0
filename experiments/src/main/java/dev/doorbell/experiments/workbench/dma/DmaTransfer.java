package dev.doorbell.experiments.workbench.dma;

/** What a {@link DmaProbe} does over and over. */
public enum DmaTransfer {
  /** One read at a time: nanoseconds from the command to the last byte. pcie-bench's LAT_RD. */
  READ_LATENCY("read-latency"),
  /** A write and a read of the same bytes behind it: nanoseconds for both. LAT_WRRD. */
  WRITE_READ_LATENCY("write-read-latency"),
  /** Many reads at a time: bytes a nanosecond. BW_RD. */
  READ_RATE("read-rate"),
  /** Many writes at a time: bytes a nanosecond. BW_WR. */
  WRITE_RATE("write-rate");

  private final String word;

  DmaTransfer(String word) {
    this.word = word;
  }

  /** Its name in files. */
  public String word() {
    return word;
  }

  /** Whether one transfer ends before the next begins, and nanoseconds are the result. */
  public boolean latency() {
    return this == READ_LATENCY || this == WRITE_READ_LATENCY;
  }
}
