package dev.doorbell.core.hca;

/**
 * How kernels post to a queue pair whose work requests are not mlx5's.
 *
 * @param flag of {@code core.queue.QueuePairView}: which back end of the device library
 * @param descriptor what that back end needs beside the view, as it lies in memory
 * @param maxInline bytes of an inline payload at most
 */
@SuppressWarnings("ArrayRecordComponent")
public record DeviceQueue(int flag, byte[] descriptor, int maxInline) {}
