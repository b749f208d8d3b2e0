package dev.doorbell.proxy.recovery;

import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.hca.SentRequests;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.proxy.SendQueueAccess;
import org.jspecify.annotations.Nullable;

/**
 * A connected queue pair on which kernels post. The control calls reach the peer out of band; they
 * are made while no poster is at work, except {@link #stop}.
 */
public interface KernelConnection extends AutoCloseable {
  String name();

  KernelQueue queue();

  /** Puts both ends in error: after this call the peer executes no further request. */
  void stop();

  /** Requests that the HCA has begun; null when it cannot tell. Called after {@link #stop}. */
  @Nullable SentRequests sent();

  /** Requests that the peer has executed; null when it cannot tell. Called after {@link #stop}. */
  @Nullable ExecutedRequests executed();

  /**
   * Connects both ends again, from whatever state: indices of the send queue start at 0 and the
   * peer counts from 0. What was under way to the connection before is not taken for the new one's.
   */
  void reconnect();

  /**
   * The local key on this connection of the memory that has {@code key} on any of its connections.
   */
  int localKey(int key);

  /**
   * The remote key on this connection of the memory that has {@code key} on any of its connections.
   */
  int remoteKey(int key);

  /** Kernels are about to post here: what they read keys from has to hold this connection's. */
  void activate();

  /** Writes the result of an atomic to {@code address}, where its WQE wanted it. */
  void deliver(long address, long value);

  @Override
  void close();

  /** Says where work goes on. */
  @FunctionalInterface
  interface Source {
    /**
     * The connection to go on with after {@code failed}: the same one, or another. It need not be
     * connected.
     *
     * @param attempt 0 for the first failure, then counting up
     * @return null when there is no path left
     */
    @Nullable KernelConnection next(int attempt, KernelConnection failed);
  }

  /**
   * The memory of a queue pair on which a kernel posts, as the host reaches it while no poster is
   * at work: at a safe point, or when the kernel has ended.
   */
  record KernelQueue(
      QueuePairView view,
      SendQueueAccess access,
      Memory sendRing,
      Memory completionRing,
      Memory counters,
      Memory error) {}
}
