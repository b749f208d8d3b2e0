package dev.doorbell.core.hca;

/**
 * The target of dynamic connections (a DCT of mlx5): initiators that have its access key connect to
 * it as they send. Their SENDs take receives from one shared queue, and complete in one queue.
 */
public interface DcTarget extends AutoCloseable {
  /** Its 24-bit number, which address vectors name. */
  int number();

  DcTargetAttributes attributes();

  /** Requests that came with another access key. */
  long keyViolations();

  /** True after {@link #drain}. */
  boolean isDraining();

  /** Refuses new connections from now on. */
  void drain();

  /** Ends all connections. A receive that one of them was filling is flushed. */
  @Override
  void close();
}
