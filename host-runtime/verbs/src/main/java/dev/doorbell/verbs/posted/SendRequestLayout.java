package dev.doorbell.verbs.posted;

/**
 * Offsets in {@code struct ibv_send_wr} (verbs.h), which is written by address on every post: 128
 * bytes, in host byte order except for the immediate, which is big-endian.
 */
public final class SendRequestLayout {
  public static final int BYTES = 128;
  public static final int ID_OFFSET = 0;
  public static final int NEXT_OFFSET = 8;
  public static final int SEGMENTS_OFFSET = 16;
  public static final int SEGMENT_COUNT_OFFSET = 24;
  public static final int OPCODE_OFFSET = 28;
  public static final int FLAGS_OFFSET = 32;
  public static final int IMMEDIATE_OFFSET = 36;
  public static final int REMOTE_ADDRESS_OFFSET = 40;
  public static final int RDMA_KEY_OFFSET = 48;
  public static final int ATOMIC_COMPARE_ADD_OFFSET = 48;
  public static final int ATOMIC_SWAP_OFFSET = 56;
  public static final int ATOMIC_KEY_OFFSET = 64;

  // enum ibv_wr_opcode
  public static final int RDMA_WRITE = 0;
  public static final int RDMA_WRITE_WITH_IMM = 1;
  public static final int SEND = 2;
  public static final int SEND_WITH_IMM = 3;
  public static final int RDMA_READ = 4;
  public static final int ATOMIC_CMP_AND_SWP = 5;
  public static final int ATOMIC_FETCH_AND_ADD = 6;

  // enum ibv_send_flags
  public static final int FENCE = 1;
  public static final int SIGNALED = 2;
  public static final int SOLICITED = 4;
  public static final int INLINE = 8;

  // struct ibv_sge
  public static final int SEGMENT_BYTES = 16;
  public static final int SEGMENT_ADDRESS_OFFSET = 0;
  public static final int SEGMENT_LENGTH_OFFSET = 8;
  public static final int SEGMENT_KEY_OFFSET = 12;

  // struct ibv_recv_wr
  public static final int RECEIVE_BYTES = 32;

  private SendRequestLayout() {}
}
