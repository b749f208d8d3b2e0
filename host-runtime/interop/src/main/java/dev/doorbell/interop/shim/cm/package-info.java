/**
 * Connection management for programs of librdmacm: the file {@code /dev/infiniband/rdma_cm} of
 * Linux (rdma/rdma_user_cm.h), among the programs of one server.
 *
 * <p>A command passes through {@link dev.doorbell.interop.shim.cm.CmCommands} (structures), {@link
 * dev.doorbell.interop.shim.cm.ConnectionManager} (ids that bind, listen and meet) and {@link
 * dev.doorbell.interop.shim.cm.CmId} (one end of a connection). Both ends are ids of the same
 * server, so no message of the protocol (REQ, REP, RTU, REJ, DREQ, DREP, SIDR) travels: each is a
 * call that changes the peer's state and queues its event. Their order, states and private data are
 * those of InfiniBand's communication management (IBTA volume 1, chapter 12) as Linux reports them.
 */
@NullMarked
package dev.doorbell.interop.shim.cm;

import org.jspecify.annotations.NullMarked;
