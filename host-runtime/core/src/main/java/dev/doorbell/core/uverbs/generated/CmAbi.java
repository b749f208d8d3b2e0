package dev.doorbell.core.uverbs.generated;

import javax.annotation.processing.Generated;

/**
 * Numbers of rdma/rdma_user_cm.h and rdma/rdma_cma.h, and sizes of messages of the protocol.
 *
 * <p>Written by FormatsTest from src/main/formats/uverbs.txt.
 */
@Generated("FormatsTest")
public class CmAbi {
  public static final int CREATE_ID = 0;

  public static final int DESTROY_ID = 1;

  public static final int BIND_IP = 2;

  public static final int RESOLVE_IP = 3;

  public static final int RESOLVE_ROUTE = 4;

  public static final int QUERY_ROUTE = 5;

  public static final int CONNECT = 6;

  public static final int LISTEN = 7;

  public static final int ACCEPT = 8;

  public static final int REJECT = 9;

  public static final int DISCONNECT = 10;

  public static final int INIT_QP_ATTR = 11;

  public static final int GET_EVENT = 12;

  public static final int GET_OPTION = 13;

  public static final int SET_OPTION = 14;

  public static final int NOTIFY = 15;

  public static final int JOIN_IP_MCAST = 16;

  public static final int LEAVE_MCAST = 17;

  public static final int MIGRATE_ID = 18;

  public static final int QUERY = 19;

  public static final int BIND = 20;

  public static final int RESOLVE_ADDR = 21;

  public static final int JOIN_MCAST = 22;

  public static final int WRITE_EVENT = 24;

  public static final int PS_IPOIB = 2;

  public static final int PS_TCP = 262;

  public static final int PS_UDP = 273;

  public static final int PS_IB = 319;

  public static final int ADDR_RESOLVED = 0;

  public static final int ADDR_ERROR = 1;

  public static final int ROUTE_RESOLVED = 2;

  public static final int CONNECT_REQUEST = 4;

  public static final int CONNECT_RESPONSE = 5;

  public static final int UNREACHABLE = 7;

  public static final int REJECTED = 8;

  public static final int ESTABLISHED = 9;

  public static final int DISCONNECTED = 10;

  public static final int MULTICAST_JOIN = 12;

  public static final int USER = 18;

  public static final int INTERNAL = 19;

  public static final int REJ_INVALID_SERVICE = 8;

  public static final int REJ_CONSUMER = 28;

  public static final int REJ_VENDOR_OPTION = 35;

  public static final int SIDR_UNSUPPORTED = 1;

  public static final int SIDR_REJECT = 2;

  public static final int QUERY_ADDRESS = 0;

  public static final int QUERY_PATH = 1;

  public static final int QUERY_GID = 2;

  /** Bytes of {@code private_data} in a structure. */
  public static final int PRIVATE_DATA = 256;

  public static final int REQ_DATA = 92;

  public static final int REP_DATA = 196;

  public static final int REJ_DATA = 148;

  public static final int SIDR_REQ_DATA = 216;

  public static final int SIDR_REP_DATA = 136;

  /** Bytes that an IP address takes of a request's private data (IBTA annex A11). */
  public static final int IP_HEADER = 36;

  public static final int LEVEL_ID = 0;

  public static final int OPTION_TOS = 0;

  public static final int OPTION_REUSEADDR = 1;

  public static final int OPTION_AFONLY = 2;

  public static final int OPTION_ACK_TIMEOUT = 3;

  protected CmAbi() {}
}
