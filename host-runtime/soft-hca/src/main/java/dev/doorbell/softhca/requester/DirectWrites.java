package dev.doorbell.softhca.requester;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.mlx5.ControlSegment;
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
import dev.doorbell.softhca.objects.Rights;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.packet.Psn;
import org.jspecify.annotations.Nullable;

/**
 * Carries out RDMA WRITEs at once at a peer that the same host thread steps, where packets would
 * take no time and nothing observes them.
 *
 * <p>Only the most common case, which cannot fail: WRITEs with one data segment, with immediate
 * data too where a receive is at hand, while nothing of the queue pair is outstanding and the peer
 * expects just them. All other WQEs, and every refusal, are left to {@link Requester}, which begins
 * the WQE anew. The sequence numbers of both sides advance as if packets had been sent, so either
 * path continues where the other stopped.
 */
final class DirectWrites {
  /** A control segment, a remote address, and where the payload is. */
  private static final int UNITS = 3;

  private static final int REMOTE = SendQueue.UNIT;
  private static final int DATA = 2 * SendQueue.UNIT;
  private static final int MOST_INLINE = SendQueue.UNIT - InlineSegment.DATA_OFFSET;

  /** Limit on the payload of one WQE, so that a step stays short: some 0.4 s. */
  static final int MOST_BYTES = 1 << 30;

  private static final int INDEX_SHIFT = 40;

  private final QueuePairContext queuePair;
  private final DevicePort port;
  private final WqeSource wqes;
  private final SendState sendState;
  private final Completions completions;
  private final int mtu;
  private final int mostBytes;
  private final int mostInline;

  /** The first 8 bytes of such a WQE, apart from its index, and of one with immediate data. */
  private final long beginning;

  private final long beginningWithImmediate;

  private boolean stoppedByBudget;

  // The regions of the last WQE: most are used again and again.
  private @Nullable SoftMemoryRegion source;
  private @Nullable SoftMemoryRegion target;

  DirectWrites(QueuePairContext queuePair, HcaServices hca, WqeSource wqes, SendState sendState) {
    SoftHcaOptions.Limits limits = hca.options().limits();
    this.queuePair = queuePair;
    this.port = hca.port();
    this.wqes = wqes;
    this.sendState = sendState;
    this.completions = queuePair.sendCompletions;
    this.mtu = queuePair.mtu();
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
    if (peer == null || !peer.accepts(psn, Rights.REMOTE_WRITE)) {
      return 0;
    }
    boolean collapsed = completions.isCollapsed();
    completions.user(queuePair.userIndex);
    long reported = 0;
    int lastOpcode = Opcode.RDMA_WRITE;
    int lastIndex = 0;
    int lastBytes = 0;
    int packets = 0;
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
      if (immediate && !peer.acceptsImmediate()) {
        break;
      }
      int bytes = write(wqe, peer);
      if (bytes == 0) {
        break;
      }
      if (immediate) {
        boolean solicited = ControlSegment.isSolicited(flags);
        peer.completeImmediate(bytes, ControlSegment.immediate(wqe), solicited);
      }
      int opcode = immediate ? Opcode.RDMA_WRITE_IMM : Opcode.RDMA_WRITE;
      packets += bytes <= mtu ? 1 : Psn.packets(bytes, mtu);
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
      sendState.completeInline(packets);
      peer.completeInline(done, packets);
    }
    if (reported > 0) {
      completions.requesters(reported, queuePair.number, lastOpcode, lastIndex, lastBytes);
    }
    return done;
  }

  /** Returns true if the last run stopped because of its budget, so that the next one continues. */
  boolean stoppedByBudget() {
    return stoppedByBudget;
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
    SoftMemoryRegion to = target(RemoteAddressSegment.rkey(wqe + REMOTE), peer);
    if (to == null || to.remoteRefusal(peer.context(), remote, bytes, Rights.REMOTE_WRITE) != 0) {
      return 0;
    }
    try {
      if (inline) {
        peer.port()
            .write(wqe + DATA + InlineSegment.DATA_OFFSET, to.memory(remote), bytes, to.relaxed);
        return bytes;
      }
      long local = DataSegment.address(wqe + DATA);
      SoftMemoryRegion from = source(DataSegment.lkey(wqe + DATA));
      if (from == null || from.refusal(queuePair.domain, local, bytes, 0) != 0) {
        return 0;
      }
      long payload = port.map(from.memory(local), bytes);
      if (payload != 0) {
        peer.port().write(payload, to.memory(remote), bytes, to.relaxed);
        return bytes;
      }
      long source = from.memory(local);
      return peer.port().copy(source, to.memory(remote), bytes, to.relaxed) ? bytes : 0;
    } catch (AccessFault gone) {
      return 0;
    }
  }

  private @Nullable SoftMemoryRegion source(int key) {
    SoftMemoryRegion region = source;
    if (region == null || region.lkey() != key || !region.isLive()) {
      region = queuePair.regions.find(key);
      source = region;
    }
    return region;
  }

  private @Nullable SoftMemoryRegion target(int key, DirectPeer peer) {
    SoftMemoryRegion region = target;
    if (region == null || region.rkey() != key || !region.isLive()) {
      region = peer.context().regions.find(key);
      target = region;
    }
    return region;
  }
}
