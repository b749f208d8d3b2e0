package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.verbs.device.DeviceContext;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.devx.DevxDomain;
import dev.doorbell.verbs.devx.Mlx5Objects;
import dev.doorbell.verbs.generated.verbs.Verbs;
import dev.doorbell.verbs.generated.verbs.ibv_mr;
import dev.doorbell.verbs.generated.verbs.ibv_qp_cap;
import dev.doorbell.verbs.generated.verbs.ibv_qp_init_attr;
import dev.doorbell.verbs.library.Libraries;
import dev.doorbell.verbs.library.Mlx5Functions;
import dev.doorbell.verbs.library.NativeFunction;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import dev.doorbell.verbs.library.VerbsFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;

/**
 * A queue pair that libmlx5 made and posts to by itself, connected to itself, and where {@code
 * mlx5dv_init_obj} says its rings, records and registers lie.
 */
final class LibMlx5QueuePair implements AutoCloseable {
  static final int SEGMENTS = 4;
  static final int INLINE_BYTES = 128;
  static final int BUFFER_BYTES = 1 << 16;
  private static final int TRANSPORT_RC = 2;
  private static final int DEPTH = 32;
  private static final int COMPLETIONS = 128;

  // struct mlx5dv_obj
  static final int QP_IN_OFFSET = 0;
  static final int QP_OUT_OFFSET = 8;
  static final int CQ_IN_OFFSET = 16;
  static final int CQ_OUT_OFFSET = 24;
  private static final long OBJECT_QP_AND_CQ = 3;

  // struct mlx5dv_qp
  static final int QP_BYTES = 112;
  static final int QP_RECORD_OFFSET = 0;
  static final int SEND_RING_OFFSET = 8;
  static final int SEND_BLOCKS_OFFSET = 16;
  static final int RECEIVE_RING_OFFSET = 24;
  static final int RECEIVE_ENTRIES_OFFSET = 32;
  static final int RECEIVE_STRIDE_OFFSET = 36;
  static final int REGISTER_OFFSET = 40;
  static final int REGISTER_BYTES_OFFSET = 48;

  // struct mlx5dv_cq
  static final int CQ_BYTES = 48;
  static final int CQ_RECORD_OFFSET = 8;
  static final int CQ_PAGE_OFFSET = 24;
  static final int CQ_NUMBER_OFFSET = 32;

  /** {@code struct ibv_context.ops.req_notify_cq}. */
  static final int REQ_NOTIFY_OFFSET = 104;

  // struct ibv_context.ops
  static final int POLL_CQ_OFFSET = 96;
  static final int POST_SEND_OFFSET = 208;
  static final int POST_RECV_OFFSET = 216;

  private static final NativeFunction CREATE_CHANNEL =
      function("ibv_create_comp_channel", Verbs.ibv_create_comp_channel$descriptor());
  private static final NativeFunction DESTROY_CHANNEL =
      function("ibv_destroy_comp_channel", Verbs.ibv_destroy_comp_channel$descriptor());
  private static final NativeFunction CREATE_CQ =
      function("ibv_create_cq", Verbs.ibv_create_cq$descriptor());
  private static final NativeFunction DESTROY_CQ =
      function("ibv_destroy_cq", Verbs.ibv_destroy_cq$descriptor());
  private static final NativeFunction CREATE_QP =
      function("ibv_create_qp", Verbs.ibv_create_qp$descriptor());
  private static final NativeFunction DESTROY_QP =
      function("ibv_destroy_qp", Verbs.ibv_destroy_qp$descriptor());

  private static final Failure FAILURE = Failure.of("prepare a test", "see the errno");
  private static final Set<AccessRight> ALL =
      EnumSet.of(
          AccessRight.LOCAL_WRITE,
          AccessRight.REMOTE_WRITE,
          AccessRight.REMOTE_READ,
          AccessRight.REMOTE_ATOMIC);

  final DeviceContext context = DeviceContext.open(DeviceFilter.ALL, -1);
  final Arena arena = Arena.ofShared();
  final MemorySegment buffer = arena.allocate(BUFFER_BYTES, 4096);
  final MemorySegment cq;
  final MemorySegment queuePair;
  final int key;
  final int number;
  final long record;
  final long sendRing;
  final int sendBlocks;
  final long receiveRing;
  final int receiveEntries;
  final int receiveStride;
  final long register;
  final int halfBytes;
  final long completionRecord;
  final long armRegister;
  final int completionNumber;
  private final MemorySegment pd;
  private final MemorySegment region;
  private final MemorySegment channel;

