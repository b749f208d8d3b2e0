package dev.doorbell.core.hca;

import dev.doorbell.core.adapter.Promise;

/**
 * The means by which kernels post to a queue pair whose work requests are not mlx5's.
 *
 * @param kind which back end of the device library
 * @param descriptor what that back end needs beside the view, as it lies in memory
 * @param maxInline bytes of an inline payload at most
 */
@SuppressWarnings("ArrayRecordComponent")
public record DeviceQueue(Promise.Queues kind, byte[] descriptor, int maxInline) {}
