package dev.doorbell.softhca.wire;

/** From which UDP port of its peer a connection accepts packets. */
public enum PeerPort {
  /**
   * Any port of the peer's address, as RoCEv2 has it: the source port is a hash for switches (IBA
   * annex A17). Whoever can send from that address is taken for the peer: on loopback, every local
   * user.
   */
  ANY,
  /**
   * The port to which the peer is sent, which only the peer's process can have. Fits peers that
   * send from the port that they receive on, as {@link RoceWire#udp} does.
   */
  STRICT
}
