package dev.doorbell.interop.shim.client;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;

/**
 * A world in which the kernels and HCAs of served programs do not act at once: against an
 * adversary, or in virtual time. All programs of the server share one window of memory there.
 */
public interface ServedWorld {
  /** Creates the fabric over the window. */
  Fabric create(AddressSpace memory);

  /** The place of a GPU of the program with that number. */
  Locus gpu(int program, int index);

  /** True when GPUs of a program at these places address each other's memory. */
  default boolean arePeers(Locus one, Locus other) {
    return true;
  }

  /** The number of the program to which an HCA is nearest. */
  default int program(int hca) {
    return hca;
  }

  Locus nic(int number);

  default InProcessWire wire() {
    return new InProcessWire();
  }

  /** The time that a program takes to post to an HCA and to ring for it. */
  default long postNanos() {
    return 0;
  }

  default SoftHcaOptions hca(int number, SoftHcaOptions usual) {
    return usual;
  }

  /** A program loads PTX; returns the text by which the world tells its lines apart. */
  default String module(String ptx) {
    return ptx;
  }

  /** A program creates a queue pair whose ring and doorbell record lie in the window. */
  default void queuePair(Locus nic, int number, long ring, long ringBytes, long record) {}

  /**
   * A kernel of a program has failed.
   *
   * @param stuck its threads could not go on, or not in time
   */
  default void failed(String message, boolean stuck) {}
}
