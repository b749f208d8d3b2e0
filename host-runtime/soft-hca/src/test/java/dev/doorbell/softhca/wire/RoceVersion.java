package dev.doorbell.softhca.wire;

/** How packets are framed. */
public enum RoceVersion {
  /** A GRH behind an EtherType of its own; not routable. */
  V1,
  /** UDP over IPv4 or IPv6. */
  V2
}
