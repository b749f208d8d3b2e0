package dev.doorbell.softhca.responder;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.HcaTracer;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.objects.Completions;
import dev.doorbell.softhca.objects.DirectPeer;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.ReceiveSource;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import org.jspecify.annotations.Nullable;

/** Takes receive WQEs when there is room for their CQE, scatters payload, and completes them. */
final class ReceiveConsumer {
  private final QueuePairContext queuePair;
  private final HcaServices hca;
  private final DevicePort port;
  private final @Nullable HcaTracer tracer;
  private final @Nullable ReceiveSource queue;
  private final @Nullable Completions completions;
  private final @Nullable Placement placement;

  /** Position of the next byte in the receive WQE. */
  private int segment;

  private int segmentOffset;

  // The bytes that the cursor was moved over last, or a syndrome.
  private long pieceAddress;
  private int pieceBytes;
  private int refusal;

  /** Nothing is posted. */
  boolean empty;

  /** The receive ring cannot be read, or the completion queue has overrun. */
  boolean broken;

  private boolean lastReached;

  /**
   * @param queue null without receives
   * @param placement of RDMA WRITEs; null where they are placed in order
   */
  ReceiveConsumer(
      QueuePairContext queuePair,
      HcaServices hca,
      @Nullable ReceiveSource queue,
      @Nullable Placement placement) {
    this.queuePair = queuePair;
    this.hca = hca;
    this.port = hca.port();
    this.tracer = hca.tracer();
    this.queue = queue;
    this.completions = queuePair.receiveCompletions;
    this.placement = placement;
  }

  /** True when a receive WQE and room for its CQE are at hand; else the other methods say why. */
  boolean isReady() {
    ReceiveSource from = queue;
    Completions to = completions;
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
    broken = room == Completions.OVERRUN;
    return room == Completions.ROOM;
  }

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

  /** Acts as {@link #scatter(Packet)}, with other bytes than the packet's payload. */
  int scatter(Packet packet, long source, int bytes, boolean last) {
    int left = bytes;
    long from = source;
    while (left > 0) {
      SoftMemoryRegion target = next(left);
      if (target == null) {
        return refusal;
      }
      int take = pieceBytes;
      try {
        write(packet, from, target, pieceAddress, take, take == left && last);
      } catch (AccessFault gone) {
        return Syndrome.LOCAL_PROTECTION;
      }
      from += take;
      left -= take;
    }
    return 0;
  }

  /**
   * Moves the cursor over the next {@link #pieceBytes} of {@code most} bytes of the message.
   *
   * @return the region of {@link #pieceAddress}, where they go; null if there is none, for the
   *     reason of {@link #refusal}
   */
  private @Nullable SoftMemoryRegion next(int most) {
    ReceiveSource receives = queue;
    refusal = receives == null ? Syndrome.LOCAL_QP_OPERATION : Syndrome.LOCAL_LENGTH;
    while (receives != null && segment < receives.segments()) {
      long at = receives.segment(segment);
      if (ReceiveSegment.isTerminator(at)) {
        return null;
      }
      int take = Math.min(most, ReceiveSegment.byteCount(at) - segmentOffset);
      if (take == 0) {
        segment++;
        segmentOffset = 0;
        continue;
      }
      pieceAddress = ReceiveSegment.address(at) + segmentOffset;
      SoftMemoryRegion target = queuePair.regions.find(ReceiveSegment.lkey(at));
      if (target == null
          || target.refusal(queuePair.domain, pieceAddress, take, Rights.LOCAL_WRITE) != 0) {
        refusal = Syndrome.LOCAL_PROTECTION;
        return null;
      }
      pieceBytes = take;
      segmentOffset += take;
      return target;
    }
    return null;
  }

  /** Returns true if the receive at hand takes a whole message of {@code bytes} bytes. */
  boolean fits(int bytes) {
    begin();
    for (int left = bytes; left > 0; left -= pieceBytes) {
      if (next(left) == null) {
        return false;
      }
    }
    begin();
    return true;
  }

  /** Does the same as {@link DirectPeer#scatter}, into the receive at hand. */
  boolean scatter(DevicePort from, long address, int bytes, boolean mapped) {
    for (int done = 0; done < bytes; done += pieceBytes) {
      SoftMemoryRegion target = next(bytes - done);
      if (target == null
          || !DirectPeer.move(
              mapped ? null : from,
              address + done,
              port,
              target.memory(pieceAddress),
              pieceBytes,
              target.relaxed)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Writes payload of {@code packet} to a region.
   *
   * @param last whether these are the last bytes of the message
   * @throws AccessFault if the memory was freed
   */
  void write(
      Packet packet, long source, SoftMemoryRegion target, long address, int bytes, boolean last) {
    HcaFaults faults = hca.faults();
    long memory = target.memory(address);
    if (faults != null && faults.postpones(queuePair, source, memory, bytes)) {
      return;
    }
    if (last && tracer != null) {
      tracer.payload(packet.originQpn, packet.originIndex, source, memory, bytes, target.relaxed);
    } else {
      port.write(source, memory, bytes, target.relaxed);
    }
  }

  /** Takes an RDMA WRITE's payload: it is written now, or in an order that the adapter allows. */
  void place(Packet packet, SoftMemoryRegion target, long address, boolean last) {
    Placement held = placement;
    if (held == null) {
      write(packet, packet.payload, target, address, packet.bytes, last);
    } else if (target.strict) {
      held.placeAll();
      write(packet, packet.payload, target, address, packet.bytes, last);
    } else {
      held.add(packet, target, address, last);
    }
  }

  /** Everything that was taken is written before what follows. */
  void placeAll() {
    if (placement != null) {
      placement.placeAll();
    }
  }

  /** Completes the receive WQE in use. */
  void complete(Packet packet, int cqeOpcode, long length) {
    int operation = PacketOpcode.operation(packet.opcode);
    int word =
        PacketOpcode.hasImmediate(operation)
            ? packet.immediate
            : PacketOpcode.invalidates(operation) ? packet.invalidatedKey : 0;
    complete(
        cqeOpcode,
        length,
        word,
        packet.solicited,
        queuePair.isDatagram()
            ? Cqe.sender(packet.sourceQueuePair, packet.isIpv4())
            : Completions.CONNECTED);
  }

  /** Completes a message without packets. */
  void complete(int cqeOpcode, long length, int word, boolean solicited, int sender) {
    ReceiveSource from = queue;
    Completions to = completions;
    if (from == null || to == null) {
      return;
    }
    placeAll();
    to.writer(queuePair.responses);
    to.user(queuePair.userIndex);
    to.responder(
        cqeOpcode,
        queuePair.number,
        from.userIndex(),
        (int) from.index(),
        (int) length,
        word,
        solicited,
        sender);
    from.consume();
  }

  /** Completes the receive WQE in use with an error. */
  void fail(int syndrome) {
    ReceiveSource from = queue;
    Completions to = completions;
    if (from != null && to != null) {
      hca.counters()
          .add(
              syndrome == Syndrome.FLUSHED ? Counter.RESP_CQE_FLUSH_ERROR : Counter.RESP_CQE_ERROR);
      to.user(queuePair.userIndex);
      to.error(
          Cqe.RESPONDER_ERROR,
          syndrome,
          VendorSyndrome.NONE,
          0,
          queuePair.number,
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
      if (!queuePair.isDynamic()) {
        hca.raise(AsyncEvent.Type.LAST_WQE_REACHED, queuePair.number);
      }
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
