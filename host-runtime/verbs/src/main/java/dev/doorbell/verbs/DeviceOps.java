package dev.doorbell.verbs;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The verbs that are no exported functions but inlines of verbs.h, which call through a table of
 * the opened device: {@code ibv_post_send} is {@code qp->context->ops.post_send(qp, wr, bad)}.
 *
 * <p>The table of the fast path stands in {@code struct ibv_context}. Later verbs are in {@code
 * struct verbs_context}, which ends with the {@code ibv_context} and grows at its front, so their
 * places counted back from it stay. Pointers travel as longs: the data path allocates nothing.
 */
final class DeviceOps {
  // struct ibv_context
  static final int POLL_CQ_OFFSET = 96;
  static final int REQ_NOTIFY_CQ_OFFSET = 104;
  static final int POST_SEND_OFFSET = 208;
  static final int POST_RECV_OFFSET = 216;
  static final int ASYNC_FD_OFFSET = 268;
  static final int ABI_COMPAT_OFFSET = 320;
  static final int CONTEXT_BYTES = 328;

  // struct verbs_context
  static final int VERBS_CONTEXT_BYTES = 648;
  static final int QUERY_PORT_OFFSET = 0;
  static final int REG_DM_MR_OFFSET = 56;
  static final int ALLOC_DM_OFFSET = 64;
  static final int FREE_DM_OFFSET = 72;
  static final int QUERY_DEVICE_EX_OFFSET = 216;
  static final int SIZE_OFFSET = 312;
  static final int CONTEXT_OFFSET = 320;

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
  private static final MethodHandle NOTIFY_HANDLE =
      LINKER.downcallHandle(
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));

  private final MemorySegment context;
  private final MemorySegment pollCq;
  private final MemorySegment reqNotifyCq;
  private final MemorySegment postSend;
  private final MemorySegment postRecv;

  /**
   * @param context an opened {@code struct ibv_context}
   */
  DeviceOps(MemorySegment context) {
    this.context = context.reinterpret(CONTEXT_BYTES);
    this.pollCq = function(this.context, POLL_CQ_OFFSET);
    this.reqNotifyCq = function(this.context, REQ_NOTIFY_CQ_OFFSET);
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
   * @return completions written, or a negative number
   */
  int pollCq(long cq, int count, long wc) {
    try {
      return (int) POLL_HANDLE.invokeExact(pollCq, cq, count, wc);
    } catch (Throwable e) {
      throw sneaked("ibv_poll_cq", e);
    }
  }

  /**
   * {@code ibv_post_send}.
   *
   * @param badRequest native address of room for a pointer
   * @return 0 or an error number
   */
  int postSend(long queuePair, long request, long badRequest) {
    try {
      return (int) POST_HANDLE.invokeExact(postSend, queuePair, request, badRequest);
    } catch (Throwable e) {
      throw sneaked("ibv_post_send", e);
    }
  }

  /** {@code ibv_post_recv}; as {@link #postSend}. */
  int postReceive(long queuePair, long request, long badRequest) {
    try {
      return (int) POST_HANDLE.invokeExact(postRecv, queuePair, request, badRequest);
    } catch (Throwable e) {
      throw sneaked("ibv_post_recv", e);
    }
  }

  /** {@code ibv_req_notify_cq}; returns 0 or an error number. */
  int requestNotification(long cq, boolean solicitedOnly) {
    try {
      return (int) NOTIFY_HANDLE.invokeExact(reqNotifyCq, cq, solicitedOnly ? 1 : 0);
    } catch (Throwable e) {
      throw sneaked("ibv_req_notify_cq", e);
    }
  }

  /** The file that asynchronous events are read from. */
  int asyncFd() {
    return context.get(ValueLayout.JAVA_INT, ASYNC_FD_OFFSET);
  }

  /**
   * A function of {@code struct verbs_context}, or NULL where this device or this libibverbs has
   * none.
   */
  MemorySegment extended(int offset) {
    if (context.get(ValueLayout.JAVA_LONG, ABI_COMPAT_OFFSET) != EXTENDED) {
      return MemorySegment.NULL;
    }
    MemorySegment whole =
        MemorySegment.ofAddress(context.address() - CONTEXT_OFFSET).reinterpret(CONTEXT_OFFSET);
    // Bytes that the library has, counted from its own beginning, which lies before ours or after.
    long has = whole.get(ValueLayout.JAVA_LONG, SIZE_OFFSET);
    if (has < VERBS_CONTEXT_BYTES - offset) {
      return MemorySegment.NULL;
    }
    return whole.get(ValueLayout.ADDRESS, offset);
  }

  private static RuntimeException sneaked(String function, Throwable e) {
    return switch (e) {
      case RuntimeException runtime -> runtime;
      case Error error -> throw error;
      default -> new IllegalStateException(function, e);
    };
  }
}
