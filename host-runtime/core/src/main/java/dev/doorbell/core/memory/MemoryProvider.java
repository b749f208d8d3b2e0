package dev.doorbell.core.memory;

/**
 * Who can allocate memory for queues and payload: a GPU, which also pins host memory for itself.
 */
@FunctionalInterface
public interface MemoryProvider {
  /**
   * Allocates {@code bytes} bytes, zeroed, aligned to 4096.
   *
   * @param label what it is for; errors quote it
   * @throws IllegalStateException when there is no room
   */
  Memory allocate(MemoryKind kind, long bytes, String label);
}
