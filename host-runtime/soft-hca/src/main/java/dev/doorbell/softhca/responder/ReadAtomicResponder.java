package dev.doorbell.softhca.responder;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.Aeth;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.SharedBuffer;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import dev.doorbell.softhca.objects.TxQueue;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;
import dev.doorbell.softhca.packet.Psn;
import org.jspecify.annotations.Nullable;

/**
 * Executes READs and atomics. The newest ones are remembered, as many as the connection's
 * maxDestReadAtomic: a repeated READ is executed again, a repeated atomic is answered from the
 * stored result.
 */
final class ReadAtomicResponder {
  private final HcaServices hca;
  private final DevicePort port;
  private final ReliableResponder responder;
  private final RequestChecks checks;
  private final TxQueue tx;
  private final int mtu;
  private final SharedBuffer buffer;
  private final SharedBuffer.Turn turn;

  /** The answer of an atomic that is being carried out. */
  private @Nullable Packet atomicResponse;

  private final Executed[] executed;
  private int newest;

  /** A question that was executed. */
  private static final class Executed {
    /** -1 for none. */
    int psn = -1;

    int packets;
    boolean read;
    long address;
    long length;
    int rkey;
    long result;
  }

  ReadAtomicResponder(
      QueuePairContext queuePair,
      HcaServices hca,
      ReliableResponder responder,
      RequestChecks checks,
      TxQueue tx) {
    this.hca = hca;
    this.checks = checks;
    this.port = hca.port();
    this.responder = responder;
    this.tx = tx;
    this.mtu = queuePair.mtu();
    this.buffer = hca.pipeline().transmits();
    this.turn = new SharedBuffer.Turn(queuePair::activateFromOutside);
    this.executed = new Executed[queuePair.connection().maxDestReadAtomic()];
  }

  /** True while an atomic is being carried out: everything waits for it. */
  boolean isBusy() {
    return atomicResponse != null;
  }

  void run() {
    Packet response = atomicResponse;
    if (response != null && response.phase != Packet.Phase.READING) {
      atomicResponse = null;
      finishAtomic(response);
    }
  }

  void discard() {
    Packet atomic = atomicResponse;
    if (atomic != null && atomic.abandon()) {
      atomic.pool.release(atomic);
    }
    atomicResponse = null;
    buffer.cancel(turn);
  }

  /** Nothing more is answered for now: what is left of a turn of the transmit buffer is others'. */
  void endTurn() {
    buffer.end(turn);
  }

  /**
   * Checks a question.
   *
   * @return 0, or the syndrome with which it is refused
   */
  private int check(Packet packet, long length, int right) {
    return checks.check(packet.rkey, packet.remoteAddress, length, right);
  }

  private boolean refuse(Packet packet, int syndrome) {
    return responder.nak(syndrome, packet.psn, RequestChecks.event(syndrome));
  }

  /**
   * Answers the question that is expected next.
   *
   * @return false when something that it needs is missing
   */
  boolean execute(Packet packet) {
    return packet.opcode == BthOpcode.READ_REQUEST ? read(packet) : atomic(packet);
  }

  /** Answers a question that was answered before; what is not remembered is dropped. */
  boolean repeat(Packet packet) {
    Executed known = find(packet.psn);
    if (known == null) {
      return true;
    }
    if (packet.opcode != BthOpcode.READ_REQUEST) {
      return known.read || repeatAtomic(packet, known);
    }
    long length = packet.dmaLength & 0xffff_ffffL;
    long offset = (long) Psn.difference(packet.psn, known.psn) * mtu;
    boolean part =
        known.read
            && packet.rkey == known.rkey
            && packet.remoteAddress == known.address + offset
            && length <= known.length - offset;
    if (!part) {
      return true;
    }
    int refusal = check(packet, length, Rights.REMOTE_READ);
    return refusal != 0 ? refuse(packet, refusal) : respond(packet, checks.region, length, false);
  }

  /**
   * A READ is asked for again from a response on that was sent: the requester drops whatever it
   * gets of the answer under way, which ends here.
   */
  void arrivesBehind(Packet answered, Packet again) {
    if (answered.opcode == BthOpcode.READ_REQUEST && again.opcode == BthOpcode.READ_REQUEST) {
      int offset = Psn.difference(again.psn, answered.psn);
      if (offset >= 0 && offset < answered.progress) {
        answered.progress = Integer.MAX_VALUE;
      }
    }
  }

  private @Nullable Executed find(int psn) {
    for (Executed one : executed) {
      if (one != null && one.psn >= 0) {
        int offset = Psn.difference(psn, one.psn);
        if (offset >= 0 && offset < one.packets) {
          return one;
        }
      }
    }
    return null;
  }

  /** A place for what is answered now, instead of the oldest. */
  private Executed remember(int psn, int packets) {
    newest = newest + 1 == executed.length ? 0 : newest + 1;
    Executed place = executed[newest];
    if (place == null) {
      place = new Executed();
      executed[newest] = place;
    }
    place.psn = psn;
    place.packets = packets;
    return place;
  }

