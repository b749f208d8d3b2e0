package dev.doorbell.core.fabric.timed.machine;

/**
 * Costs of a GPU's accesses beyond the plain prices of {@link GpuPrices}, and what bounds streams
 * of them. A topology may leave out all of it.
 *
 * @param fenceSystemFloor a fence of system scope with nothing outstanding, in nanoseconds
 * @param fenceRemote a fence of GPU scope while stores to memory elsewhere are outstanding, in
 *     nanoseconds
 * @param fenceSystemRemote a fence of system scope, likewise, at least
 * @param fenceAwaitsArrival whether a fence of system scope waits until stores to memory elsewhere
 *     have arrived and that is known here; if not, until they have left: PCIe keeps the order of
 *     what is posted
 * @param fenceFlushes whether a fence of system scope makes a round trip to where posted stores
 *     went since the last one, however long ago, after a fence of GPU scope: nothing acknowledges a
 *     posted store. GPUs of a machine with NVLink do
 * @param pollsDrift whether a write finds a poller, of the GPU or of a CPU, anywhere in its round,
 *     by chance, as nothing keeps an HCA and a poller in step; if not, rounds follow each other
 *     from the first one on
 * @param remoteLoad what a load of memory elsewhere takes beyond the way there and back and the
 *     service there, in nanoseconds
 * @param remoteAtomic the same of an atomic
 * @param remoteSpread what a load takes more each time its bytes double from 4, where its request
 *     is for more than {@link #SECTOR_BYTES} as those that lanes share are: a warp waits for the
 *     slowest of its lines
 * @param remoteContention what a load takes more for every load of a thread of the GPU that is
 *     under way
 * @param loadGranule loads of one instant from one aligned line of so many bytes elsewhere are one
 *     request; 0: each is a request of its own
 * @param blockStoreRate bytes a nanosecond that the stores of one block get through at most, in
 *     whole sectors, one block being on one multiprocessor; 0: no bound
 * @param loadRate bytes a nanosecond of loads of its own memory at most; 0: no bound
 * @param storeRate the same of stores
 * @param loadSector bytes that a weak load which misses the first cache fills there, a power of two
 * @param loadsInFlight loads of one thread that are under way at most; 1: it waits for each
 * @param loadIssue what the thread takes to issue a load that it does not wait for, in nanoseconds
 * @param latencies what instructions of a thread wait for each other
 */
public record GpuRefinements(
    @Price(like = "fenceFloor", cycles = 1) double fenceSystemFloor,
    @Price(cycles = 1) double fenceRemote,
    @Price(cycles = 1) double fenceSystemRemote,
    @Price(standard = 1) boolean fenceAwaitsArrival,
    boolean fenceFlushes,
    boolean pollsDrift,
    double remoteLoad,
    double remoteAtomic,
    @Price(cycles = 1) double remoteSpread,
    double remoteContention,
    @Price(key = "load_granule_bytes") int loadGranule,
    @Price(key = "block_store_gb_s", cycles = -1) double blockStoreRate,
    @Price(key = "device_load_gb_s") double loadRate,
    @Price(key = "device_store_gb_s") double storeRate,
    @Price(key = "load_sector_bytes", standard = GpuRefinements.LINE_BYTES) int loadSector,
    @Price(standard = 1) int loadsInFlight,
    @Price(cycles = 1) double loadIssue,
    Latencies latencies) {

  /**
   * Times from an instruction that computes until another can use what it brings, in nanoseconds.
   * If all are 0, instructions do not wait for each other.
   *
   * @param result until its result can be an operand
   * @param decision of a comparison until a branch or a guard can use its predicate
   * @param jump from a conditional branch to the next instruction
   * @param call what a call and its return take, together
   */
  public record Latencies(
      @Price(cycles = 1) double result,
      @Price(cycles = 1) double decision,
      @Price(cycles = 1) double jump,
      @Price(cycles = 1) double call) {
    public static final Latencies NONE = new Latencies(0, 0, 0, 0);
  }

  /** Bytes that a GPU asks for at least. */
  public static final int SECTOR_BYTES = 32;

  /** A line of the first cache. */
  public static final int LINE_BYTES = 128;

  /** No thread has more loads under way. */
  public static final int MOST_LOADS_IN_FLIGHT = 255;

  public GpuRefinements {
    if (loadSector < 1 || Integer.bitCount(loadSector) != 1) {
      throw new IllegalArgumentException("sectors of %d bytes".formatted(loadSector));
    }
    if (loadsInFlight < 1 || loadsInFlight > MOST_LOADS_IN_FLIGHT) {
      throw new IllegalArgumentException(loadsInFlight + " loads of a thread in flight");
    }
  }
}
