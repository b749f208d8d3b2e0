package dev.doorbell.push.wire;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.softhca.packet.Packet;

/**
 * A number that stands for a sequence of packets. Addresses and keys are left out: where memory
 * lies is the system's choice and differs from run to run.
 */
final class PacketDigest {
  private static final long STEP = 0x9e37_79b9_7f4a_7c15L;
  private static final long FIRST = 0xbf58_476d_1ce4_e5b9L;
  private static final long SECOND = 0x94d0_49bb_1331_11ebL;

  private long value;

  /** One more packet. */
  void add(long nanos, int from, int to, Packet packet) {
    mix(nanos);
    mix((long) from << 32 | to);
    mix((long) packet.opcode << 56 | (long) packet.psn << 32 | packet.destination);
    mix((packet.ackRequest ? 2L : 0) | (packet.solicited ? 1L : 0));
    if (packet.bytes > 0) {
      payload(packet.payload, packet.bytes);
    }
  }

  private void payload(long address, int bytes) {
    int whole = bytes & -Long.BYTES;
    for (int at = 0; at < whole; at += Long.BYTES) {
      mix(RawMemory.getLong(address + at));
    }
    for (int at = whole; at < bytes; at++) {
      mix(RawMemory.getByte(address + at));
    }
    mix(bytes);
  }

  private void mix(long word) {
    // The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    long a = value + STEP ^ word;
    a = (a ^ a >>> 30) * FIRST;
    a = (a ^ a >>> 27) * SECOND;
    value = a ^ a >>> 31;
  }

  long value() {
    return value;
  }
}
