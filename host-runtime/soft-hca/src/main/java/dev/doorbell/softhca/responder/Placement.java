package dev.doorbell.softhca.responder;

import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.softhca.device.HcaFaults;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.HcaTracer;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Psn;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Payload of RDMA WRITEs that was accepted in order and is placed in any order, as the fabric
 * chooses or by a seed; or in order, but so that nothing orders the writes on PCIe.
 *
 * <p>What has to come behind it calls {@link #placeAll} first: atomics, READs, completions, NAKs,
 * writes by a key for strict ordering. An ACK waits for the packets that it acknowledges.
 */
final class Placement {
  /** Packets held at most; a whole window of small messages. */
  private static final int MOST = 32;

  /** Runs in a row in which nothing is placed, at most: what is held is placed some time. */
  private static final int MOST_IDLE = 16;

  private final QueuePairContext queuePair;
  private final HcaServices hca;
  private final DevicePort port;
  private final SplittableRandom random;

  /** Packets wait for others, and are placed in an order that is chosen. */
  private final boolean anyOrder;

  /** In the order of arrival. */
  private final List<Held> held = new ArrayList<>();

  private final List<Held> spare = new ArrayList<>();
  private int idle;

  /** A packet's payload that was not placed yet. */
  private static final class Held {
    private final MemorySegment bytes = Arena.ofAuto().allocate(Packet.MAX_PAYLOAD, Long.BYTES);
    private int psn;
    private int length;
    private long memory;
    private boolean last;
    private int originQpn;
    private int originIndex;
    private @Nullable SoftMemoryRegion region;
    private @Nullable Object knowledge;
  }

  Placement(QueuePairContext queuePair, HcaServices hca) {
    this.queuePair = queuePair;
    this.hca = hca;
    this.port = hca.port();
    this.anyOrder = hca.options().promises().placement() == Promise.Placement.ANY_ORDER;
    this.random = new SplittableRandom(hca.name().hashCode() * 31L + queuePair.number);
  }

  /** Takes a copy of a packet's payload. */
  void add(Packet packet, SoftMemoryRegion target, long address, boolean last) {
    if (held.size() == MOST) {
      place(HcaServices.choose(port, random, MOST));
    }
    Held one = spare.isEmpty() ? new Held() : spare.removeLast();
    one.psn = packet.psn;
    one.length = packet.bytes;
    one.memory = target.memory(address);
    one.last = last;
    one.originQpn = packet.originQpn;
    one.originIndex = packet.originIndex;
    one.region = target;
    one.knowledge = packet.knowledge;
    RawMemory.copy(packet.payload, one.bytes.address(), packet.bytes);
    held.add(one);
    if (anyOrder) {
      queuePair.activate();
    } else {
      place(0);
    }
  }

  /** Returns true if packets up to {@code psn} are placed; an ACK of them comes behind them. */
  boolean mayAcknowledge(int psn) {
    for (Held one : held) {
      if (Psn.difference(one.psn, psn) <= 0) {
        return false;
      }
    }
    queuePair.responses.placed();
    return true;
  }

  /**
   * Places some of what is held.
   *
   * @return how many packets
   */
  int run() {
    if (held.isEmpty()) {
      return 0;
    }
    int now = held.size() - HcaServices.choose(port, random, held.size() + 1);
    if (now > 0) {
      idle = 0;
    } else if (++idle > MOST_IDLE) {
      now = 1;
    }
    for (int i = 0; i < now && !held.isEmpty(); i++) {
      place(HcaServices.choose(port, random, held.size()));
    }
    if (!held.isEmpty()) {
      queuePair.activate();
    }
    return now;
  }

  /** Places all that is held: what the queue pair does next comes behind it. */
  void placeAll() {
    while (!held.isEmpty()) {
      place(HcaServices.choose(port, random, held.size()));
    }
    queuePair.responses.placed();
  }

  /** Drops what is held. */
  void discard() {
    held.clear();
  }

  private void place(int number) {
    Held one = held.remove(number);
    SoftMemoryRegion region = one.region;
    try {
      if (region == null || !region.isLive()) {
        fail();
      } else {
        write(one, region);
      }
    } catch (AccessFault gone) {
      fail();
    }
    one.region = null;
    one.knowledge = null;
    spare.add(one);
  }

  private void write(Held one, SoftMemoryRegion region) {
    long source = one.bytes.address();
    HcaFaults faults = hca.faults();
    if (faults != null && faults.postpones(queuePair, source, one.memory, one.length)) {
      return;
    }
    HcaTracer tracer = hca.tracer();
    if (one.last && tracer != null) {
      tracer.payload(
          one.originQpn, one.originIndex, source, one.memory, one.length, region.relaxed);
    } else {
      port.place(source, one.memory, one.length, region.relaxed, one.knowledge);
    }
  }

  /** The memory of a packet that was accepted is gone. */
  private void fail() {
    hca.raise(AsyncEvent.Type.QP_FATAL, queuePair.number);
    queuePair.enterError();
  }
}
