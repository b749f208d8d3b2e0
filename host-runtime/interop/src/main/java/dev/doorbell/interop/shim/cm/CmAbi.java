package dev.doorbell.interop.shim.cm;

/** Numbers of rdma/rdma_user_cm.h and rdma/rdma_cma.h, and sizes of messages of the protocol. */
final class CmAbi {
  // RDMA_USER_CM_CMD_*
  static final int CREATE_ID = 0;
  static final int DESTROY_ID = 1;
  static final int BIND_IP = 2;
  static final int RESOLVE_IP = 3;
  static final int RESOLVE_ROUTE = 4;
  static final int QUERY_ROUTE = 5;
  static final int CONNECT = 6;
  static final int LISTEN = 7;
  static final int ACCEPT = 8;
  static final int REJECT = 9;
  static final int DISCONNECT = 10;
  static final int INIT_QP_ATTR = 11;
  static final int GET_EVENT = 12;
  static final int GET_OPTION = 13;
  static final int SET_OPTION = 14;
  static final int NOTIFY = 15;
  static final int JOIN_IP_MCAST = 16;
  static final int LEAVE_MCAST = 17;
  static final int MIGRATE_ID = 18;
  static final int QUERY = 19;
  static final int BIND = 20;
  static final int RESOLVE_ADDR = 21;
  static final int JOIN_MCAST = 22;
  static final int WRITE_EVENT = 24;

  // enum rdma_ucm_port_space
  static final int PS_IPOIB = 0x0002;
  static final int PS_TCP = 0x0106;
  static final int PS_UDP = 0x0111;
  static final int PS_IB = 0x013f;

  static final int QPT_UD = 4;

  static final int QPT_RC = 2;

  // enum rdma_cm_event_type
  static final int ADDR_RESOLVED = 0;
  static final int ADDR_ERROR = 1;
  static final int ROUTE_RESOLVED = 2;
  static final int CONNECT_REQUEST = 4;
  static final int CONNECT_RESPONSE = 5;
  static final int UNREACHABLE = 7;
  static final int REJECTED = 8;
  static final int ESTABLISHED = 9;
  static final int DISCONNECTED = 10;
  static final int MULTICAST_JOIN = 12;
  static final int USER = 18;
  static final int INTERNAL = 19;

  // Reasons of REJ (IBTA 12.6.7.2) and states of SIDR REP (12.11.2)
  static final int REJ_INVALID_SERVICE = 8;
  static final int REJ_CONSUMER = 28;
  static final int REJ_VENDOR_OPTION = 35;
  static final int SIDR_UNSUPPORTED = 1;
  static final int SIDR_REJECT = 2;

  /** Bytes of {@code private_data} in a structure. */
  static final int PRIVATE_DATA = 256;

  // Private data that a message carries; programs see all of it, padded with zeros.
  static final int REQ_DATA = 92;
  static final int REP_DATA = 196;
  static final int REJ_DATA = 148;
  static final int SIDR_REQ_DATA = 216;
  static final int SIDR_REP_DATA = 136;

  /** Bytes that an IP address takes of a request's private data (IBTA annex A11). */
  static final int IP_HEADER = 36;

  // RDMA_OPTION_*
  static final int LEVEL_ID = 0;
  static final int OPTION_TOS = 0;
  static final int OPTION_REUSEADDR = 1;
  static final int OPTION_AFONLY = 2;
  static final int OPTION_ACK_TIMEOUT = 3;

  private CmAbi() {}
}
