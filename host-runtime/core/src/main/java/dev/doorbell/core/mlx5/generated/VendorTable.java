package dev.doorbell.core.mlx5.generated;

import javax.annotation.processing.Generated;

/**
 * Vendor codes of completions in error of ConnectX adapters, as public reports show them: NVIDIA
 * publishes no list. Other vendors give the same numbers other meanings. Numbers from 0xb1 to 0xbf
 * are those of the software HCA.
 *
 * <p>Written by FormatsTest from src/main/formats/mlx5.txt.
 */
@Generated("FormatsTest")
public class VendorTable {
  /** No vendor code. */
  public static final int NONE = 0;

  public static final int LOCAL_PROTECTION_RECEIVE = 0x32;

  public static final int LOCAL_PROTECTION_READ = 0x51;

  public static final int LOCAL_PROTECTION_GATHER = 0x52;

  public static final int LOCAL_PROTECTION_KEY = 0x53;

  public static final int LOCAL_PROTECTION_WRITE = 0x56;

  public static final int PEER_SILENT = 0x81;

  public static final int RECEIVER_NOT_READY = 0x87;

  public static final int PEER_REFUSED_ACCESS = 0x88;

  public static final int PEER_FAILED = 0x89;

  public static final int PEER_REFUSED_REQUEST = 0x8a;

  public static final int TOO_LONG = 0x8e;

  public static final int PAGE_FAULT = 0x93;

  public static final int BAD_OPCODE = 0xb1;

  public static final int BAD_LENGTH_FIELD = 0xb2;

  public static final int INDEX_MISMATCH = 0xb3;

  public static final int NUMBER_MISMATCH = 0xb4;

  public static final int BAD_SEGMENT = 0xb5;

  public static final int UNKNOWN_QUEUE = 0xb6;

  public static final int FETCH_REFUSED = 0xb7;

  public static final int MESSAGE_TOO_LONG = 0xb8;

  public static final int UNKNOWN_KEY = 0xb9;

  public static final int WRONG_DOMAIN = 0xba;

  public static final int OUT_OF_BOUNDS = 0xbb;

  public static final int MISSING_RIGHT = 0xbc;

  public static final int PATH_REFUSED = 0xbd;

  public static final int MEMORY_GONE = 0xbe;

  public static final int INJECTED = 0xbf;

  public static final int MALFORMED_RECEIVE = 0xd6;

  public static final int FLUSHED = 0xf9;

  protected VendorTable() {}

  /** Says with what the code was seen. */
  public static String meaning(int code) {
    return switch (code) {
      case LOCAL_PROTECTION_RECEIVE ->
          "the receiver's HCA could not write into the receive buffer by its key";
      case LOCAL_PROTECTION_READ ->
          "the sender's HCA could not read the payload: key, bounds or IOMMU";
      case LOCAL_PROTECTION_GATHER ->
          "the sender's HCA could not read one of several buffers: key, bounds or IOMMU";
      case LOCAL_PROTECTION_KEY ->
          "the sender's HCA could not read the payload: the key does not cover it";
      case LOCAL_PROTECTION_WRITE ->
          "the receiver's HCA could not write what arrived: key, bounds or IOMMU";
      case PEER_SILENT -> "no acknowledgement came within timeout and retries";
      case RECEIVER_NOT_READY ->
          "the peer answered receiver-not-ready more often than rnr_retry allows";
      case PEER_REFUSED_ACCESS -> "the peer answered with a NAK of remote access";
      case PEER_FAILED -> "the peer answered with a NAK of remote operation";
      case PEER_REFUSED_REQUEST -> "the peer answered with a NAK of invalid request";
      case TOO_LONG -> "what arrived was longer than the receive buffer or the request allows";
      case PAGE_FAULT -> "a page fault of on-demand paging that was not resolved";
      case BAD_OPCODE -> "Doorbell's HCA: the opcode is none that this HCA carries out";
      case BAD_LENGTH_FIELD ->
          "Doorbell's HCA: DS is 0, too small for the opcode, or runs past the doorbell";
      case INDEX_MISMATCH ->
          "Doorbell's HCA: the WQE's index field is not the index of its place in the ring";
      case NUMBER_MISMATCH -> "Doorbell's HCA: the WQE names another queue pair";
      case BAD_SEGMENT -> "Doorbell's HCA: a segment is of a kind that the opcode does not allow";
      case UNKNOWN_QUEUE -> "Doorbell's HCA: no completion queue has the number to wait for";
      case FETCH_REFUSED -> "Doorbell's HCA: the path from the HCA to the send ring refuses reads";
      case MESSAGE_TOO_LONG ->
          "Doorbell's HCA: the message is longer than the HCA or the peer's buffer takes";
      case UNKNOWN_KEY -> "Doorbell's HCA: no region has this key";
      case WRONG_DOMAIN -> "Doorbell's HCA: the region belongs to another protection domain";
      case OUT_OF_BOUNDS -> "Doorbell's HCA: the range is not inside the region";
      case MISSING_RIGHT -> "Doorbell's HCA: the region does not allow this access";
      case PATH_REFUSED -> "Doorbell's HCA: the path from the HCA to the payload refuses reads";
      case MEMORY_GONE -> "Doorbell's HCA: the registered memory was freed";
      case INJECTED -> "Doorbell's HCA: a fault plan asked for it";
      case MALFORMED_RECEIVE -> "the receive WQE that a message took is malformed";
      case FLUSHED -> "flushed behind an earlier error of the same queue pair";
      default -> "a vendor code without a public report";
    };
  }

