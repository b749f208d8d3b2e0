package dev.doorbell.experiments.remote;

import org.jspecify.annotations.Nullable;

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
 * @param idle what idle queue pairs beside it cost, or null where there were none
 */
@SuppressWarnings("ArrayRecordComponent") // read once, never compared
public record BenchReport(
    int bytes,
    double[] nanosPerMessage,
    double[] cpuNanos,
    double[] peerCpuNanos,
    long framesOut,
    long kernelDrops,
    long peerKernelDrops,
    @Nullable IdleCost idle) {}
