package dev.doorbell.core.hca;

/**
 * Something that happened to an object and not to a work request.
 *
 * @param type what happened
 * @param number the queue pair, completion queue, shared receive queue or port it happened to
 */
public record AsyncEvent(Type type, int number) {
  /** The types of the InfiniBand specification (chapter 11.6.3) that the project raises. */
  public enum Type {
    QP_FATAL,
    QP_REQUEST_ERROR,
    QP_ACCESS_ERROR,
    SQ_DRAINED,
    CQ_ERROR,
    PORT_ACTIVE,
    PORT_ERROR,
    COMMUNICATION_ESTABLISHED,
    SRQ_LIMIT_REACHED,
    SRQ_ERROR,
    LAST_WQE_REACHED
  }
}