  private boolean read(Packet packet) {
    long length = packet.dmaLength & 0xffff_ffffL;
    int refusal = check(packet, length, Rights.REMOTE_READ);
    if (refusal != 0) {
      return refuse(packet, refusal);
    }
    if (!respond(packet, checks.region, length, true)) {
      return false;
    }
    int responses = Psn.packets(length, mtu);
    Executed memory = remember(packet.psn, responses);
    memory.read = true;
    memory.address = packet.remoteAddress;
    memory.length = length;
    memory.rkey = packet.rkey;
    responder.expectAfterResponse(packet.psn, responses);
    checks.count(Rights.REMOTE_READ);
    return true;
  }

  /**
   * Sends the answer to a READ, or goes on with it.
   *
   * @param source what is read; null where that is nothing
   * @return false when the packets have run out, or the transmit buffer is others' for a while
   */
  private boolean respond(
      Packet packet, @Nullable SoftMemoryRegion source, long length, boolean isNew) {
    int responses = Psn.packets(length, mtu);
    while (packet.progress < responses) {
      Packet response = hca.packets().takeForAnswer();
      if (response == null) {
        return false;
      }
      long offset = (long) packet.progress * mtu;
      int bytes = (int) Math.min(mtu, length - offset);
      if (!buffer.take(turn, response, bytes)) {
        hca.packets().release(response);
        return false;
      }
      if (packet.progress == 0 && isNew) {
        responder.responseBegins();
      }
      int number = packet.progress++;
      responder.address(
          response, PacketOpcode.readResponse(number, responses), Psn.add(packet.psn, number));
      response.bytes = bytes;
      long address = packet.remoteAddress + offset;
      if (source != null && !gather(response, source.memory(address))) {
        int psn = response.psn;
        hca.packets().release(response);
        return responder.nak(Aeth.NAK_REMOTE_OPERATION, psn, AsyncEvent.Type.QP_FATAL);
      }
      tx.add(response);
    }
    return true;
  }

  private boolean gather(Packet response, long address) {
    int bytes = response.bytes;
    if (bytes == 0) {
      return true;
    }
    try {
      long inPlace = port.isImmediate() ? 0 : port.map(address, bytes);
      if (inPlace != 0) {
        response.payload = inPlace;
        return true;
      }
      response.payload = response.buffer();
      response.beginReads();
      if (!port.read(address, response.payload, bytes, response)) {
        response.addRead();
      }
      response.endReads();
      return true;
    } catch (AccessFault gone) {
      return false;
    }
  }

  /** Forgets the oldest question for a READ that was answered without packets. */
  void rememberRead(int psn, int packets) {
    Executed memory = remember(psn, packets);
    memory.read = true;
    memory.length = 0;
  }

  /** Keeps the result of an atomic that was answered without packets. */
  void rememberAtomic(int psn, long result) {
    Executed memory = remember(psn, 1);
    memory.read = false;
    memory.result = result;
  }

  private boolean atomic(Packet packet) {
    int cell = packet.cellBytes;
    long address = packet.remoteAddress;
    int refusal = check(packet, cell, Rights.REMOTE_ATOMIC);
    SoftMemoryRegion target = checks.region;
    if (refusal != 0 || target == null) {
      return refuse(packet, refusal);
    }
    Packet response = hca.packets().takeForAnswer();
    if (response == null) {
      return false;
    }
    response.opcode = packet.opcode;
    response.swapAdd = packet.swapAdd;
    response.compare = packet.compare;
    response.swapMask = packet.swapMask;
    response.compareMask = packet.compareMask;
    response.cellBytes = cell;
    response.psn = packet.psn;
    response.owner = tx;
    RawMemory.putLong(response.buffer(), 0);
    response.beginReads();
    try {
      if (!port.atomic(target.memory(address), cell, response.buffer(), response, response)) {
        response.addRead();
      }
    } catch (AccessFault gone) {
      hca.packets().release(response);
      return refuse(packet, Aeth.NAK_REMOTE_OPERATION);
    }
    response.endReads();
    responder.expectAfterResponse(packet.psn, 1);
    checks.count(Rights.REMOTE_ATOMIC);
    responder.responseBegins();
    Executed memory = remember(packet.psn, 1);
    memory.read = false;
    if (response.phase == Packet.Phase.READING) {
      atomicResponse = response;
    } else {
      finishAtomic(response);
    }
    return true;
  }

  private void finishAtomic(Packet response) {
    int psn = response.psn;
    if (response.phase == Packet.Phase.FAILED) {
      hca.packets().release(response);
      responder.nak(Aeth.NAK_REMOTE_OPERATION, psn, AsyncEvent.Type.QP_FATAL);
      return;
    }
    response.takeAtomicResult();
    executed[newest].result = response.atomicResult;
    responder.address(response, BthOpcode.ATOMIC_ACKNOWLEDGE, psn);
    tx.add(response);
  }

  private boolean repeatAtomic(Packet packet, Executed known) {
    Packet response = hca.packets().takeForAnswer();
    if (response == null) {
      return false;
    }
    responder.address(response, BthOpcode.ATOMIC_ACKNOWLEDGE, packet.psn);
    response.atomicResult = known.result;
    tx.add(response);
    return true;
  }
}
