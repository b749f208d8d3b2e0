package dev.doorbell.interop.alltoall;

import dev.doorbell.core.fault.FaultCount;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of an all-to-all, for the ranks of one process.
 *
 * @param messages sent by them, each of them checked
 * @param atomics among the messages
 * @param bytesWrong bytes at their targets, or read back, that were not what was sent
 * @param atomicsWrong atomics that were lost or applied twice
 * @param framesOut packets that left
 * @param framesIn packets that arrived
 * @param kernelDrops datagrams that the system dropped
 * @param nanos of the fabric's clock
 * @param faults what was done to packets
 * @param digest hash of all packets with their times, where the seed determines them; else null
 */
public record AllToAllReport(
    long messages,
    long atomics,
    long bytesWrong,
    long atomicsWrong,
    long framesOut,
    long framesIn,
    long kernelDrops,
    long nanos,
    List<FaultCount> faults,
    @Nullable String digest) {

  /** True when every message has arrived once, as it was sent. */
  public boolean isRight() {
    return bytesWrong == 0 && atomicsWrong == 0;
  }
}
