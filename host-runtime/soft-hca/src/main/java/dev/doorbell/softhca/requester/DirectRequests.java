package dev.doorbell.softhca.requester;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.DirectPeer;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.Rights;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Psn;

/**
 * Carries out decoded WRITEs, READs and atomics whole, where {@link DirectWrites} may carry out its
 * WQEs: each piece of the payload is one copy, and none is outstanding when the next request comes.
 *
 * <p>What may be refused is left to packets.
 */
final class DirectRequests implements DevicePort.AtomicFunction {
  /** Nothing is left to complete on a fabric where accesses end at once. */
  private static final Completion NONE = ok -> {};

  private final QueuePairContext queuePair;
  private final DevicePort port;
  private final SendState sendState;
  private final int mtu;
  private final long result;

  // The atomic that is being carried out, as a packet would have it.
  private int opcode;
  private long swapAdd;
  private long compare;
  private long swapMask;
  private long compareMask;

  DirectRequests(QueuePairContext queuePair, HcaServices hca, SendState sendState) {
    this.queuePair = queuePair;
    this.port = hca.port();
    this.sendState = sendState;
    this.mtu = queuePair.mtu();
    this.result = hca.scratch();
  }

  /**
   * Carries out a request, which is done then, or has failed.
   *
   * @return false where packets are to do it; they may begin it anew
   */
  boolean execute(SendRequest request) {
    int right = right(request.opcode);
    int psn = sendState.idlePsn();
    DirectPeer peer = right == 0 || psn < 0 ? null : queuePair.directPeer();
    if (peer == null
        || request.length == 0
        || request.length > DirectWrites.MOST_BYTES
        || !peer.accepts(psn, right)) {
      return false;
    }
    long remote = request.remoteAddress;
    SoftMemoryRegion region = peer.context().regions.find(request.rkey);
    if (region == null
        || region.remoteRefusal(peer.context(), remote, request.length, right) != 0) {
      return false;
    }
    try {
      if (right == Rights.REMOTE_ATOMIC) {
        return add(request, peer, psn, region.memory(remote));
      }
      if (!move(request, peer.port(), region, right == Rights.REMOTE_READ)) {
        return false;
      }
    } catch (AccessFault gone) {
      return false;
    }
    request.phase = SendRequest.Phase.DONE;
    int packets = Psn.packets(request.length, mtu);
    sendState.completeInline(packets);
    peer.completeInline(1, packets);
    return true;
  }

  /** The right that a request needs at its peer; 0 for requests of other kinds. */
  private static int right(int opcode) {
    return switch (opcode) {
      case Opcode.RDMA_WRITE -> Rights.REMOTE_WRITE;
      case Opcode.RDMA_READ -> Rights.REMOTE_READ;
      default -> Opcode.isAtomic(opcode) ? Rights.REMOTE_ATOMIC : 0;
    };
  }

  private boolean move(
      SendRequest request, DevicePort peer, SoftMemoryRegion region, boolean isRead) {
    long remote = region.memory(request.remoteAddress);
    for (int i = 0; i < request.pieces; i++) {
      long local = request.pieceAddress[i];
      int bytes = request.pieceBytes[i];
      boolean moved =
          isRead
              ? copy(peer, remote, port, local, bytes, request.relaxed)
              : request.isInline(i)
                  ? store(local, peer, remote, bytes, region.relaxed)
                  : copy(port, local, peer, remote, bytes, region.relaxed);
      if (!moved) {
        return false;
      }
      remote += bytes;
    }
    return true;
  }

  private static boolean copy(
      DevicePort source, long from, DevicePort target, long to, int bytes, boolean relaxed) {
    long mapped = source.map(from, bytes);
    return mapped == 0
        ? target.copy(from, to, bytes, relaxed)
        : store(mapped, target, to, bytes, relaxed);
  }

  private static boolean store(long from, DevicePort target, long to, int bytes, boolean relaxed) {
    target.write(from, to, bytes, relaxed);
    return true;
  }

  private boolean add(SendRequest request, DirectPeer peer, int psn, long cell) {
    int bytes = request.cellBytes;
    if ((request.remoteAddress & (bytes - 1)) != 0) {
      return false;
    }
    opcode = PacketMaker.responseRequest(request.opcode);
    swapAdd = request.swapAdd;
    compare = request.compare;
    swapMask = request.swapMask;
    compareMask = request.compareMask;
    RawMemory.putLong(result, 0);
    peer.port().atomic(cell, bytes, result, this, NONE);
    long old = RawMemory.getLong(result);
    sendState.completeInline(1);
    peer.completeAtomic(psn, old);
    if (bytes == Integer.BYTES) {
      // As an answer would bring it: mlx5 returns 4-byte results in the wire's byte order.
      BigEndian.putInt(result, (int) old);
    }
    request.phase = SendRequest.Phase.DONE;
    request.scatter(port, result, bytes);
    return true;
  }

  @Override
  public long apply(long old) {
    return Packet.apply(opcode, old, swapAdd, compare, swapMask, compareMask);
  }
}
