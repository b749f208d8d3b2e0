package dev.doorbell.experiments.remote;

import dev.doorbell.core.fault.FaultCount;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How an all-to-all went, for the ranks of one process.
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
 * @param digest stands for every packet with its time, where the same seed gives the same ones;
 *     null where it does not
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
