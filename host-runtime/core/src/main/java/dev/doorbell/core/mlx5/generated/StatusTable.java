package dev.doorbell.core.mlx5.generated;

import javax.annotation.processing.Generated;

/**
 * Statuses of a completion, {@code enum ibv_wc_status} of rdma-core libibverbs/verbs.h: the one
 * table of what a completion in error means, for CQEs, logs and {@code describe}.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class StatusTable {
  /** Statuses are 0 to 22. */
  public static final int NUMBER = 23;

  public static final int SUCCESS = 0;

  public static final int LOC_LEN_ERR = 1;

  public static final int LOC_QP_OP_ERR = 2;

  public static final int LOC_EEC_OP_ERR = 3;

  public static final int LOC_PROT_ERR = 4;

  public static final int WR_FLUSH_ERR = 5;

  public static final int MW_BIND_ERR = 6;

  public static final int BAD_RESP_ERR = 7;

  public static final int LOC_ACCESS_ERR = 8;

  public static final int REM_INV_REQ_ERR = 9;

  public static final int REM_ACCESS_ERR = 10;

  public static final int REM_OP_ERR = 11;

  public static final int RETRY_EXC_ERR = 12;

  public static final int RNR_RETRY_EXC_ERR = 13;

  public static final int LOC_RDD_VIOL_ERR = 14;

  public static final int REM_INV_RD_REQ_ERR = 15;

  public static final int REM_ABORT_ERR = 16;

  public static final int INV_EECN_ERR = 17;

  public static final int INV_EEC_STATE_ERR = 18;

  public static final int FATAL_ERR = 19;

  public static final int RESP_TIMEOUT_ERR = 20;

  public static final int GENERAL_ERR = 21;

  public static final int TM_ERR = 22;

  protected StatusTable() {}

  /** Returns the name of a status in libibverbs. */
  public static String name(int code) {
    return switch (code) {
      case SUCCESS -> "IBV_WC_SUCCESS";
      case LOC_LEN_ERR -> "IBV_WC_LOC_LEN_ERR";
      case LOC_QP_OP_ERR -> "IBV_WC_LOC_QP_OP_ERR";
      case LOC_EEC_OP_ERR -> "IBV_WC_LOC_EEC_OP_ERR";
      case LOC_PROT_ERR -> "IBV_WC_LOC_PROT_ERR";
      case WR_FLUSH_ERR -> "IBV_WC_WR_FLUSH_ERR";
      case MW_BIND_ERR -> "IBV_WC_MW_BIND_ERR";
      case BAD_RESP_ERR -> "IBV_WC_BAD_RESP_ERR";
      case LOC_ACCESS_ERR -> "IBV_WC_LOC_ACCESS_ERR";
      case REM_INV_REQ_ERR -> "IBV_WC_REM_INV_REQ_ERR";
      case REM_ACCESS_ERR -> "IBV_WC_REM_ACCESS_ERR";
      case REM_OP_ERR -> "IBV_WC_REM_OP_ERR";
      case RETRY_EXC_ERR -> "IBV_WC_RETRY_EXC_ERR";
      case RNR_RETRY_EXC_ERR -> "IBV_WC_RNR_RETRY_EXC_ERR";
      case LOC_RDD_VIOL_ERR -> "IBV_WC_LOC_RDD_VIOL_ERR";
      case REM_INV_RD_REQ_ERR -> "IBV_WC_REM_INV_RD_REQ_ERR";
      case REM_ABORT_ERR -> "IBV_WC_REM_ABORT_ERR";
      case INV_EECN_ERR -> "IBV_WC_INV_EECN_ERR";
      case INV_EEC_STATE_ERR -> "IBV_WC_INV_EEC_STATE_ERR";
      case FATAL_ERR -> "IBV_WC_FATAL_ERR";
      case RESP_TIMEOUT_ERR -> "IBV_WC_RESP_TIMEOUT_ERR";
      case GENERAL_ERR -> "IBV_WC_GENERAL_ERR";
      case TM_ERR -> "IBV_WC_TM_ERR";
      default -> "IBV_WC_STATUS_%d".formatted(code);
    };
  }

  /** Returns the words of {@code ibv_wc_status_str}, in lower case. */
  public static String description(int code) {
    return switch (code) {
      case SUCCESS -> "success";
      case LOC_LEN_ERR -> "local length error";
      case LOC_QP_OP_ERR -> "local QP operation error";
      case LOC_EEC_OP_ERR -> "local EE context operation error";
      case LOC_PROT_ERR -> "local protection error";
      case WR_FLUSH_ERR -> "work request flushed error";
      case MW_BIND_ERR -> "memory bind operation error";
      case BAD_RESP_ERR -> "bad response error";
      case LOC_ACCESS_ERR -> "local access error";
      case REM_INV_REQ_ERR -> "remote invalid request error";
      case REM_ACCESS_ERR -> "remote access error";
      case REM_OP_ERR -> "remote operation error";
      case RETRY_EXC_ERR -> "transport retry counter exceeded";
      case RNR_RETRY_EXC_ERR -> "RNR retry counter exceeded";
      case LOC_RDD_VIOL_ERR -> "local RDD violation error";
      case REM_INV_RD_REQ_ERR -> "remote invalid RD request";
      case REM_ABORT_ERR -> "aborted error";
      case INV_EECN_ERR -> "invalid EE context number";
      case INV_EEC_STATE_ERR -> "invalid EE context state";
      case FATAL_ERR -> "fatal error";
      case RESP_TIMEOUT_ERR -> "response timeout error";
      case GENERAL_ERR -> "general error";
      case TM_ERR -> "TM error";
      default -> "status %d".formatted(code);
    };
  }

  /** Says what has happened, in a sentence or two. */
  public static String cause(int code) {
    return switch (code) {
      case SUCCESS -> "The work request was carried out.";
      case LOC_LEN_ERR ->
          "A message is longer than the receive buffer, or than the HCA's largest message.";
      case LOC_QP_OP_ERR ->
          "The HCA could not make sense of the work request itself: opcode, DS, index or number of"
              + " segments.";
      case LOC_EEC_OP_ERR ->
          "An error of the reliable datagram service, which no adapter implements.";
      case LOC_PROT_ERR ->
          "Local protection error: the NIC could not read or write its own host's memory by the key"
              + " it was given. Often ACS or an IOMMU stands between NIC and GPU, or the buffer was"
              + " freed.";
      case WR_FLUSH_ERR ->
          "Flushed: the queue pair was in error already. The cause is an earlier line, here or at"
              + " the peer.";
      case MW_BIND_ERR ->
          "A memory window could not be bound, or a key not changed (UMR): the region does not"
              + " allow it.";
      case BAD_RESP_ERR -> "The peer answered with a packet that does not belong to the request.";
      case LOC_ACCESS_ERR ->
          "A message arrived for a receive buffer whose region does not allow the write.";
      case REM_INV_REQ_ERR ->
          "Remote invalid request: the peer's NIC refused the request itself: too long, an"
              + " operation the queue pair does not allow, or a key that is gone.";
      case REM_ACCESS_ERR ->
          "Remote access error: the peer's memory region does not cover the address, or its rights"
              + " do not.";
      case REM_OP_ERR ->
          "Remote operation error: the peer's NIC could not carry out the request, often because"
              + " its PCIe write or read failed.";
      case RETRY_EXC_ERR ->
          "Transport retry counter exceeded: the peer did not acknowledge, for 4.096 us x 2^timeout"
              + " x retries. The peer has died, packets are lost (a lossy class, a wrong MTU), or"
              + " the GID does not lead there.";
      case RNR_RETRY_EXC_ERR ->
          "Receiver-not-ready retries exceeded: the peer posted no receive in time; it hangs or is"
              + " far behind.";
      case LOC_RDD_VIOL_ERR ->
          "An error of the reliable datagram service, which no adapter implements.";
      case REM_INV_RD_REQ_ERR ->
          "An error of the reliable datagram service, which no adapter implements.";
      case REM_ABORT_ERR ->
          "The peer gave the operation up: its queue pair was reset or its process ended.";
      case INV_EECN_ERR ->
          "An error of the reliable datagram service, which no adapter implements.";
      case INV_EEC_STATE_ERR ->
          "An error of the reliable datagram service, which no adapter implements.";
      case FATAL_ERR -> "The adapter reported a fatal error; every queue pair of it is lost.";
      case RESP_TIMEOUT_ERR -> "The peer took the request and did not answer in time.";
      case GENERAL_ERR ->
          "The adapter gave a reason that verbs have no word for: the vendor's code holds it.";
      case TM_ERR -> "A tag matching operation of a shared receive queue failed.";
      default -> "A status that libibverbs does not have.";
    };
  }

  /** Says what to do first. */
  public static String fix(int code) {
    return switch (code) {
      case SUCCESS -> "nothing is to be done";
      case LOC_LEN_ERR ->
          "post receives as long as the peer's largest message; compare the sizes that both ends"
              + " agreed on";
      case LOC_QP_OP_ERR ->
          "look at the WQE (doorbell decode wqe); lower the number of scatter/gather entries;"
              + " compare max_send_sge and max_inline_data";
      case LOC_EEC_OP_ERR -> "look for memory that was overwritten";
      case LOC_PROT_ERR ->
          "switch ACS off on the way, set the IOMMU to passthrough (iommu=pt), look for"
              + " IO_PAGE_FAULT in dmesg; NCCL_NET_GDR_LEVEL=LOC tells whether it is GPUDirect RDMA"
              + " at all";
      case WR_FLUSH_ERR -> "look for the first completion or event that is not status 5";
      case MW_BIND_ERR ->
          "register the region with IBV_ACCESS_MW_BIND; bind to a window of the same protection"
              + " domain";
      case BAD_RESP_ERR ->
          "reconnect both queue pairs; check that QPN, PSN and MTU were exchanged for the same"
              + " connection";
      case LOC_ACCESS_ERR ->
          "register the receive buffer with IBV_ACCESS_LOCAL_WRITE, and keep it registered while"
              + " receives are posted";
      case REM_INV_REQ_ERR ->
          "use the same library version and plugin on all ranks; see the peer's async events;"
              + " compare max_rd_atomic and qp_access_flags";
      case REM_ACCESS_ERR ->
          "compare address, length and rkey with what the peer registered; a peer that left early"
              + " or restarted has deregistered its buffers";
      case REM_OP_ERR ->
          "look for AER errors and Xids in the peer's dmesg, and at ACS and IOMMU there";
      case RETRY_EXC_ERR ->
          "see first whether the peer's log ends earlier; then MTU of both ends, GID index, traffic"
              + " class and pause frames; ib_write_bw between the two NICs named";
      case RNR_RETRY_EXC_ERR -> "look at what the peer was doing; rnr_retry=7 waits without end";
      case LOC_RDD_VIOL_ERR -> "look for memory that was overwritten";
      case REM_INV_RD_REQ_ERR -> "look for memory that was overwritten";
      case REM_ABORT_ERR -> "see the peer's log";
      case INV_EECN_ERR -> "look for memory that was overwritten";
      case INV_EEC_STATE_ERR -> "look for memory that was overwritten";
      case FATAL_ERR -> "see dmesg for the adapter's driver; reset the device; update the firmware";
      case RESP_TIMEOUT_ERR -> "see whether the peer's adapter or GPU hangs: its dmesg, its log";
      case GENERAL_ERR -> "look the vendor error up: doorbell describe 0x93";
      case TM_ERR -> "switch tag matching off (UCX_RC_MLX5_TM_ENABLE=n, UCX_DC_MLX5_TM_ENABLE=n)";
      default -> "look the status up in the library that prints it";
    };
  }

  /** Names where the status was reported or is defined, separated by blanks. */
  public static String sources(int code) {
    return switch (code) {
      case SUCCESS -> "rdma-core:libibverbs/verbs.c";
      case LOC_LEN_ERR -> "kvcache-ai/Mooncake#3299 rdma-core:libibverbs/verbs.c";
      case LOC_QP_OP_ERR -> "openucx/ucx#11444 uccl-project/uccl#972 rdma-core:libibverbs/verbs.c";
      case LOC_EEC_OP_ERR -> "rdma-core:libibverbs/verbs.c";
      case LOC_PROT_ERR ->
          "NVIDIA/nccl#1905 NVIDIA/nccl#928 NVIDIA/nccl#523 NVIDIA/nccl#214 openucx/ucx#9515"
              + " linux-rdma/perftest#173 NVIDIA/multi-gpu-programming-models#21";
      case WR_FLUSH_ERR ->
          "NVIDIA/nccl#1524 NVIDIA/nccl#1353 uccl-project/uccl#933 linux-nvme/nvme-cli#3268";
      case MW_BIND_ERR -> "linux-rdma/rdma-core#1106";
      case BAD_RESP_ERR -> "rdma-core:libibverbs/verbs.c IBM:jverbs:WorkCompletion.Status";
      case LOC_ACCESS_ERR -> "rdma-core:libibverbs/verbs.c IBM:jverbs:WorkCompletion.Status";
      case REM_INV_REQ_ERR ->
          "NVIDIA/nccl#1710 charmplusplus/charm#2532 kvcache-ai/Mooncake#3299"
              + " linux-rdma/rdma-core#1220";
      case REM_ACCESS_ERR ->
          "openucx/ucx#1569 ofiwg/libfabric#4283 ofiwg/libfabric#5738 meta-pytorch/monarch#3759"
              + " uccl-project/uccl#974";
      case REM_OP_ERR -> "openucx/ucx#5472 NVIDIA/nccl#214";
      case RETRY_EXC_ERR ->
          "NVIDIA/nccl#2220 NVIDIA/nccl#1814 NVIDIA/nccl#1698 NVIDIA/nccl#1664 NVIDIA/nccl#1405"
              + " NVIDIA/nccl#902 openucx/ucx#9590 uccl-project/uccl#617 uccl-project/uccl#293"
              + " kvcache-ai/Mooncake#1450";
      case RNR_RETRY_EXC_ERR -> "linux-rdma/rdma-core#1631 ofiwg/libfabric#6967";
      case LOC_RDD_VIOL_ERR -> "rdma-core:libibverbs/verbs.c";
      case REM_INV_RD_REQ_ERR -> "rdma-core:libibverbs/verbs.c";
      case REM_ABORT_ERR -> "rdma-core:libibverbs/verbs.c IBM:jverbs:WorkCompletion.Status";
      case INV_EECN_ERR -> "rdma-core:libibverbs/verbs.c";
      case INV_EEC_STATE_ERR -> "rdma-core:libibverbs/verbs.c";
      case FATAL_ERR -> "linux-rdma/rdma-core#1106 IBM:jverbs:WorkCompletion.Status";
      case RESP_TIMEOUT_ERR -> "rdma-core:libibverbs/verbs.c";
      case GENERAL_ERR -> "linux-rdma/rdma-core#1155 IBM:jverbs:WorkCompletion.Status";
      case TM_ERR -> "rdma-core:libibverbs/verbs.c";
      default -> "";
    };
  }
}
