package dev.doorbell.core.hca;

/** A completion queue; entries are CQE64 (see {@code core.mlx5}). */
public interface CompletionQueue extends AutoCloseable {
  /** Its 24-bit number. */
  int number();

  CompletionQueueAttributes attributes();

  /** Address of entry 0. */
  long ringAddress();

  /** Address of the 8-byte doorbell record: consumer index, arm word. */
  long recordAddress();

  /**
   * Address of the register that arms it: stores of {@code core.mlx5.Doorbell.encodeArm} there ask
   * for one event on its channel, at the first completion that is not before the consumer index in
   * the doorbell.
   *
   * @throws HcaException where the HCA has no channels
   */
  default long armAddress() {
    throw new HcaException("%s has no channel for its events".formatted(this), Errno.EOPNOTSUPP);
  }

  @Override
  void close();
}
