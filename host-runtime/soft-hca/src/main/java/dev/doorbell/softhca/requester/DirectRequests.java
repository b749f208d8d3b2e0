package dev.doorbell.softhca.requester;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.InlineSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.objects.Completions;
import dev.doorbell.softhca.objects.DirectPeer;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PortCounters;
import dev.doorbell.softhca.packet.Psn;
import org.jspecify.annotations.Nullable;

/**
 * Carries out requests at once at a peer that the same host thread steps, where packets would take
 * no time and nothing observes them. The sequence numbers of both sides advance as if packets had
 * been sent, so either path continues where the other stopped.
 *
 * <p>{@link #run} takes the most common case from the ring: WRITEs with one data segment, with
 * immediate data too where a receive is at hand, while nothing of the queue pair is outstanding and
 * the peer expects just them. {@link #execute} takes decoded SENDs, WRITEs, READs and atomics
 * whole: each piece of the payload is one copy. All else, and every refusal, is left to {@link
 * Requester} and packets, which begin the request anew.
 */
final class DirectRequests implements DevicePort.AtomicFunction {
  /** A control segment, a remote address, and where the payload is. */
  private static final int UNITS = 3;

  private static final int REMOTE = SendQueue.UNIT;
  private static final int DATA = 2 * SendQueue.UNIT;
  private static final int MOST_INLINE = SendQueue.UNIT - InlineSegment.DATA_OFFSET;

  /** Limit on the payload of one WQE, so that a step stays short: some 0.4 s. */
  static final int MOST_BYTES = 1 << 30;

  private static final int INDEX_SHIFT = 40;

  private final WqeSource wqes;
  private final Completions completions;
  private final int mostBytes;
  private final int mostInline;

  /** The first 8 bytes of such a WQE, apart from its index, and of one with immediate data. */
  private final long beginning;

  private final long beginningWithImmediate;

  /** Returns true if the last run stopped because of its budget, so that the next one continues. */
  boolean stoppedByBudget;

  /** Nothing is left to complete on a fabric where accesses end at once. */
  private static final Completion NONE = ok -> {};

  private final QueuePairContext queuePair;
  private final DevicePort port;
  private final PortCounters counters;
  private final SendState sendState;
  private final int mtu;
  private final long result;

  // The atomic that is being carried out, as a packet would have it.
  private int opcode;
  private long swapAdd;
  private long compare;
  private long swapMask;
  private long compareMask;

  DirectRequests(QueuePairContext queuePair, HcaServices hca, WqeSource wqes, SendState sendState) {
    SoftHcaOptions.Limits limits = hca.options().limits();
    this.queuePair = queuePair;
    this.port = hca.port();
    this.counters = hca.counters();
    this.wqes = wqes;
    this.sendState = sendState;
    this.completions = queuePair.sendCompletions;
    this.mtu = queuePair.mtu();
    this.result = hca.scratch();
    this.mostBytes = (int) Math.min(MOST_BYTES, limits.messageBytes());
    this.mostInline = Math.min(MOST_INLINE, limits.inlineBytes());
    long rest = (long) queuePair.number << Byte.SIZE | UNITS;
    this.beginning = (long) Opcode.RDMA_WRITE << Integer.SIZE | rest;
    this.beginningWithImmediate = (long) Opcode.RDMA_WRITE_IMM << Integer.SIZE | rest;
  }

