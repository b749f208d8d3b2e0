package dev.doorbell.experiments.remote;

/**
 * What was measured.
 *
 * @param bytes of a WRITE
 * @param nanosPerMessage of each round, by the clock on the wall
 * @param cpuNanos per message of each round, of the thread that sends
 * @param peerCpuNanos per message of each round, of the thread that serves
 * @param framesOut packets that this side sent in all
 * @param kernelDrops datagrams that this side's system dropped
 * @param peerKernelDrops datagrams that the other side's system dropped
 */
@SuppressWarnings("ArrayRecordComponent") // read once, never compared
public record BenchReport(
    int bytes,
    double[] nanosPerMessage,
    double[] cpuNanos,
    double[] peerCpuNanos,
    long framesOut,
    long kernelDrops,
    long peerKernelDrops) {}
