package dev.doorbell.core.hca;

import org.jspecify.annotations.Nullable;

/**
 * Tells which completion queues had the completion they were armed for, so that no thread has to
 * poll their memory. An event is for one arming: consume the queue, arm it again, look once more.
 */
public interface CompletionChannel extends AutoCloseable {
  /** The queue of the oldest event that was not taken yet, or null. From any thread. */
  @Nullable CompletionQueue poll();

  /**
   * @throws HcaException when completion queues still use it
   */
  @Override
  void close();
}