  /**
   * Carries out WQEs from block {@code index} on, one block each, while nothing else is
   * outstanding.
   *
   * @param available one past the last block that was posted
   * @param budget WQEs, or packets of long ones, to stop after
   * @return how many were carried out and completed
   */
  int run(long index, long available, int budget) {
    stoppedByBudget = false;
    int psn = sendState.idlePsn();
    DirectPeer peer = psn < 0 ? null : queuePair.directPeer();
    if (peer == null || !peer.accepts(psn, mtu)) {
      return 0;
    }
    boolean collapsed = completions.isCollapsed();
    completions.user(queuePair.userIndex);
    long reported = 0;
    int lastOpcode = Opcode.RDMA_WRITE;
    int lastIndex = 0;
    int lastBytes = 0;
    int packets = 0;
    long carried = 0;
    long at = index;
    while (at < available && packets < budget) {
      long wqe = wqes.unit(at, 0);
      long header = BigEndian.getLong(wqe) ^ (at & SendQueue.INDEX_MASK) << INDEX_SHIFT;
      boolean immediate = header == beginningWithImmediate;
      if (!immediate && header != beginning) {
        break;
      }
      int flags = ControlSegment.fmCeSe(wqe);
      boolean signalled = ControlSegment.isSignalled(flags);
      if (signalled && completions.room(queuePair) != Completions.ROOM) {
        break;
      }
      if (immediate && !peer.acceptsReceive(0)) {
        break;
      }
      int bytes = write(wqe, peer);
      if (bytes == 0) {
        break;
      }
      if (immediate) {
        boolean solicited = ControlSegment.isSolicited(flags);
        peer.completeReceive(
            Cqe.RESPONDER_WRITE_IMM, bytes, ControlSegment.immediate(wqe), solicited);
      }
      int opcode = immediate ? Opcode.RDMA_WRITE_IMM : Opcode.RDMA_WRITE;
      packets += bytes <= mtu ? 1 : Psn.packets(bytes, mtu);
      carried += bytes;
      if (signalled) {
        if (collapsed) {
          reported++;
          lastOpcode = opcode;
          lastIndex = (int) at;
          lastBytes = bytes;
        } else {
          completions.requester(queuePair.number, opcode, (int) at, bytes);
        }
      }
      at++;
    }
    stoppedByBudget = at < available && packets >= budget;
    int done = (int) (at - index);
    if (done > 0) {
      counters.carried(peer.counters(), packets, carried, done);
      sendState.completeInline(packets);
      peer.completeInline(done, packets, Rights.REMOTE_WRITE);
    }
    if (reported > 0) {
      completions.requesters(reported, queuePair.number, lastOpcode, lastIndex, lastBytes);
    }
    return done;
  }

  /**
   * Moves the payload of a WQE.
   *
   * @return its bytes; 0 when nothing was done
   */
  private int write(long wqe, DirectPeer peer) {
    int bytes = BigEndian.getInt(wqe + DATA + DataSegment.BYTE_COUNT_OFFSET);
    boolean inline = bytes < 0;
    if (inline) {
      bytes = InlineSegment.byteCount(wqe + DATA);
    }
    if (bytes == 0 || bytes > (inline ? mostInline : mostBytes)) {
      return 0;
    }
    long remote = RemoteAddressSegment.address(wqe + REMOTE);
    int rkey = RemoteAddressSegment.rkey(wqe + REMOTE);
    SoftMemoryRegion to = peer.admit(rkey, remote, bytes, Rights.REMOTE_WRITE);
    if (to == null) {
      return 0;
    }
    DevicePort source = null;
    long from = wqe + DATA + InlineSegment.DATA_OFFSET;
    if (!inline) {
      long local = DataSegment.address(wqe + DATA);
      SoftMemoryRegion region = queuePair.regions.find(DataSegment.lkey(wqe + DATA));
      if (region == null || region.refusal(queuePair.domain, local, bytes, 0) != 0) {
        return 0;
      }
      source = port;
      from = region.memory(local);
    }
    try {
      return DirectPeer.move(source, from, peer.port(), to.memory(remote), bytes, to.relaxed)
          ? bytes
          : 0;
    } catch (AccessFault gone) {
      return 0;
    }
  }

  /**
   * Returns true while a request goes as packets that those behind it need not follow: the next one
   * may be carried out at once when nothing is outstanding. A receiver that is not ready would drop
   * a window of packets at each try.
   */
  boolean waits() {
    return sendState.idlePsn() < 0 && queuePair.directPeer() != null;
  }

