package dev.doorbell.core.uverbs.generated;

import javax.annotation.processing.Generated;

/**
 * Numbers of the uverbs ABI: objects, methods and attributes of rdma/ib_user_ioctl_cmds.h,
 * rdma/ib_user_verbs.h and rdma/mlx5_user_ioctl_cmds.h.
 *
 * <p>Written by FormatsTest from src/main/formats/uverbs.txt.
 */
@Generated("FormatsTest")
public class UverbsAbi {
  /** The first number of the driver's objects, methods and attributes. */
  public static final int DRIVER = 0x1000;

  /**
   * Offset in the shared file of the clock's description: page 0 of {@code
   * MLX5_IB_MMAP_CLOCK_INFO}, in pages ({@code SHIM_CLOCK_OFFSET}).
   */
  public static final long CLOCK_OFFSET = 7L << 8 << 12;

  /** Offset in the shared file of the server's state ({@code SHIM_SLEEP_OFFSET}). */
  public static final long SLEEP_OFFSET = 1L << 39;

  /** Offset of the doorbell pages in the shared file ({@code SHIM_DEVICE_OFFSET}). */
  public static final long DEVICE_OFFSET = 1L << 40;

  /** Offset in the shared file of the program's address 0 ({@code SHIM_CLIENT_OFFSET}). */
  public static final long CLIENT_OFFSET = 1L << 47;

  /** Least size of the shared file ({@code SHIM_FILE_BYTES}). */
  public static final long FILE_BYTES = 1L << 48;

  /** Command of an mmap offset, above 8 bits of the page ({@code MLX5_IB_MMAP_DEVICE_MEM}). */
  public static final int MMAP_DEVICE_MEMORY = 8;

  public static final int OBJECT_DEVICE = 0;

  public static final int OBJECT_PD = 1;

  public static final int OBJECT_CQ = 3;

  public static final int OBJECT_QP = 4;

  public static final int OBJECT_SRQ = 5;

  public static final int OBJECT_AH = 6;

  public static final int OBJECT_MR = 7;

  public static final int OBJECT_MW = 8;

  public static final int OBJECT_FLOW = 9;

  public static final int OBJECT_XRCD = 10;

  public static final int OBJECT_RWQ_IND_TBL = 11;

  public static final int OBJECT_WQ = 12;

  public static final int OBJECT_DM = 14;

  public static final int OBJECT_ASYNC_EVENT = 16;

  public static final int OBJECT_DEVX = 4096;

  public static final int OBJECT_DEVX_OBJ = 4097;

  public static final int OBJECT_DEVX_UMEM = 4098;

  public static final int OBJECT_FLOW_MATCHER = 4099;

  public static final int OBJECT_DEVX_ASYNC_CMD_FD = 4100;

  public static final int OBJECT_DEVX_ASYNC_EVENT_FD = 4101;

  public static final int OBJECT_UAR = 4104;

  public static final int UHW_IN = 4096;

  public static final int UHW_OUT = 4097;

  public static final int METHOD_INVOKE_WRITE = 0;

  public static final int METHOD_QUERY_PORT = 2;

  public static final int METHOD_GET_CONTEXT = 3;

  public static final int METHOD_QUERY_CONTEXT = 4;

  public static final int METHOD_QUERY_GID_TABLE = 5;

  public static final int METHOD_QUERY_GID_ENTRY = 6;

  public static final int METHOD_QUERY_PORT_SPEED = 7;

  public static final int CORE_IN = 0;

  public static final int CORE_OUT = 1;

  public static final int WRITE_CMD = 2;

  public static final int QUERY_PORT_PORT_NUM = 0;

  public static final int QUERY_PORT_RESP = 1;

  public static final int DRIVER_QUERY_PORT_PORT_NUM = 4096;

  public static final int DRIVER_QUERY_PORT_RESP = 4097;

  public static final int GET_CONTEXT_NUM_COMP_VECTORS = 0;

  public static final int GET_CONTEXT_CORE_SUPPORT = 1;

  public static final int QUERY_GID_TABLE_ENTRY_SIZE = 0;

  public static final int QUERY_GID_TABLE_RESP_ENTRIES = 2;

  public static final int QUERY_GID_TABLE_RESP_NUM_ENTRIES = 3;

  public static final int QUERY_GID_ENTRY_PORT = 0;

  public static final int QUERY_GID_ENTRY_GID_INDEX = 1;

  public static final int QUERY_GID_ENTRY_RESP_ENTRY = 3;

  public static final int ASYNC_EVENT_ALLOC_FD_HANDLE = 0;

  public static final int DESTROY_HANDLE = 0;

  public static final int DESTROY_RESP = 1;

  public static final int CREATE_CQ_HANDLE = 0;

  public static final int CREATE_CQ_CQE = 1;

  public static final int CREATE_CQ_USER_HANDLE = 2;

  public static final int CREATE_CQ_COMP_CHANNEL = 3;

  public static final int CREATE_CQ_COMP_VECTOR = 4;

  public static final int CREATE_CQ_FLAGS = 5;

  public static final int CREATE_CQ_RESP_CQE = 6;

