package dev.doorbell.softhca.wire;

import dev.doorbell.core.roce.Aeth;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.core.roce.generated.AtomicAckEth;
import dev.doorbell.core.roce.generated.AtomicEth;
import dev.doorbell.core.roce.generated.Bth;
import dev.doorbell.core.roce.generated.DcEth;
import dev.doorbell.core.roce.generated.Deth;
import dev.doorbell.core.roce.generated.Ieth;
import dev.doorbell.core.roce.generated.ImmDt;
import dev.doorbell.core.roce.generated.MaskedAtomicEth;
import dev.doorbell.core.roce.generated.Reth;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketOpcode;

/** Bytes to packets, from the base transport header to the padding. */
final class PacketDecoder {
  private PacketDecoder() {}

  /**
   * Reads a packet; its payload is copied.
   *
   * @param frame parsed as RoCE, with at most {@link Packet#MAX_PAYLOAD} bytes of payload
   */
  static void decode(RoceFrame frame, Packet packet) {
    long bth = frame.bth;
    int opcode = frame.opcode;
    packet.dynamic = BthOpcode.transport(opcode) == BthOpcode.DC;
    if (packet.dynamic) {
      boolean masked = opcode >= BthOpcode.MASKED_COMPARE_SWAP_8 + BthOpcode.DC_MASKED;
      opcode -= masked ? BthOpcode.DC_MASKED : BthOpcode.DC;
    }
    packet.cellBytes = Long.BYTES;
    switch (opcode) {
      case BthOpcode.MASKED_COMPARE_SWAP_8 -> packet.opcode = PacketOpcode.MASKED_COMPARE_SWAP;
      case BthOpcode.MASKED_FETCH_ADD_8 -> packet.opcode = PacketOpcode.MASKED_FETCH_ADD;
      case BthOpcode.MASKED_COMPARE_SWAP_4 -> {
        packet.opcode = PacketOpcode.MASKED_COMPARE_SWAP;
        packet.cellBytes = Integer.BYTES;
      }
      case BthOpcode.MASKED_FETCH_ADD_4 -> {
        packet.opcode = PacketOpcode.MASKED_FETCH_ADD;
        packet.cellBytes = Integer.BYTES;
      }
      default -> packet.opcode = opcode;
    }
    packet.solicited = Bth.isSolicited(bth);
    packet.partitionKey = Bth.partitionKey(bth);
    packet.forwardCongestion = Bth.isForwardCongestion(bth);
    packet.backwardCongestion = Bth.isBackwardCongestion(bth);
    packet.destination = Bth.destination(bth);
    packet.ackRequest = Bth.isAckRequested(bth);
    packet.psn = Bth.psn(bth);
    decodeHeaders(frame, packet);
    packet.payload = frame.payload;
    packet.bytes = frame.payloadBytes;
    packet.keep();
  }

  private static void decodeHeaders(RoceFrame frame, Packet packet) {
    int headers = frame.headers;
    long at = frame.extended;
    if ((headers & BthOpcode.DETH) != 0) {
      packet.queueKey = Deth.qkey(at);
      packet.sourceQueuePair = Deth.sourceQueuePair(at);
      at += Deth.BYTES;
    }
    if ((headers & BthOpcode.RETH) != 0) {
      packet.remoteAddress = Reth.virtualAddress(at);
      packet.rkey = Reth.rkey(at);
      packet.dmaLength = Reth.length(at);
      at += Reth.BYTES;
    }
    if ((headers & (BthOpcode.ATOMIC_ETH | BthOpcode.MASKED_ATOMIC_ETH)) != 0) {
      packet.remoteAddress = AtomicEth.virtualAddress(at);
      packet.rkey = AtomicEth.rkey(at);
      packet.swapAdd = AtomicEth.swapAdd(at);
      packet.compare = AtomicEth.compare(at);
      if ((headers & BthOpcode.MASKED_ATOMIC_ETH) != 0) {
        packet.swapMask = MaskedAtomicEth.swapMask(at);
        packet.compareMask = MaskedAtomicEth.compareMask(at);
        at += MaskedAtomicEth.BYTES - AtomicEth.BYTES;
      }
      at += AtomicEth.BYTES;
    }
    if ((headers & BthOpcode.AETH) != 0) {
      packet.syndrome = Aeth.syndrome(at);
      packet.msn = Aeth.msn(at);
      at += Aeth.BYTES;
    }
    if ((headers & BthOpcode.ATOMIC_ACK_ETH) != 0) {
      packet.atomicResult = AtomicAckEth.original(at);
      at += AtomicAckEth.BYTES;
    }
    if ((headers & BthOpcode.IMM_DT) != 0) {
      packet.immediate = ImmDt.immediate(at);
      at += ImmDt.BYTES;
    }
    if ((headers & BthOpcode.IETH) != 0) {
      packet.invalidatedKey = Ieth.rkey(at);
      at += Ieth.BYTES;
    }
    if ((headers & BthOpcode.DC_ETH) != 0) {
      packet.accessKey = DcEth.accessKey(at);
      packet.sourceQueuePair = DcEth.initiator(at);
      packet.mtu = 1 << DcEth.logMtu(at);
      packet.firstPsn = DcEth.firstPsn(at);
      packet.connection = DcEth.connection(at);
    }
  }
}
