package dev.doorbell.doctor.topology;

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
  SYS
}
