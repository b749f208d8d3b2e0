/**
 * Wires that leave the process: RoCEv2 in UDP between processes and hosts, and Ethernet frames in
 * datagrams for guests. Packets become the bytes of {@code core.roce} here and nowhere else, may be
 * captured, and may meet a fault. One wire stays: over a network in virtual time.
 */
@NullMarked
package dev.doorbell.softhca.wire;

import org.jspecify.annotations.NullMarked;
