package dev.doorbell.verbs;

/**
 * Offsets in {@code struct ibv_send_wr} (verbs.h), which is written by address on every post: 128
 * bytes, in host byte order except for the immediate, which is big-endian.
 */
final class SendRequestLayout {
  static final int BYTES = 128;
  static final int NEXT_OFFSET = 8;
  static final int SEGMENTS_OFFSET = 16;
  static final int SEGMENT_COUNT_OFFSET = 24;
  static final int OPCODE_OFFSET = 28;
  static final int FLAGS_OFFSET = 32;
  static final int IMMEDIATE_OFFSET = 36;
  static final int REMOTE_ADDRESS_OFFSET = 40;
  static final int RDMA_KEY_OFFSET = 48;
  static final int ATOMIC_COMPARE_ADD_OFFSET = 48;
  static final int ATOMIC_SWAP_OFFSET = 56;
  static final int ATOMIC_KEY_OFFSET = 64;

  // enum ibv_wr_opcode
  static final int RDMA_WRITE = 0;
  static final int RDMA_WRITE_WITH_IMM = 1;
  static final int SEND = 2;
  static final int SEND_WITH_IMM = 3;
  static final int RDMA_READ = 4;
  static final int ATOMIC_CMP_AND_SWP = 5;
  static final int ATOMIC_FETCH_AND_ADD = 6;

  // enum ibv_send_flags
  static final int FENCE = 1;
  static final int SIGNALED = 2;
  static final int SOLICITED = 4;
  static final int INLINE = 8;

  // struct ibv_sge
  static final int SEGMENT_BYTES = 16;
  static final int SEGMENT_ADDRESS_OFFSET = 0;
  static final int SEGMENT_LENGTH_OFFSET = 8;
  static final int SEGMENT_KEY_OFFSET = 12;

  // struct ibv_recv_wr
  static final int RECEIVE_BYTES = 32;

  private SendRequestLayout() {}
}
