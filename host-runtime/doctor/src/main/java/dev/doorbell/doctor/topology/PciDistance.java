package dev.doorbell.doctor.topology;

import java.util.List;

/** Distance between two PCI functions, nearest first, in nvidia-smi's words. */
public enum PciDistance {
  /** Under one switch. */
  PIX,
  /** Through more than one switch, but no CPU. */
  PXB,
  /** Through the CPU's host bridge. */
  PHB,
  /** Between host bridges of one NUMA node. */
  NODE,
  /** Between NUMA nodes. */
  SYS;

  /** Returns the number of bridges, outermost first, that two functions share. */
  public static int shared(List<String> a, List<String> b) {
    int shared = 0;
    while (shared < Math.min(a.size(), b.size()) && a.get(shared).equals(b.get(shared))) {
      shared++;
    }
    return shared;
  }

  /**
   * Returns the distance of two functions of one root complex.
   *
   * @param a bridges above one, outermost first
   * @param ports bridges that a switch has below those that the two share
   */
  public static PciDistance of(List<String> a, List<String> b, int ports) {
    int shared = shared(a, b);
    return shared == 0 ? PHB : Math.max(a.size(), b.size()) - shared <= ports ? PIX : PXB;
  }
}
