package dev.doorbell.softhca.wire;

import dev.doorbell.softhca.packet.Packet;

/**
 * Faults of a wire, on purpose. A wire asks for each packet that leaves it and each that arrives;
 * implementations count what they did.
 */
public interface WireFaults {
  /** Nothing goes wrong. */
  WireFaults NONE = (packet, leaving) -> Fate.PASS;

  enum Fate {
    PASS,
    /** It is gone. */
    DROP,
    /** It is there twice. */
    DUPLICATE,
    /** A bit of it is wrong, so that its ICRC is; of packets that leave only. */
    CORRUPT,
    /** It leaves after the next packet; of packets that leave only. */
    SWAP
  }

  /**
   * Decides. On the thread that steps the wire; must not keep the packet.
   *
   * @param leaving true before a packet is sent, false after one was received
   */
  Fate fate(Packet packet, boolean leaving);
}
