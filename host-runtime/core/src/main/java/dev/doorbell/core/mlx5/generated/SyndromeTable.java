package dev.doorbell.core.mlx5.generated;

import javax.annotation.processing.Generated;

/**
 * Error syndromes of a CQE ({@code MLX5_CQE_SYNDROME_*}).
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class SyndromeTable {
  /** Vendor syndrome: a page fault of on-demand paging. */
  public static final int VENDOR_ODP_PAGE_FAULT = 0x93;

  public static final int LOCAL_LENGTH = 0x01;

  public static final int LOCAL_QP_OPERATION = 0x02;

  public static final int LOCAL_PROTECTION = 0x04;

  public static final int FLUSHED = 0x05;

  public static final int MEMORY_WINDOW_BIND = 0x06;

  public static final int BAD_RESPONSE = 0x10;

  public static final int LOCAL_ACCESS = 0x11;

  public static final int REMOTE_INVALID_REQUEST = 0x12;

  public static final int REMOTE_ACCESS = 0x13;

  public static final int REMOTE_OPERATION = 0x14;

  public static final int TRANSPORT_RETRY_EXCEEDED = 0x15;

  public static final int RNR_RETRY_EXCEEDED = 0x16;

  public static final int REMOTE_ABORTED = 0x22;

  protected SyndromeTable() {}

  /** Says what happened, in a few words. */
  public static String name(int code) {
    return switch (code) {
      case LOCAL_LENGTH -> "local length error";
      case LOCAL_QP_OPERATION -> "local QP operation error";
      case LOCAL_PROTECTION -> "local protection error";
      case FLUSHED -> "work request flushed";
      case MEMORY_WINDOW_BIND -> "memory window bind error";
      case BAD_RESPONSE -> "bad response";
      case LOCAL_ACCESS -> "local access error";
      case REMOTE_INVALID_REQUEST -> "remote invalid request";
      case REMOTE_ACCESS -> "remote access error";
      case REMOTE_OPERATION -> "remote operation error";
      case TRANSPORT_RETRY_EXCEEDED -> "transport retry count exceeded";
      case RNR_RETRY_EXCEEDED -> "RNR retry count exceeded";
      case REMOTE_ABORTED -> "remote aborted";
      default -> "unknown syndrome 0x%02x".formatted(code);
    };
  }

  /** Names the status that libmlx5 makes of it (mlx5_handle_error_cqe of providers/mlx5/cq.c). */
  public static String status(int code) {
    return switch (code) {
      case LOCAL_LENGTH -> "IBV_WC_LOC_LEN_ERR";
      case LOCAL_QP_OPERATION -> "IBV_WC_LOC_QP_OP_ERR";
      case LOCAL_PROTECTION -> "IBV_WC_LOC_PROT_ERR";
      case FLUSHED -> "IBV_WC_WR_FLUSH_ERR";
      case MEMORY_WINDOW_BIND -> "IBV_WC_MW_BIND_ERR";
      case BAD_RESPONSE -> "IBV_WC_BAD_RESP_ERR";
      case LOCAL_ACCESS -> "IBV_WC_LOC_ACCESS_ERR";
      case REMOTE_INVALID_REQUEST -> "IBV_WC_REM_INV_REQ_ERR";
      case REMOTE_ACCESS -> "IBV_WC_REM_ACCESS_ERR";
      case REMOTE_OPERATION -> "IBV_WC_REM_OP_ERR";
      case TRANSPORT_RETRY_EXCEEDED -> "IBV_WC_RETRY_EXC_ERR";
      case RNR_RETRY_EXCEEDED -> "IBV_WC_RNR_RETRY_EXC_ERR";
      case REMOTE_ABORTED -> "IBV_WC_REM_ABORT_ERR";
      default -> "IBV_WC_GENERAL_ERR";
    };
  }

  /** Returns the most likely fix, in one sentence. */
  public static String remedy(int code) {
    return switch (code) {
      case LOCAL_LENGTH ->
          "Make the message no longer than the receive buffer and the HCA's largest message.";
      case LOCAL_QP_OPERATION ->
          "Look at the WQE: opcode, DS, index and QPN of its control segment must be legal for this"
              + " queue pair.";
      case LOCAL_PROTECTION ->
          "Use the lkey of a region in the queue pair's protection domain that covers every local"
              + " byte and allows the access.";
      case FLUSHED ->
          "Look for the first error on this queue pair; this work request was only in the queue"
              + " behind it.";
      case MEMORY_WINDOW_BIND -> "Bind windows only to regions registered for binding.";
      case BAD_RESPONSE -> "Check that both ends run the same transport version and PSNs.";
      case LOCAL_ACCESS ->
          "Register the receive buffer with local write, and post a receive WQE that covers it.";
      case REMOTE_INVALID_REQUEST ->
          "Check length, opcode and alignment against what the peer supports; atomics need a"
              + " naturally aligned address.";
      case REMOTE_ACCESS ->
          "Use the rkey of a region of the peer that covers every remote byte and allows the"
              + " access, as its queue pair must.";
      case REMOTE_OPERATION -> "Look at the peer: its queue pair failed while it served this.";
      case TRANSPORT_RETRY_EXCEEDED ->
          "The peer is silent: check that its queue pair is in RTR or RTS, the link is up, and QPN"
              + " and address are right.";
      case RNR_RETRY_EXCEEDED -> "Post more receive WQEs at the peer, or raise rnr_retry.";
      case REMOTE_ABORTED -> "Look at the peer: it gave the operation up.";
      default -> "Look the syndrome up in the device's programmer's manual.";
    };
  }
}
