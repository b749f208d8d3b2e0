package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;
import org.jspecify.annotations.Nullable;

/**
 * What a responder does with receive WQEs: takes one when there is room for its CQE too, scatters
 * to it, completes it.
 */
final class Receives {
  private final SoftQueuePair queuePair;
  private final SoftHca hca;
  private final DevicePort port;
  private final @Nullable ReceiveSource queue;
  private final @Nullable SoftCompletionQueue completions;

  /** Where the next byte goes in the receive WQE. */
  private int segment;

  private int segmentOffset;

  private boolean empty;
  private boolean broken;
  private boolean lastReached;

  /**
   * @param queue null for a queue pair that takes no receives
   */
  Receives(SoftQueuePair queuePair, @Nullable ReceiveSource queue) {
    this.queuePair = queuePair;
    this.hca = queuePair.hca;
    this.port = hca.port;
    this.queue = queue;
    this.completions = queuePair.receiveCompletions;
  }

  /** Makes sure of a receive WQE and room for its CQE; if not, the other questions say why. */
  boolean isReady() {
    ReceiveSource from = queue;
    SoftCompletionQueue to = completions;
    if (from == null || to == null) {
      empty = true;
      return false;
    }
    int ready = from.prepare();
    empty = ready == ReceiveSource.EMPTY;
    broken = from.failed();
    if (ready != ReceiveSource.READY || broken) {
      return false;
    }
    int room = to.room(queuePair);
    broken = room == SoftCompletionQueue.OVERRUN;
    return room == SoftCompletionQueue.ROOM;
  }

  /** Nothing is posted. */
  boolean isEmpty() {
    return empty;
  }

  /** The receive ring cannot be read, or the completion queue has overrun. */
  boolean isBroken() {
    return broken;
  }

  /** A message begins. */
  void begin() {
    segment = 0;
    segmentOffset = 0;
  }

  /**
   * Writes a SEND's payload to the receive WQE's buffers.
   *
   * @return 0, or a syndrome
   */
  int scatter(Packet packet) {
    return scatter(
        packet,
        packet.payload,
        packet.bytes,
        PacketOpcode.isLast(PacketOpcode.operation(packet.opcode)));
  }

  /** As {@link #scatter(Packet)}, of other bytes than the packet's payload. */
  int scatter(Packet packet, long source, int bytes, boolean last) {
    ReceiveSource receives = queue;
    if (receives == null) {
      return Syndrome.LOCAL_QP_OPERATION;
    }
    int left = bytes;
    long from = source;
    while (left > 0) {
      if (segment == receives.segments()) {
        return Syndrome.LOCAL_LENGTH;
      }
      long at = receives.segment(segment);
      if (ReceiveSegment.isTerminator(at)) {
        return Syndrome.LOCAL_LENGTH;
      }
      int room = ReceiveSegment.byteCount(at) - segmentOffset;
      if (room == 0) {
        segment++;
        segmentOffset = 0;
        continue;
      }
      int take = Math.min(left, room);
      long address = ReceiveSegment.address(at) + segmentOffset;
      SoftMemoryRegion target = hca.regions.find(ReceiveSegment.lkey(at));
      if (target == null
          || target.refusal(queuePair.domain, address, take, Rights.LOCAL_WRITE) != 0) {
        return Syndrome.LOCAL_PROTECTION;
      }
      long memory = target.memory(address);
      try {
        if (hca.faults == null || !hca.faults.postpones(queuePair, from, memory, take)) {
          if (take == left && last && hca.tracing) {
            hca.tracer.payload(packet, from, memory, take, target.relaxed);
          } else {
            port.write(from, memory, take, target.relaxed);
          }
        }
      } catch (AccessFault gone) {
        return Syndrome.LOCAL_PROTECTION;
      }
      from += take;
      left -= take;
      segmentOffset += take;
    }
    return 0;
  }

  /** Completes the receive WQE in use. */
  void complete(Packet packet, int cqeOpcode, long length) {
    ReceiveSource from = queue;
    SoftCompletionQueue to = completions;
    if (from == null || to == null) {
      return;
    }
    int operation = PacketOpcode.operation(packet.opcode);
    int word =
        PacketOpcode.hasImmediate(operation)
            ? packet.immediate
            : PacketOpcode.invalidates(operation) ? packet.invalidatedKey : 0;
    to.writer(queuePair.responses);
    int number = queuePair.number();
    int index = (int) from.index();
    if (queuePair.isDatagram) {
      to.datagram(
          cqeOpcode,
          number,
          from.userIndex(),
          index,
          (int) length,
          word,
          packet.solicited,
          packet.sourceQueuePair);
    } else {
      to.responder(
          cqeOpcode, number, from.userIndex(), index, (int) length, word, packet.solicited);
    }
    from.consume();
  }

  /** Completes the receive WQE in use with an error. */
  void fail(int syndrome) {
    ReceiveSource from = queue;
    SoftCompletionQueue to = completions;
    if (from != null && to != null) {
      to.error(
          Cqe.RESPONDER_ERROR,
          syndrome,
          VendorSyndrome.NONE,
          0,
          queuePair.number(),
          (int) from.index());
      from.consume();
    }
  }

  /**
   * The queue pair is in error: flushes what is posted.
   *
   * @return how many receives
   */
  int flush() {
    ReceiveSource from = queue;
    if (from == null || lastReached) {
      return 0;
    }
    int flushed = 0;
    // Of a shared queue only the WQE of the message that was arriving is this queue pair's.
    while ((from.isOwn() || from.isTaken()) && isReady()) {
      fail(Syndrome.FLUSHED);
      flushed++;
    }
    if (!from.isOwn() && !from.isTaken()) {
      lastReached = true;
      hca.raise(AsyncEvent.Type.LAST_WQE_REACHED, queuePair.number());
    }
    return flushed;
  }

  /** The queue pair is gone. */
  void release() {
    if (queue != null) {
      queue.release();
    }
  }
}
