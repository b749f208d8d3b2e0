package dev.doorbell.interop.shim.cm;

import dev.doorbell.core.roce.Gid;
import dev.doorbell.interop.shim.abi.Struct;

/**
 * The membership of an id in a multicast group. Groups of RoCE need no manager: joining succeeds.
 */
final class CmMulticast {
  /** {@code IB_MULTICAST_QPN}. */
  private static final int QUEUE_PAIR = 0xff_ffff;

  final int number;
  final CmId id;
  private final long userHandle;
  private final Gid group;
  int eventsReported;

  CmMulticast(int number, CmId id, long userHandle, Gid group) {
    this.number = number;
    this.id = id;
    this.userHandle = userHandle;
    this.group = group;
  }

  /** Names the membership in place of its id, and the group: {@code struct rdma_ucm_ud_param}. */
  void write(Struct event, int parameters) {
    event
        .u64(0, userHandle)
        .u32(8, number)
        .u32(parameters, QUEUE_PAIR)
        .u32(parameters + 4, CmId.DATAGRAM_KEY);
    id.writeRoute(event, parameters + 8, group);
  }
}
