package dev.doorbell.core.fabric.timed.machine;

/**
 * What a device's DMA engine takes, in nanoseconds. It works as three stages, each of which takes
 * one piece of work after the other: reads are issued, writes are issued, and bytes that arrived,
 * or that are to leave, are stored and forwarded.
 *
 * @param readStart from the command to read until the first request may leave
 * @param readRequest for which a read request keeps the issue of reads busy
 * @param readUnit what each unit that the request touches adds to that
 * @param readUnitBytes the unit: aligned bytes of the memory that is read
 * @param writeStart from the command to write until its bytes are taken from the device's memory
 * @param writeRequest for which a write keeps the issue of writes busy
 * @param writeUnit what each unit of the write adds to that
 * @param writeUnitBytes the unit: bytes from the write's first on
 * @param storeRequest of storing and forwarding one transfer of at most 4 KiB, whatever its length
 * @param storeRate bytes a nanosecond that are stored and forwarded; 0: bytes are cut through
 */
public record DmaPrices(
    @Price(standard = 0) double readStart,
    @Price(standard = 0) double readRequest,
    @Price(standard = 0) double readUnit,
    @Price(least = 4, most = Price.LARGEST_PAYLOAD, power = true, standard = 64) int readUnitBytes,
    @Price(standard = 0) double writeStart,
    @Price(standard = 0) double writeRequest,
    @Price(standard = 0) double writeUnit,
    @Price(least = 4, most = Price.LARGEST_PAYLOAD, power = true, standard = 64) int writeUnitBytes,
    @Price(key = "store_ns", standard = 0) double storeRequest,
    @Price(key = "store_gb_s", most = Price.RATE, standard = 0) double storeRate) {

  public DmaPrices {
    if (readUnitBytes <= 0 || writeUnitBytes <= 0) {
      throw new IllegalArgumentException(
          "readUnitBytes=" + readUnitBytes + " writeUnitBytes=" + writeUnitBytes);
    }
  }
}