  /**
   * Carries out a request, which is done then, or has failed.
   *
   * @return false where packets are to do it; they may begin it anew
   */
  boolean execute(SendRequest request) {
    int opcode = request.opcode;
    int right = right(opcode);
    int cqeOpcode = receiveOpcode(opcode);
    int psn = sendState.idlePsn();
    boolean known = right != 0 || cqeOpcode >= 0;
    DirectPeer peer = !known || psn < 0 ? null : queuePair.directPeer();
    if (peer == null || request.length > MOST_BYTES || !peer.accepts(psn, mtu)) {
      return false;
    }
    int bytes = (int) request.length;
    long remote = request.remoteAddress;
    SoftMemoryRegion region = right == 0 ? null : peer.admit(request.rkey, remote, bytes, right);
    if ((right != 0 && region == null)
        || (cqeOpcode >= 0 && !peer.acceptsReceive(right == 0 ? bytes : 0))) {
      return false;
    }
    try {
      if (region != null && right == Rights.REMOTE_ATOMIC) {
        return add(request, peer, psn, region.memory(remote));
      }
      if (!move(request, peer, region)) {
        return false;
      }
    } catch (AccessFault gone) {
      return false;
    }
    if (cqeOpcode >= 0) {
      boolean solicited = ControlSegment.isSolicited(request.fmCeSe);
      int word = Opcode.hasImmediate(opcode) ? request.immediate : 0;
      peer.completeReceive(cqeOpcode, bytes, word, solicited);
    }
    request.phase = SendRequest.Phase.DONE;
    int packets = Psn.packets(bytes, mtu);
    sendState.completeInline(packets);
    if (opcode == Opcode.RDMA_READ) {
      peer.counters().carried(counters, packets, bytes, 1);
      peer.completeRead(psn, packets);
    } else {
      counters.carried(peer.counters(), packets, bytes, 1);
      peer.completeInline(1, packets, right);
    }
    return true;
  }

  /** The right that a request needs at its peer; 0 for requests that name no memory there. */
  private static int right(int opcode) {
    return switch (opcode) {
      case Opcode.RDMA_WRITE, Opcode.RDMA_WRITE_IMM -> Rights.REMOTE_WRITE;
      case Opcode.RDMA_READ -> Rights.REMOTE_READ;
      default -> Opcode.isAtomic(opcode) ? Rights.REMOTE_ATOMIC : 0;
    };
  }

  /** The opcode of the CQE of the receive that a request takes; -1 where it takes none. */
  private static int receiveOpcode(int opcode) {
    return switch (opcode) {
      case Opcode.SEND -> Cqe.RESPONDER_SEND;
      case Opcode.SEND_IMM -> Cqe.RESPONDER_SEND_IMM;
      case Opcode.RDMA_WRITE_IMM -> Cqe.RESPONDER_WRITE_IMM;
      default -> -1;
    };
  }

  /** Moves the payload of a READ, of a WRITE, or of a SEND, which names no region. */
  private boolean move(SendRequest request, DirectPeer peer, @Nullable SoftMemoryRegion region) {
    DevicePort there = peer.port();
    long remote = region == null ? 0 : region.memory(request.remoteAddress);
    for (int i = 0; i < request.pieces; i++) {
      long local = request.pieceAddress[i];
      int bytes = request.pieceBytes[i];
      boolean inline = request.isInline(i);
      boolean moved;
      if (region == null) {
        moved = peer.scatter(port, local, bytes, inline);
      } else if (request.opcode == Opcode.RDMA_READ) {
        moved = DirectPeer.move(there, remote, port, local, bytes, request.relaxed);
      } else {
        DevicePort source = inline ? null : port;
        moved = DirectPeer.move(source, local, there, remote, bytes, region.relaxed);
      }
      if (!moved) {
        return false;
      }
      remote += bytes;
    }
    return true;
  }

  private boolean add(SendRequest request, DirectPeer peer, int psn, long cell) {
    int bytes = request.cellBytes;
    opcode = PacketMaker.responseRequest(request.opcode);
    swapAdd = request.swapAdd;
    compare = request.compare;
    swapMask = request.swapMask;
    compareMask = request.compareMask;
    RawMemory.putLong(result, 0);
    peer.port().atomic(cell, bytes, result, this, NONE);
    long old = RawMemory.getLong(result);
    counters.carried(peer.counters(), 1, bytes, 1);
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