  public static final int CREATE_QP_HANDLE = 0;

  public static final int CREATE_QP_XRCD_HANDLE = 1;

  public static final int CREATE_QP_PD_HANDLE = 2;

  public static final int CREATE_QP_SRQ_HANDLE = 3;

  public static final int CREATE_QP_SEND_CQ_HANDLE = 4;

  public static final int CREATE_QP_RECV_CQ_HANDLE = 5;

  public static final int CREATE_QP_IND_TABLE_HANDLE = 6;

  public static final int CREATE_QP_USER_HANDLE = 7;

  public static final int CREATE_QP_CAP = 8;

  public static final int CREATE_QP_TYPE = 9;

  public static final int CREATE_QP_FLAGS = 10;

  public static final int CREATE_QP_RESP_CAP = 13;

  public static final int CREATE_QP_RESP_QP_NUM = 14;

  public static final int CREATE_SRQ_HANDLE = 0;

  public static final int CREATE_SRQ_PD_HANDLE = 1;

  public static final int CREATE_SRQ_XRCD_HANDLE = 2;

  public static final int CREATE_SRQ_CQ_HANDLE = 3;

  public static final int CREATE_SRQ_USER_HANDLE = 4;

  public static final int CREATE_SRQ_MAX_WR = 5;

  public static final int CREATE_SRQ_MAX_SGE = 6;

  public static final int CREATE_SRQ_TYPE = 9;

  public static final int CREATE_SRQ_RESP_MAX_WR = 11;

  public static final int CREATE_SRQ_RESP_MAX_SGE = 12;

  public static final int CREATE_SRQ_RESP_SRQ_NUM = 13;

  public static final int METHOD_DM_MR_REG = 0;

  public static final int METHOD_MR_DESTROY = 1;

  public static final int METHOD_ADVISE_MR = 2;

  public static final int METHOD_QUERY_MR = 3;

  public static final int METHOD_REG_DMABUF_MR = 4;

  public static final int REG_DM_MR_HANDLE = 0;

  public static final int REG_DM_MR_OFFSET = 1;

  public static final int REG_DM_MR_LENGTH = 2;

  public static final int REG_DM_MR_PD_HANDLE = 3;

  public static final int REG_DM_MR_ACCESS_FLAGS = 4;

  public static final int REG_DM_MR_DM_HANDLE = 5;

  public static final int REG_DM_MR_RESP_LKEY = 6;

  public static final int REG_DM_MR_RESP_RKEY = 7;

  public static final int ALLOC_DM_HANDLE = 0;

  public static final int ALLOC_DM_LENGTH = 1;

  public static final int ALLOC_DM_ALIGNMENT = 2;

  public static final int ALLOC_DM_RESP_START_OFFSET = 4096;

  public static final int ALLOC_DM_RESP_PAGE_INDEX = 4097;

  public static final int ALLOC_DM_REQ_TYPE = 4098;

  public static final int ADVISE_MR_PD_HANDLE = 0;

  public static final int ADVISE_MR_ADVICE = 1;

  public static final int ADVISE_MR_SGE_LIST = 3;

  public static final int QUERY_CONTEXT_RESP_UCTX = 4096;

  public static final int QUERY_PD_HANDLE = 4096;

  public static final int QUERY_PD_RESP_PDN = 4097;

  public static final int METHOD_DM_QUERY = 1;

  public static final int QUERY_DM_REQ_HANDLE = 4096;

  public static final int QUERY_DM_RESP_START_OFFSET = 4097;

  public static final int QUERY_DM_RESP_PAGE_INDEX = 4098;

  public static final int QUERY_DM_RESP_LENGTH = 4099;

  public static final int UAR_ALLOC_HANDLE = 4096;

  public static final int UAR_ALLOC_TYPE = 4097;

  public static final int UAR_ALLOC_MMAP_OFFSET = 4098;

  public static final int UAR_ALLOC_MMAP_LENGTH = 4099;

  public static final int UAR_ALLOC_PAGE_ID = 4100;

  public static final int UAR_DESTROY_HANDLE = 4096;

  public static final int DEVX_OTHER_CMD_IN = 4096;

  public static final int DEVX_OTHER_CMD_OUT = 4097;

  public static final int DEVX_QUERY_UAR_USER_IDX = 4096;

  public static final int DEVX_QUERY_UAR_DEV_IDX = 4097;

  public static final int DEVX_QUERY_EQN_USER_VEC = 4096;

  public static final int DEVX_QUERY_EQN_DEV_EQN = 4097;

  public static final int DEVX_EVENT_FD_HANDLE = 4096;

  public static final int DEVX_EVENT_FD_FLAGS = 4097;

  public static final int DEVX_SUBSCRIBE_FD_HANDLE = 4096;

  public static final int DEVX_SUBSCRIBE_OBJ_HANDLE = 4097;

  public static final int DEVX_SUBSCRIBE_TYPES = 4098;

  public static final int DEVX_SUBSCRIBE_FD_NUM = 4099;

  public static final int DEVX_SUBSCRIBE_COOKIE = 4100;

  public static final int DEVX_OBJ_HANDLE = 4096;

