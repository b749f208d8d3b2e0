package dev.doorbell.interop.serve;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a measurement.
 *
 * @param writes one entry per load, in their order
 * @param idle cost of the idle queue pairs, or null without any
 */
public record BenchReport(List<Writes> writes, @Nullable IdleCost idle) {

  /**
   * WRITEs of one size.
   *
   * @param bytes of a WRITE
   * @param nanosPerMessage wall-clock time, by round
   * @param cpuNanos CPU time of the sending thread per message, by round
   * @param peerCpuNanos CPU time of the serving thread per message, by round
   * @param framesOut packets that this side sent
   * @param kernelDrops datagrams that this side's system dropped
   * @param peerKernelDrops datagrams that the other side's system dropped
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
