package dev.doorbell.proxy.recovery;

import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.proxy.SendQueueAccess;

/**
 * The memory of a queue pair on which a kernel posts, as the host reaches it while no poster is at
 * work: at a safe point, or when the kernel has ended.
 *
 * @param view what kernels see
 * @param access where the CPU rings
 * @param sendRing the send ring
 * @param completionRing the completion ring, of this queue pair alone
 * @param counters {@code struct doorbell_counters} and the marks behind it
 * @param error {@code struct doorbell_error}
 */
public record KernelQueue(
    QueuePairView view,
    SendQueueAccess access,
    Memory sendRing,
    Memory completionRing,
    Memory counters,
    Memory error) {}
