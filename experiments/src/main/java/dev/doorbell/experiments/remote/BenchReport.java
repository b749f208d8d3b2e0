package dev.doorbell.experiments.remote;

/**
 * What was measured.
 *
 * @param bytes of a WRITE
 * @param nanosPerMessage of each round
 * @param framesOut packets that this side sent in all
 * @param kernelDrops datagrams that this side's system dropped
 * @param peerKernelDrops datagrams that the other side's system dropped
 */
@SuppressWarnings("ArrayRecordComponent") // read once, never compared
public record BenchReport(
    int bytes, double[] nanosPerMessage, long framesOut, long kernelDrops, long peerKernelDrops) {}
