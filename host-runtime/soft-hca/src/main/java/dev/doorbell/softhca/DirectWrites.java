package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.DataSegment;
import dev.doorbell.core.mlx5.InlineSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.RemoteAddressSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.softhca.packet.Psn;
import dev.doorbell.softhca.packet.Route;
import org.jspecify.annotations.Nullable;

/**
 * RDMA WRITEs to a peer that the same host thread steps, over a wire that takes no time and that
 * nobody watches: carried out at the peer at once, where packets would only be made, handed over
 * and thrown away.
 *
 * <p>It takes what is most common, and nothing that could fail: WRITEs with one data segment, while
 * nothing of the queue pair is outstanding and the peer expects just that. Whatever else a WQE
 * holds, and every refusal, is left to {@link Requester}, which begins with the WQE anew. Both
 * sides' sequence numbers move on as if the packets had been sent, so either way goes on where the
 * other stopped.
 */
final class DirectWrites {
  /** A control segment, a remote address, and where the payload is. */
  private static final int UNITS = 3;

  private static final int REMOTE = SendQueue.UNIT;
  private static final int DATA = 2 * SendQueue.UNIT;
  private static final int MOST_INLINE = SendQueue.UNIT - InlineSegment.DATA_OFFSET;

  /** A step may not take too long: what the packets of a pool carry. */
  private static final int MOST_BYTES = 1 << 26;

  private static final int INDEX_SHIFT = 40;

  private final SoftQueuePair queuePair;
  private final SoftHca hca;
  private final DevicePort port;
  private final WqeSource wqes;
  private final InFlight inFlight;
  private final SoftCompletionQueue completions;
  private final int mtu;
  private final int mostBytes;
  private final int mostInline;

  /** The first 8 bytes of such a WQE, apart from its index. */
  private final long beginning;

  // The keys that were used last: most are used again and again.
  private @Nullable SoftMemoryRegion source;
  private @Nullable SoftMemoryRegion target;

  DirectWrites(SoftQueuePair queuePair, WqeSource wqes, InFlight inFlight, int mtu) {
    this.queuePair = queuePair;
    this.hca = queuePair.hca;
    this.port = hca.port;
    this.wqes = wqes;
    this.inFlight = inFlight;
    this.completions = queuePair.sendCompletions;
    this.mtu = mtu;
    this.mostBytes = (int) Math.min(MOST_BYTES, hca.options.limits().messageBytes());
    this.mostInline = Math.min(MOST_INLINE, hca.options.limits().inlineBytes());
    this.beginning =
        (long) Opcode.RDMA_WRITE << Integer.SIZE | (long) queuePair.number() << Byte.SIZE | UNITS;
  }

  /** Whether a queue pair could ever have some. */
  static boolean arePossible(SoftQueuePair queuePair, WqeSource wqes) {
    return queuePair.attributes().transport() == Transport.RC
        && wqes.isInPlace()
        && queuePair.hca.isImmediate();
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
    int psn = inFlight.idlePsn();
    SoftQueuePair peer = psn < 0 ? null : peer();
    ReliableResponder responder =
        peer == null
            ? null
            : peer.immediateResponder(hca, queuePair.number(), queuePair.partitionKey);
    if (peer == null
        || responder == null
        || !responder.isIdleAt(psn)
        || (peer.rights & Rights.REMOTE_WRITE) == 0) {
      return 0;
    }
    boolean collapsed = completions.isCollapsed();
    long reported = 0;
    int lastIndex = 0;
    int lastBytes = 0;
    int packets = 0;
    long at = index;
    while (at < available && packets < budget) {
      long wqe = wqes.unit(at, 0);
      if (BigEndian.getLong(wqe) != (beginning | (at & SendQueue.INDEX_MASK) << INDEX_SHIFT)) {
        break;
      }
      boolean signalled = ControlSegment.isSignalled(ControlSegment.fmCeSe(wqe));
      if (signalled && !completions.hasRoom()) {
        break;
      }
      int bytes = write(wqe, peer);
      if (bytes == 0) {
        break;
      }
      packets += bytes <= mtu ? 1 : Psn.packets(bytes, mtu);
      if (signalled) {
        if (collapsed) {
          reported++;
          lastIndex = (int) at;
          lastBytes = bytes;
        } else {
          completions.requester(queuePair.number(), Opcode.RDMA_WRITE, (int) at, bytes);
        }
      }
      at++;
    }
    int done = (int) (at - index);
    if (done > 0) {
      inFlight.passed(packets);
      responder.passed(done, packets);
    }
    if (reported > 0) {
      completions.requesters(reported, queuePair.number(), Opcode.RDMA_WRITE, lastIndex, lastBytes);
    }
    return done;
  }

  /** The queue pair at the other end, when packets would be nothing but their effect. */
  private @Nullable SoftQueuePair peer() {
    Route way = queuePair.route;
    return hca.isImmediate()
            && way != null
            && way.immediate() instanceof SoftHca there
            && there.isImmediate()
        ? there.queuePairs.find(queuePair.peerNumber)
        : null;
  }

  /**
   * Moves the payload of a WQE.
   *
   * @return its bytes; 0 when nothing was done
   */
  private int write(long wqe, SoftQueuePair peer) {
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
    if (to == null || to.refusal(peer.domain, remote, bytes, Rights.REMOTE_WRITE) != 0) {
      return 0;
    }
    try {
      if (inline) {
        peer.hca.port.write(
            wqe + DATA + InlineSegment.DATA_OFFSET, to.memory(remote), bytes, to.relaxed);
        return bytes;
      }
      long local = DataSegment.address(wqe + DATA);
      SoftMemoryRegion from = source(DataSegment.lkey(wqe + DATA));
      if (from == null || from.refusal(queuePair.domain, local, bytes, 0) != 0) {
        return 0;
      }
      long payload = port.map(from.memory(local), bytes);
      if (payload != 0) {
        peer.hca.port.write(payload, to.memory(remote), bytes, to.relaxed);
        return bytes;
      }
      long source = from.memory(local);
      return peer.hca.port.copy(source, to.memory(remote), bytes, to.relaxed) ? bytes : 0;
    } catch (AccessFault gone) {
      return 0;
    }
  }

  private @Nullable SoftMemoryRegion source(int key) {
    SoftMemoryRegion region = source;
    if (region == null || region.lkey() != key || !region.isLive()) {
      region = hca.regions.find(key);
      source = region;
    }
    return region;
  }

  private @Nullable SoftMemoryRegion target(int key, SoftQueuePair peer) {
    SoftMemoryRegion region = target;
    if (region == null || region.rkey() != key || !region.isLive()) {
      region = peer.hca.regions.find(key);
      target = region;
    }
    return region;
  }
}
