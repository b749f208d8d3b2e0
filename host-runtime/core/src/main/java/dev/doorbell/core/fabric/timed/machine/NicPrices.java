package dev.doorbell.core.fabric.timed.machine;

/**
 * Costs of an HCA's own work, in nanoseconds, and how it behaves on PCIe.
 *
 * @param doorbell from the arrival of a doorbell until the fetch of the WQE starts
 * @param wqe parsing a WQE and loading its contexts
 * @param packet from the last payload byte until the first packet may leave
 * @param onChipRead reading payload from on-chip memory
 * @param memoryService from the arrival of a read of on-chip memory until its completion leaves
 * @param maxReadRequest largest read request (MRRS), in bytes
 * @param readTags read requests that may be outstanding; 0 means as many as it takes
 * @param completionBytes cut of completions for reads of on-chip memory; 0 means largest payload
 * @param finer what is known beyond these
 * @param dma its DMA engine
 */
public record NicPrices(
    double doorbell,
    double wqe,
    double packet,
    double onChipRead,
    double memoryService,
    @Price(key = "max_read_request_bytes") int maxReadRequest,
    int readTags,
    int completionBytes,
    NicRefinements finer,
    @Price(key = "dma") DmaPrices dma) {

  /**
   * Costs of an HCA beyond the plain prices of {@link NicPrices}, in nanoseconds. A topology may
   * leave out all of it.
   *
   * @param registerService from the arrival of a read of a doorbell page until its completion
   *     leaves, as a fence that flushes posted stores reads it
   * @param receive from a request packet's arrival to its effect at the responder
   * @param acknowledge from an acknowledgement's arrival until the CQE is written
   * @param wqeInterval of the HCA's engine for a WQE: the HCA's ceiling; 0: none
   * @param queueInterval between the starts of two WQEs of one queue pair: the queue pair's
   *     ceiling; 0: none
   * @param packetInterval of the same engine for a request packet that arrives; 0: none
   * @param connections queue pairs whose state the HCA holds; 0: all
   * @param connectionMiss from the start of a fetch until another one's state is there, which a
   *     request packet waits for
   * @param connectionFetches of states that are under way together, at least 1
   * @param transmitBytes of memory for payload from the begin of its gather until the wire has
   *     taken it; queue pairs use it in turns; 0: no limit
   * @param fetchBytes of WQEs that are being fetched for all queue pairs, likewise
   */
  public record NicRefinements(
      double registerService,
      double receive,
      double acknowledge,
      double wqeInterval,
      double queueInterval,
      double packetInterval,
      int connections,
      double connectionMiss,
      @Price(standard = 1) int connectionFetches,
      @Price(key = "transmit_buffer_bytes") int transmitBytes,
      @Price(key = "wqe_buffer_bytes") int fetchBytes) {}

  /**
   * Times of a device's DMA engine, in nanoseconds. It works as three stages, each of which takes
   * one piece of work after the other: reads are issued, writes are issued, and bytes that arrived,
   * or that are to leave, are stored and forwarded.
   *
   * @param readStart from the command to read until the first request may leave
   * @param readRequest for which a read request keeps the issue of reads busy
   * @param readUnit what each unit that the request touches adds to that
   * @param readUnitBytes the unit, aligned, which is stored as a whole
   * @param writeStart from the command to write until its bytes are taken from the device's memory
   * @param writeRequest for which a write keeps the issue of writes busy
   * @param writeUnit what each unit of the write adds to that
   * @param writeUnitBytes the unit: bytes from the write's first on
   * @param storeRequest of storing and forwarding one transfer of at most 4 KiB, whatever its
   *     length
   * @param storeRate bytes a nanosecond that are stored and forwarded; 0: bytes are cut through
   */
  public record DmaPrices(
      double readStart,
      double readRequest,
      double readUnit,
      @Price(standard = 64) int readUnitBytes,
      double writeStart,
      double writeRequest,
      double writeUnit,
      @Price(standard = 64) int writeUnitBytes,
      @Price(key = "store_ns") double storeRequest,
      @Price(key = "store_gb_s") double storeRate) {

    public DmaPrices {
      if (readUnitBytes <= 0 || writeUnitBytes <= 0) {
        throw new IllegalArgumentException(
            "readUnitBytes=" + readUnitBytes + " writeUnitBytes=" + writeUnitBytes);
      }
    }
  }
}
