package dev.doorbell.softhca.wire;

/**
 * What a wire has carried and what it did not; nothing is dropped without being counted.
 *
 * @param framesOut frames given to the system
 * @param bytesOut bytes of them, from the BTH to the ICRC
 * @param framesIn packets delivered to the HCA
 * @param bytesIn bytes of them, from the BTH to the ICRC
 * @param badIcrc arrived with a wrong ICRC: dropped
 * @param malformed arrived and were no RoCE packets, or broke its header rules: dropped
 * @param notForUs arrived for another GID: dropped
 * @param unresolved could not leave, for nobody answered for the peer's address yet: dropped
 * @param kernelDrops arrived while the socket's buffer was full: dropped by the system
 * @param refused the system would not send: too large, no route
 * @param stalls times that sending waited for the system
 * @param faults packets that {@link WireFaults} did something to
 */
public record WireCounters(
    long framesOut,
    long bytesOut,
    long framesIn,
    long bytesIn,
    long badIcrc,
    long malformed,
    long notForUs,
    long unresolved,
    long kernelDrops,
    long refused,
    long stalls,
    long faults) {}
