package dev.doorbell.softhca.wire;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.roce.Aeth;
import dev.doorbell.core.roce.BthOpcode;
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

/** Packets to bytes, from the base transport header to the padding. */
final class PacketCodec {
  private static final int FORWARD_CONGESTION = 0x80;
  private static final int BACKWARD_CONGESTION = 0x40;

  private PacketCodec() {}

  /**
   * Writes a packet.
   *
   * @param bth native address of the first byte
   * @return how many bytes were written; the ICRC goes behind them
   */
  static int encode(Packet packet, long bth) {
    int opcode = wireOpcode(packet);
    int pad = packet.padBytes();
    Bth.write(
        bth, opcode, packet.solicited, pad, packet.destination, packet.ackRequest, packet.psn);
    if (packet.partitionKey != Bth.DEFAULT_PKEY) {
      Bth.putPartitionKey(bth, packet.partitionKey);
    }
    if (packet.forwardCongestion || packet.backwardCongestion) {
      int bits =
          (packet.forwardCongestion ? FORWARD_CONGESTION : 0)
              | (packet.backwardCongestion ? BACKWARD_CONGESTION : 0);
      RawMemory.putByte(bth + Bth.CONGESTION_OFFSET, (byte) bits);
    }
    long at = encodeHeaders(packet, BthOpcode.headers(opcode), bth + Bth.BYTES);
    int bytes = packet.bytes;
    if (bytes > 0) {
      RawMemory.copy(packet.payload, at, bytes);
      at += bytes;
      for (int i = 0; i < pad; i++) {
        RawMemory.putByte(at++, (byte) 0);
      }
    }
    return (int) (at - bth);
  }

  private static int wireOpcode(Packet packet) {
    int opcode = connectedOpcode(packet);
    if (!packet.dynamic) {
      return opcode;
    }
    return opcode < BthOpcode.DOORBELL ? BthOpcode.DC | opcode : opcode + BthOpcode.DC_MASKED;
  }

  private static int connectedOpcode(Packet packet) {
    return switch (packet.opcode) {
      case PacketOpcode.MASKED_COMPARE_SWAP ->
          packet.cellBytes == Long.BYTES
              ? BthOpcode.MASKED_COMPARE_SWAP_8
              : BthOpcode.MASKED_COMPARE_SWAP_4;
      case PacketOpcode.MASKED_FETCH_ADD ->
          packet.cellBytes == Long.BYTES
              ? BthOpcode.MASKED_FETCH_ADD_8
              : BthOpcode.MASKED_FETCH_ADD_4;
      default -> packet.opcode;
    };
  }

  private static long encodeHeaders(Packet packet, int headers, long start) {
    long at = start;
    if ((headers & BthOpcode.DETH) != 0) {
      Deth.write(at, packet.queueKey, packet.sourceQueuePair);
      at += Deth.BYTES;
    }
    if ((headers & BthOpcode.RETH) != 0) {
      Reth.write(at, packet.remoteAddress, packet.rkey, packet.dmaLength);
      at += Reth.BYTES;
    }
    if ((headers & (BthOpcode.ATOMIC_ETH | BthOpcode.MASKED_ATOMIC_ETH)) != 0) {
      AtomicEth.write(at, packet.remoteAddress, packet.rkey, packet.swapAdd, packet.compare);
      if ((headers & BthOpcode.MASKED_ATOMIC_ETH) != 0) {
        MaskedAtomicEth.writeMasks(at, packet.swapMask, packet.compareMask);
        at += MaskedAtomicEth.BYTES - AtomicEth.BYTES;
      }
      at += AtomicEth.BYTES;
    }
    if ((headers & BthOpcode.AETH) != 0) {
      Aeth.write(at, packet.syndrome, packet.msn);
      at += Aeth.BYTES;
    }
    if ((headers & BthOpcode.ATOMIC_ACK_ETH) != 0) {
      AtomicAckEth.write(at, packet.atomicResult);
      at += AtomicAckEth.BYTES;
    }
    if ((headers & BthOpcode.IMM_DT) != 0) {
      ImmDt.write(at, packet.immediate);
      at += ImmDt.BYTES;
    }
    if ((headers & BthOpcode.IETH) != 0) {
      Ieth.write(at, packet.invalidatedKey);
      at += Ieth.BYTES;
    }
    if ((headers & BthOpcode.DC_ETH) != 0) {
      DcEth.write(
          at,
          packet.accessKey,
          packet.sourceQueuePair,
          Integer.numberOfTrailingZeros(packet.mtu),
          packet.firstPsn,
          packet.connection);
      at += DcEth.BYTES;
    }
    return at;
  }
}
