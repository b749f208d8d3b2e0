package dev.doorbell.core.uverbs.generated;

import javax.annotation.processing.Generated;

/**
 * Offsets and flags of struct ib_uverbs_ioctl_hdr and struct ib_uverbs_attr
 * (rdma/rdma_user_ioctl_cmds.h).
 *
 * <p>Written by FormatsTest from src/main/formats/uverbs.txt.
 */
@Generated("FormatsTest")
public class IoctlLayout {
  public static final int OBJECT = 2;

  public static final int METHOD = 4;

  public static final int COUNT = 6;

  public static final int RESERVED_1 = 8;

  public static final int DRIVER = 16;

  public static final int RESERVED_2 = 20;

  public static final int HEAD_BYTES = 24;

  public static final int LENGTH = 2;

  public static final int FLAGS = 4;

  public static final int CHOICE = 6;

  public static final int DATA = 8;

  public static final int ATTRIBUTE_BYTES = 16;

  public static final int MANDATORY = 1 << 0;

  public static final int VALID_OUTPUT = 1 << 1;

  public static final int RDMA_DRIVER_MLX5 = 1;

  protected IoctlLayout() {}
}
