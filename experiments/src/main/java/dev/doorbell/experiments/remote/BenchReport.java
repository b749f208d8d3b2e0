package dev.doorbell.experiments.remote;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was measured.
 *
 * @param writes a load each, in the order asked for
 * @param idle what idle queue pairs beside them cost, or null where there were none
 */
public record BenchReport(List<Writes> writes, @Nullable IdleCost idle) {

  /**
   * WRITEs of one size.
   *
   * @param bytes of a WRITE
   * @param nanosPerMessage of each round, by the clock on the wall
   * @param cpuNanos per message of each round, of the thread that sends
   * @param peerCpuNanos per message of each round, of the thread that serves
   * @param framesOut packets that this side sent for them
   * @param kernelDrops datagrams that this side's system dropped meanwhile
   * @param peerKernelDrops datagrams that the other side's system dropped meanwhile
   */
  @SuppressWarnings("ArrayRecordComponent") // read once, never compared
  public record Writes(
      int bytes,
      double[] nanosPerMessage,
      double[] cpuNanos,
      double[] peerCpuNanos,
      long framesOut,
      long kernelDrops,
      long peerKernelDrops) {}

  /** Keeps a copy of the list. */
  public BenchReport {
    writes = List.copyOf(writes);
  }
}
