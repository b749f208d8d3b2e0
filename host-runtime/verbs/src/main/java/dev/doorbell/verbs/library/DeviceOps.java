package dev.doorbell.verbs.library;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The verbs that are inline functions of verbs.h, which call through a table of the opened device:
 * {@code ibv_post_send} is {@code qp->context->ops.post_send(qp, wr, bad)}.
 *
 * <p>The table of the data path is in {@code struct ibv_context}. Later verbs are in {@code struct
 * verbs_context}, which ends with the {@code ibv_context} and grows at its front, so that offsets
 * back from it stay the same. Pointers are passed as longs: the data path allocates nothing.
 */
public final class DeviceOps {
  // struct ibv_context
  public static final int POLL_CQ_OFFSET = 96;
  public static final int POST_SEND_OFFSET = 208;
  public static final int POST_RECV_OFFSET = 216;
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

  private static final Linker LINKER = Linker.nativeLinker();
  private static final FunctionDescriptor POST =
      FunctionDescriptor.of(
          ValueLayout.JAVA_INT,
          ValueLayout.JAVA_LONG,
          ValueLayout.JAVA_LONG,
          ValueLayout.JAVA_LONG);
  private static final MethodHandle POST_HANDLE = LINKER.downcallHandle(POST);
  private static final MethodHandle POLL_HANDLE =
      LINKER.downcallHandle(
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG));

  private final MemorySegment context;
  private final MemorySegment pollCq;
  private final MemorySegment postSend;
  private final MemorySegment postRecv;

  /**
   * @param context an opened {@code struct ibv_context}
   */
  public DeviceOps(MemorySegment context) {
    this.context = context.reinterpret(CONTEXT_BYTES);
    this.pollCq = function(this.context, POLL_CQ_OFFSET);
    this.postSend = function(this.context, POST_SEND_OFFSET);
    this.postRecv = function(this.context, POST_RECV_OFFSET);
  }

  private static MemorySegment function(MemorySegment table, long offset) {
    return table.get(ValueLayout.ADDRESS, offset);
  }

  /**
   * {@code ibv_poll_cq}.
   *
   * @param cq native address of the {@code ibv_cq}
   * @param wc native address of room for {@code count} {@code ibv_wc}
   * @return number of completions written, or a negative number
   */
  public int pollCq(long cq, int count, long wc) {
    try {
      return (int) POLL_HANDLE.invokeExact(pollCq, cq, count, wc);
    } catch (Throwable e) {
      throw asUnchecked("ibv_poll_cq", e);
    }
  }

  /**
   * {@code ibv_post_send}.
   *
   * @param badRequest native address of room for a pointer
   * @return 0 or an error number
   */
  public int postSend(long queuePair, long request, long badRequest) {
    try {
      return (int) POST_HANDLE.invokeExact(postSend, queuePair, request, badRequest);
    } catch (Throwable e) {
      throw asUnchecked("ibv_post_send", e);
    }
  }

  /** {@code ibv_post_recv}; parameters and result as of {@link #postSend}. */
  public int postReceive(long queuePair, long request, long badRequest) {
    try {
      return (int) POST_HANDLE.invokeExact(postRecv, queuePair, request, badRequest);
    } catch (Throwable e) {
      throw asUnchecked("ibv_post_recv", e);
    }
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

  private static RuntimeException asUnchecked(String function, Throwable e) {
    return switch (e) {
      case RuntimeException runtime -> runtime;
      case Error error -> throw error;
      default -> new IllegalStateException(function, e);
    };
  }
}
