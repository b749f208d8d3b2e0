package dev.doorbell.core.hca;

/**
 * Receive WQEs that several queue pairs take from. Its ring is a list: every WQE names its
 * successor ({@code core.mlx5.SharedReceiveSegment}), and the HCA starts at WQE 0. Posting means
 * writing WQEs and counting dword 0 of the record up.
 */
public interface SharedReceiveQueue extends AutoCloseable {
  /** Its 24-bit number. */
  int number();

  SharedReceiveQueueAttributes attributes();

  /** Address of WQE 0. */
  long ringAddress();

  /** Address of the 8-byte doorbell record; the receive counter is its first word. */
  long recordAddress();

  /**
   * Asks for one {@link AsyncEvent.Type#SRQ_LIMIT_REACHED} as soon as fewer than {@code limit} WQEs
   * are left; 0 asks for none.
   */
  void armLimit(int limit);

  /**
   * @throws HcaException when queue pairs still take from it
   */
  @Override
  void close();
}
