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
    QP_FATAL(1, 0x05),
    QP_REQUEST_ERROR(2, 0x10),
    QP_ACCESS_ERROR(3, 0x11),
    CQ_ERROR(0, 0x04),
    PORT_ACTIVE(9, 0x09),
    PORT_ERROR(10, 0x09),
    COMMUNICATION_ESTABLISHED(4, 0x02),
    SRQ_LIMIT_REACHED(15, 0x14),
    SRQ_ERROR(14, 0x12),
    LAST_WQE_REACHED(16, 0x13);

    private final int verbs;
    private final int mlx5;

    Type(int verbs, int mlx5) {
      this.verbs = verbs;
      this.mlx5 = mlx5;
    }

    /** The number of the type in {@code enum ibv_event_type} of libibverbs. */
    public int verbs() {
      return verbs;
    }

    /** The number of the type among the {@code MLX5_EVENT_TYPE_*}; both of a port have one. */
    public int mlx5() {
      return mlx5;
    }
  }
}
