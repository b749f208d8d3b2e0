package dev.doorbell.verbs.library;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The verbs that are inline functions of verbs.h, which call through a table of the opened device.
 * The table is in {@code struct verbs_context}, which ends with the {@code ibv_context} and grows
 * at its front, so that offsets back from it stay the same.
 */
public final class DeviceOps {
  // struct ibv_context
  public static final int ABI_COMPAT_OFFSET = 320;
  public static final int CONTEXT_BYTES = 328;

  // struct verbs_context
  public static final int VERBS_CONTEXT_BYTES = 648;
  public static final int QUERY_PORT_OFFSET = 0;
  public static final int REG_DM_MR_OFFSET = 56;
  public static final int ALLOC_DM_OFFSET = 64;
  public static final int FREE_DM_OFFSET = 72;
  public static final int QUERY_DEVICE_EX_OFFSET = 216;
  public static final int SIZE_OFFSET = 312;
  public static final int CONTEXT_OFFSET = 320;

  /** The {@code abi_compat} of a context that is part of a {@code verbs_context}. */
  private static final long EXTENDED = -1;

  private final MemorySegment context;

  /**
   * @param context an opened {@code struct ibv_context}
   */
  public DeviceOps(MemorySegment context) {
    this.context = context.reinterpret(CONTEXT_BYTES);
  }

  /**
   * Returns a function of {@code struct verbs_context}, or NULL if this device or this libibverbs
   * has none.
   */
  public MemorySegment extended(int offset) {
    if (context.get(ValueLayout.JAVA_LONG, ABI_COMPAT_OFFSET) != EXTENDED) {
      return MemorySegment.NULL;
    }
    MemorySegment whole =
        MemorySegment.ofAddress(context.address() - CONTEXT_OFFSET).reinterpret(CONTEXT_OFFSET);
    // Size of the library's struct, whose beginning may lie before or after ours.
    long has = whole.get(ValueLayout.JAVA_LONG, SIZE_OFFSET);
    if (has < VERBS_CONTEXT_BYTES - offset) {
      return MemorySegment.NULL;
    }
    return whole.get(ValueLayout.ADDRESS, offset);
  }
}
