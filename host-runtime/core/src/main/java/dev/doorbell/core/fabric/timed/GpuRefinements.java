package dev.doorbell.core.fabric.timed;

/**
 * What a GPU's accesses cost beyond the plain prices of {@link GpuPrices}, and what bounds streams
 * of them. A topology may leave out all of it.
 *
 * @param fenceSystemFloor a fence of system scope with nothing outstanding, in nanoseconds
 * @param fenceRemote a fence of GPU scope while stores to memory elsewhere are outstanding, in
 *     nanoseconds
 * @param fenceAwaitsArrival whether a fence of system scope waits until stores to memory elsewhere
 *     have arrived and that is known here; otherwise only a sequentially consistent one does, and
 *     others wait until the stores have left: PCIe keeps the order of what is posted
 * @param fenceStrict what a sequentially consistent fence of system scope takes at least, in
 *     nanoseconds
 * @param remoteLoad what a load of memory elsewhere takes beyond the way there and back and the
 *     service there, in nanoseconds; an atomic does not
 * @param wideLoad what a load of its own memory takes more for every 4 bytes after the first 4, in
 *     nanoseconds
 * @param wideRemoteLoad the same of memory elsewhere
 * @param loadGranule loads of one instant from one aligned line of so many bytes elsewhere are one
 *     request; 0: each is a request of its own
 * @param blockStoreRate bytes a nanosecond that the stores of one block get through at most, one
 *     block being on one multiprocessor; 0: no bound
 * @param loadRate bytes a nanosecond of loads of its own memory at most; 0: no bound
 * @param storeRate the same of stores
 */
public record GpuRefinements(
    double fenceSystemFloor,
    double fenceRemote,
    boolean fenceAwaitsArrival,
    double fenceStrict,
    double remoteLoad,
    double wideLoad,
    double wideRemoteLoad,
    int loadGranule,
    double blockStoreRate,
    double loadRate,
    double storeRate) {

  /** None, where a fence of any scope costs {@code fenceFloor} at least. */
  public static GpuRefinements none(double fenceFloor) {
    return new GpuRefinements(fenceFloor, 0, true, fenceFloor, 0, 0, 0, 0, 0, 0, 0);
  }
}
