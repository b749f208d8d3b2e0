package dev.doorbell.softhca;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.Syndrome;
import org.jspecify.annotations.Nullable;

/**
 * What a responder does with receive WQEs: takes one when there is room for its CQE too, scatters
 * to it, completes it.
 */
final class Receives {
  private final SoftQueuePair queuePair;
  private final SoftHca hca;
  private final DevicePort port;
  private final @Nullable ReceiveQueue queue;
  private final @Nullable SoftCompletionQueue completions;

  /** Where the next byte goes in the receive WQE. */
  private int segment;

  private int segmentOffset;

  private boolean empty;
  private boolean broken;

  /**
   * @param queue null for a queue pair that takes no receives
   */
  Receives(SoftQueuePair queuePair, @Nullable ReceiveQueue queue) {
    this.queuePair = queuePair;
    this.hca = queuePair.hca;
    this.port = hca.port;
    this.queue = queue;
    this.completions = queuePair.receiveCompletions;
  }

  /** Makes sure of a receive WQE and room for its CQE; if not, the other questions say why. */
  boolean isReady() {
    ReceiveQueue from = queue;
    SoftCompletionQueue to = completions;
    if (from == null || to == null) {
      empty = true;
      return false;
    }
    int ready = from.prepare();
    empty = ready == ReceiveQueue.EMPTY;
    broken = from.failed();
    if (ready != ReceiveQueue.READY || broken) {
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
    ReceiveQueue receives = queue;
    if (receives == null) {
      return Syndrome.LOCAL_QP_OPERATION;
    }
    int left = packet.bytes;
    long from = packet.payload;
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
      try {
        if (take == left && PacketOpcode.isLast(packet.opcode) && hca.tracing) {
          hca.tracer.payload(packet, from, address, take, target.relaxed);
        } else {
          port.write(from, address, take, target.relaxed);
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
    ReceiveQueue from = queue;
    SoftCompletionQueue to = completions;
    if (from != null && to != null) {
      to.responder(
          cqeOpcode,
          queuePair.number(),
          (int) from.index(),
          (int) length,
          PacketOpcode.hasImmediate(packet.opcode) ? packet.immediate : 0,
          packet.solicited);
      from.consume();
    }
  }

  /** Completes the receive WQE in use with an error. */
  void fail(int syndrome) {
    ReceiveQueue from = queue;
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
    int flushed = 0;
    while (isReady()) {
      fail(Syndrome.FLUSHED);
      flushed++;
    }
    return flushed;
  }
}