  public static final int DEVX_OBJ_CMD_IN = 4097;

  public static final int DEVX_OBJ_CMD_OUT = 4098;

  public static final int DEVX_ASYNC_FD = 4098;

  public static final int DEVX_ASYNC_WR_ID = 4099;

  public static final int DEVX_ASYNC_OUT_LEN = 4100;

  public static final int DEVX_UMEM_HANDLE = 4096;

  public static final int DEVX_UMEM_ADDR = 4097;

  public static final int DEVX_UMEM_LEN = 4098;

  public static final int DEVX_UMEM_ACCESS = 4099;

  public static final int DEVX_UMEM_OUT_ID = 4100;

  public static final int DEVX_UMEM_DMABUF_FD = 4102;

  public static final int CMD_EXTENDED = 1 << 31;

  public static final int CMD_QUERY_DEVICE = 1;

  public static final int CMD_ALLOC_PD = 3;

  public static final int CMD_CREATE_AH = 5;

  public static final int CMD_REG_MR = 9;

  public static final int CMD_REREG_MR = 11;

  public static final int CMD_ALLOC_MW = 14;

  public static final int CMD_CREATE_COMP_CHANNEL = 17;

  public static final int CMD_RESIZE_CQ = 19;

  public static final int CMD_QUERY_QP = 25;

  public static final int CMD_MODIFY_QP = 26;

  public static final int CMD_ATTACH_MULTICAST = 30;

  public static final int CMD_DETACH_MULTICAST = 31;

  public static final int CMD_MODIFY_SRQ = 33;

  public static final int CMD_QUERY_SRQ = 34;

  public static final int ACCESS_LOCAL_WRITE = 1 << 0;

  public static final int ACCESS_REMOTE_WRITE = 1 << 1;

  public static final int ACCESS_REMOTE_READ = 1 << 2;

  public static final int ACCESS_REMOTE_ATOMIC = 1 << 3;

  public static final int ACCESS_MW_BIND = 1 << 4;

  public static final int ACCESS_ZERO_BASED = 1 << 5;

  public static final int ACCESS_ON_DEMAND = 1 << 6;

  public static final int ACCESS_RELAXED_ORDERING = 1 << 20;

  public static final int QP_STATE = 1 << 0;

  public static final int QP_CUR_STATE = 1 << 1;

  public static final int QP_ACCESS_FLAGS = 1 << 3;

  public static final int QP_PKEY_INDEX = 1 << 4;

  public static final int QP_PORT = 1 << 5;

  public static final int QP_QKEY = 1 << 6;

  public static final int QP_AV = 1 << 7;

  public static final int QP_PATH_MTU = 1 << 8;

  public static final int QP_TIMEOUT = 1 << 9;

  public static final int QP_RETRY_CNT = 1 << 10;

  public static final int QP_RNR_RETRY = 1 << 11;

  public static final int QP_RQ_PSN = 1 << 12;

  public static final int QP_MAX_QP_RD_ATOMIC = 1 << 13;

  public static final int QP_MIN_RNR_TIMER = 1 << 15;

  public static final int QP_SQ_PSN = 1 << 16;

  public static final int QP_MAX_DEST_RD_ATOMIC = 1 << 17;

  public static final int QP_DEST_QPN = 1 << 20;

  public static final int TYPE_RC = 2;

  public static final int TYPE_UC = 3;

  public static final int TYPE_UD = 4;

  public static final int TYPE_RAW_PACKET = 8;

  public static final int TYPE_XRC_SEND = 9;

  public static final int TYPE_XRC_RECEIVE = 10;

  public static final int TYPE_DRIVER = 255;

  public static final int STATE_RESET = 0;

  public static final int STATE_INIT = 1;

  public static final int STATE_RTR = 2;

  public static final int STATE_RTS = 3;

  public static final int STATE_ERR = 6;

  public static final int QP_FLAG_SIGNATURE = 1 << 0;

  public static final int QP_FLAG_SCATTER_CQE = 1 << 1;

  public static final int QP_FLAG_TYPE_DCT = 1 << 4;

  public static final int QP_FLAG_TYPE_DCI = 1 << 5;

  public static final int QP_FLAG_ALLOW_SCATTER_CQE = 1 << 8;

  public static final int QP_FLAG_UAR_PAGE_INDEX = 1 << 10;

  public static final int CQ_FLAG_PAD_128 = 1 << 0;

  public static final int CQ_FLAG_UAR_PAGE_INDEX = 1 << 1;

  public static final int QP_CREATE_BLOCK_MULTICAST_LOOPBACK = 1 << 1;

  public static final int QP_CREATE_SIGNAL_ALL = 1 << 12;

  public static final int REREG_TRANSLATION = 1 << 0;

  public static final int REREG_DOMAIN = 1 << 1;

  public static final int REREG_ACCESS = 1 << 2;

  public static final int ADVICE_PREFETCH = 0;

  public static final int ADVICE_PREFETCH_WRITE = 1;

  public static final int ADVICE_PREFETCH_NO_FAULT = 2;

  public static final int SRQ_BASIC = 0;

  protected UverbsAbi() {}
}
