package dev.doorbell.doctor.facts;

import java.util.List;
import java.util.Optional;

/**
 * An RDMA device of {@code /sys/class/infiniband}.
 *
 * @param name such as {@code mlx5_0}
 * @param pciAddress of its PCI function, which several have where a NIC has sub-functions; empty
 *     for software devices such as rxe
 * @param uverbsNode whether its {@code /dev/infiniband/uverbsN} is there for this process
 * @param trafficClass set for all of its verbs queue pairs; empty when none is
 */
public record RdmaDevice(
    String name,
    Optional<String> pciAddress,
    boolean uverbsNode,
    List<RdmaPort> ports,
    Optional<Integer> trafficClass) {
  public RdmaDevice {
    ports = List.copyOf(ports);
  }
}