  LibMlx5QueuePair() {
    pd = VerbsFunctions.ALLOC_PD.pointer(FAILURE, context.context);
    int access = DevxDomain.accessBits(ALL);
    region =
        VerbsFunctions.REG_MR_IOVA2.pointer(
            FAILURE, pd, buffer, buffer.byteSize(), buffer.address(), access);
    key = ibv_mr.lkey(region.reinterpret(ibv_mr.layout().byteSize()));
    channel = CREATE_CHANNEL.pointer(FAILURE, context.context);
    cq = CREATE_CQ.pointer(FAILURE, context.context, COMPLETIONS, MemorySegment.NULL, channel, 0);
    queuePair = create();
    number =
        queuePair
            .reinterpret(VerbsConnection.NUMBER_OFFSET + Integer.BYTES)
            .get(ValueLayout.JAVA_INT, VerbsConnection.NUMBER_OFFSET);
    MemorySegment objects = arena.allocate(Mlx5Objects.BYTES, Long.BYTES);
    MemorySegment qp = arena.allocate(QP_BYTES, Long.BYTES);
    MemorySegment completions = arena.allocate(CQ_BYTES, Long.BYTES);
    objects.set(ValueLayout.ADDRESS, QP_IN_OFFSET, queuePair);
    objects.set(ValueLayout.ADDRESS, QP_OUT_OFFSET, qp);
    objects.set(ValueLayout.ADDRESS, CQ_IN_OFFSET, cq);
    objects.set(ValueLayout.ADDRESS, CQ_OUT_OFFSET, completions);
    Mlx5Functions.INIT_OBJ.require(FAILURE, objects, OBJECT_QP_AND_CQ);
    record = qp.get(ValueLayout.JAVA_LONG, QP_RECORD_OFFSET);
    sendRing = qp.get(ValueLayout.JAVA_LONG, SEND_RING_OFFSET);
    sendBlocks = qp.get(ValueLayout.JAVA_INT, SEND_BLOCKS_OFFSET);
    receiveRing = qp.get(ValueLayout.JAVA_LONG, RECEIVE_RING_OFFSET);
    receiveEntries = qp.get(ValueLayout.JAVA_INT, RECEIVE_ENTRIES_OFFSET);
    receiveStride = qp.get(ValueLayout.JAVA_INT, RECEIVE_STRIDE_OFFSET);
    register = qp.get(ValueLayout.JAVA_LONG, REGISTER_OFFSET);
    halfBytes = qp.get(ValueLayout.JAVA_INT, REGISTER_BYTES_OFFSET);
    completionRecord = completions.get(ValueLayout.JAVA_LONG, CQ_RECORD_OFFSET);
    armRegister = completions.get(ValueLayout.JAVA_LONG, CQ_PAGE_OFFSET);
    completionNumber = completions.get(ValueLayout.JAVA_INT, CQ_NUMBER_OFFSET);
    VerbsConnection connection = new VerbsConnection(context, queuePair);
    connection.init(ALL);
    connection.readyToReceive(
        new QueuePairAddress(context.address(), number, 7, context.port.mtuBytes()),
        ConnectionAttributes.DEFAULT);
    connection.readyToSend(ConnectionAttributes.DEFAULT, 7);
  }

  private MemorySegment create() {
    MemorySegment init = arena.allocate(ibv_qp_init_attr.layout());
    ibv_qp_init_attr.send_cq(init, cq);
    ibv_qp_init_attr.recv_cq(init, cq);
    ibv_qp_init_attr.qp_type(init, TRANSPORT_RC);
    MemorySegment capacity = ibv_qp_init_attr.cap(init);
    ibv_qp_cap.max_send_wr(capacity, DEPTH);
    ibv_qp_cap.max_recv_wr(capacity, DEPTH);
    ibv_qp_cap.max_send_sge(capacity, SEGMENTS);
    ibv_qp_cap.max_recv_sge(capacity, 1);
    ibv_qp_cap.max_inline_data(capacity, INLINE_BYTES);
    return CREATE_QP.pointer(FAILURE, pd, init);
  }

  /** {@code ibv_req_notify_cq}, by the table of the device; returns 0 or an error number. */
  int arm(boolean solicitedOnly) {
    return ofTable(
            "ibv_req_notify_cq", REQ_NOTIFY_OFFSET, ValueLayout.ADDRESS, ValueLayout.JAVA_INT)
        .call(cq, solicitedOnly ? 1 : 0)
        .error();
  }

  /** {@code ibv_post_send}; returns 0 or an error number. */
  int postSend(MemorySegment request, MemorySegment badRequest) {
    return post("ibv_post_send", POST_SEND_OFFSET, request, badRequest);
  }

  /** {@code ibv_post_recv}; returns 0 or an error number. */
  int postReceive(MemorySegment request, MemorySegment badRequest) {
    return post("ibv_post_recv", POST_RECV_OFFSET, request, badRequest);
  }

  private int post(String name, int offset, MemorySegment request, MemorySegment badRequest) {
    return ofTable(name, offset, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS)
        .call(queuePair, request, badRequest)
        .error();
  }

  private static NativeFunction function(String name, FunctionDescriptor descriptor) {
    return NativeFunction.of(Libraries.VERBS, name, descriptor);
  }

  /** A function that returns an int, from the table of the device. */
  private NativeFunction ofTable(String name, int offset, MemoryLayout... arguments) {
    MemorySegment function =
        context.context.reinterpret(offset + 8).get(ValueLayout.ADDRESS, offset);
    return new NativeFunction(
        name, function, FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments));
  }

  /** Waits until so many completions have come; all have to be successes. */
  void await(int count) {
    MemorySegment wc = arena.allocate(WorkCompletionLayout.BYTES, Long.BYTES);
    long deadline = System.nanoTime() + 120_000_000_000L;
    for (int found = 0; found < count; ) {
      int more =
          ofTable(
                  "ibv_poll_cq",
                  POLL_CQ_OFFSET,
                  ValueLayout.ADDRESS,
                  ValueLayout.JAVA_INT,
                  ValueLayout.ADDRESS)
              .call(cq, 1, wc)
              .error();
      assertThat(more).as("ibv_poll_cq").isNotNegative();
      if (more > 0) {
        assertThat(RawMemory.getInt(wc.address() + WorkCompletionLayout.STATUS_OFFSET))
            .as("status of a completion")
            .isEqualTo(WorkCompletionLayout.SUCCESS);
      }
      found += more;
      assertThat(System.nanoTime() - deadline).as("two minutes are over").isNegative();
    }
  }

  @Override
  public void close() {
    DESTROY_QP.require(FAILURE, queuePair);
    DESTROY_CQ.require(FAILURE, cq);
    DESTROY_CHANNEL.require(FAILURE, channel);
    VerbsFunctions.DEREG_MR.require(FAILURE, region);
    VerbsFunctions.DEALLOC_PD.require(FAILURE, pd);
    context.close();
    arena.close();
  }
}