  /** Names the verbs status it was seen with. */
  public static String status(int code) {
    return switch (code) {
      case LOCAL_PROTECTION_RECEIVE -> "IBV_WC_LOC_PROT_ERR";
      case LOCAL_PROTECTION_READ -> "IBV_WC_LOC_PROT_ERR";
      case LOCAL_PROTECTION_GATHER -> "IBV_WC_LOC_PROT_ERR";
      case LOCAL_PROTECTION_KEY -> "IBV_WC_LOC_PROT_ERR";
      case LOCAL_PROTECTION_WRITE -> "IBV_WC_LOC_PROT_ERR";
      case PEER_SILENT -> "IBV_WC_RETRY_EXC_ERR";
      case RECEIVER_NOT_READY -> "IBV_WC_RNR_RETRY_EXC_ERR";
      case PEER_REFUSED_ACCESS -> "IBV_WC_REM_ACCESS_ERR";
      case PEER_FAILED -> "IBV_WC_REM_OP_ERR";
      case PEER_REFUSED_REQUEST -> "IBV_WC_REM_INV_REQ_ERR";
      case TOO_LONG -> "IBV_WC_LOC_LEN_ERR";
      case PAGE_FAULT -> "IBV_WC_RETRY_EXC_ERR";
      case BAD_OPCODE -> "IBV_WC_LOC_QP_OP_ERR";
      case BAD_LENGTH_FIELD -> "IBV_WC_LOC_QP_OP_ERR";
      case INDEX_MISMATCH -> "IBV_WC_LOC_QP_OP_ERR";
      case NUMBER_MISMATCH -> "IBV_WC_LOC_QP_OP_ERR";
      case BAD_SEGMENT -> "IBV_WC_LOC_QP_OP_ERR";
      case UNKNOWN_QUEUE -> "IBV_WC_LOC_QP_OP_ERR";
      case FETCH_REFUSED -> "IBV_WC_LOC_QP_OP_ERR";
      case MESSAGE_TOO_LONG -> "IBV_WC_LOC_LEN_ERR";
      case UNKNOWN_KEY -> "IBV_WC_LOC_PROT_ERR";
      case WRONG_DOMAIN -> "IBV_WC_LOC_PROT_ERR";
      case OUT_OF_BOUNDS -> "IBV_WC_LOC_PROT_ERR";
      case MISSING_RIGHT -> "IBV_WC_LOC_PROT_ERR";
      case PATH_REFUSED -> "IBV_WC_LOC_PROT_ERR";
      case MEMORY_GONE -> "IBV_WC_LOC_PROT_ERR";
      case INJECTED -> "IBV_WC_GENERAL_ERR";
      case MALFORMED_RECEIVE -> "IBV_WC_LOC_QP_OP_ERR";
      case FLUSHED -> "IBV_WC_WR_FLUSH_ERR";
      default -> "";
    };
  }

  /** Names public reports with it, separated by blanks. */
  public static String sources(int code) {
    return switch (code) {
      case LOCAL_PROTECTION_RECEIVE -> "openucx/ucx#7801 openucx/ucx#9167";
      case LOCAL_PROTECTION_READ ->
          "NVIDIA/nccl#928 NVIDIA/nccl#523 linux-rdma/perftest#173 openucx/ucx#9515";
      case LOCAL_PROTECTION_GATHER -> "openucx/ucx#4727 FDio/csit#3988";
      case LOCAL_PROTECTION_KEY -> "NVIDIA/nccl#1905";
      case LOCAL_PROTECTION_WRITE -> "linux-nvme:IO_PAGE_FAULT";
      case PEER_SILENT -> "openucx/ucx#9590 openucx/ucx#5199 NVIDIA/nccl#1814 NVIDIA/nccl#1405";
      case RECEIVER_NOT_READY -> "NVIDIA/nccl:src/transport/net_ib/p2p.cc";
      case PEER_REFUSED_ACCESS -> "openucx/ucx#1569 ofiwg/libfabric#4283";
      case PEER_FAILED -> "openucx/ucx#5472 NVIDIA/nccl#214";
      case PEER_REFUSED_REQUEST -> "NVIDIA/nccl#1710 charmplusplus/charm#2532";
      case TOO_LONG -> "kvcache-ai/Mooncake#3299";
      case PAGE_FAULT -> "openucx/ucx#2433";
      case BAD_OPCODE -> "doorbell:soft-hca";
      case BAD_LENGTH_FIELD -> "doorbell:soft-hca";
      case INDEX_MISMATCH -> "doorbell:soft-hca";
      case NUMBER_MISMATCH -> "doorbell:soft-hca";
      case BAD_SEGMENT -> "doorbell:soft-hca";
      case UNKNOWN_QUEUE -> "doorbell:soft-hca";
      case FETCH_REFUSED -> "doorbell:soft-hca";
      case MESSAGE_TOO_LONG -> "doorbell:soft-hca";
      case UNKNOWN_KEY -> "doorbell:soft-hca";
      case WRONG_DOMAIN -> "doorbell:soft-hca";
      case OUT_OF_BOUNDS -> "doorbell:soft-hca";
      case MISSING_RIGHT -> "doorbell:soft-hca";
      case PATH_REFUSED -> "doorbell:soft-hca";
      case MEMORY_GONE -> "doorbell:soft-hca";
      case INJECTED -> "doorbell:soft-hca";
      case MALFORMED_RECEIVE -> "openucx/ucx#11444";
      case FLUSHED -> "NVIDIA/nccl#1353 NVIDIA/nccl#1524 NVIDIA/nccl#1405";
      default -> "";
    };
  }
}
