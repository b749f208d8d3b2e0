package dev.doorbell.doctor.facts;

import java.util.List;
import java.util.Optional;

/**
 * One function of a PCI device.
 *
 * @param address such as {@code 0000:9a:00.0}
 * @param hostBridge the root bus that it hangs from, such as {@code pci0000:97}
 * @param bridges addresses of the bridges between root bus and function, outermost first
 * @param classCode 24 bits: class, subclass, programming interface
 * @param driver that has taken it; empty when none has
 * @param numaNode −1 when the firmware does not say
 * @param bars sizes of the base address registers, one of 64 bits counted once; 0 where unused
 * @param iommuGroup type of its IOMMU group, such as {@code identity}; empty without an IOMMU
 * @param config what of its config space could be read
 */
public record PciFunction(
    String address,
    String hostBridge,
    List<String> bridges,
    int vendor,
    int device,
    int classCode,
    Optional<String> driver,
    int numaNode,
    PciLink link,
    List<Long> bars,
    Optional<String> iommuGroup,
    PciConfig config) {

  static final int NVIDIA = 0x10de;
  static final int MELLANOX = 0x15b3;
  private static final int DISPLAY = 0x03;
  private static final int NETWORK = 0x02;
  private static final int CLASS_SHIFT = 16;

  public PciFunction {
    bridges = List.copyOf(bridges);
    bars = List.copyOf(bars);
  }

  public boolean nvidiaGpu() {
    return vendor == NVIDIA && classCode >> CLASS_SHIFT == DISPLAY;
  }

  public boolean mellanoxNic() {
    return vendor == MELLANOX && classCode >> CLASS_SHIFT == NETWORK;
  }

  /** Virtual functions of ConnectX have device numbers of their own. */
  public boolean mellanoxVirtualFunction() {
    return mellanoxNic()
        && switch (device) {
          case 0x1014, 0x1016, 0x1018, 0x101a, 0x101c, 0x101e -> true;
          default -> false;
        };
  }
}
