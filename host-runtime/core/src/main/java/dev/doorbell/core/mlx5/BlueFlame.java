package dev.doorbell.core.mlx5;

/**
 * Ringing by storing the whole WQE to the UAR page, in 64-byte blocks, so that the HCA need not
 * fetch it (rdma-core providers/mlx5/qp.c, {@code mlx5_bf_copy}). A register consists of two halves
 * that are used in turn.
 *
 * <pre>
 *   page + 0x800                + reg/2                     + reg
 *  +---------------------------+---------------------------+-----
 *  | half 0: WQE blocks        | half 1: WQE blocks        | next register
 *  +---------------------------+---------------------------+-----
 * </pre>
 */
public final class BlueFlame {
  private BlueFlame() {}

  /**
   * Offset of a half in the UAR page.
   *
   * @param halfBytes bytes of one half, a power of two
   * @param ringCount how often was rung before: even counts use half 0
   */
  public static int halfOffset(int halfBytes, long ringCount) {
    return Doorbell.REGISTER_OFFSET + ((ringCount & 1) == 0 ? 0 : halfBytes);
  }
}
