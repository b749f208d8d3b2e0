package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.PciConfig;
import dev.doorbell.experiments.doctor.facts.PciFunction;
import java.util.List;
import java.util.function.Consumer;

/** Payload size, read size, tags and relaxed ordering of GPUs and NICs. */
final class PciSettingsCheck implements Check {
  private static final String WHERE =
      "Device Control and Device Capabilities of the PCI Express capability, from config.";
  private static final int SMALLEST_PAYLOAD = 128;
  private static final int FEW = 512;
  private static final int MOST = 4096;

  static final Code GOOD =
      Code.pass(
          "DB-PCIE-01",
          "payload, read size, tags and ordering as they should be",
          WHERE,
          "Neither TLP headers nor tags bound the bandwidth before the link does.");
  static final Code PAYLOAD =
      Code.warn(
          "DB-PCIE-02",
          "MaxPayloadSize is 128 bytes, and could be more",
          WHERE,
          "84 % of the link is payload at most, against 91 % with 256 bytes.",
          "boot with pci=pcie_bus_safe or set it in the firmware; one device that can do no more"
              + " holds back all below its port");
  static final Code READS =
      Code.warn(
          "DB-PCIE-03",
          "MaxReadRequestSize of a NIC is below 512 bytes",
          WHERE,
          "A pull is cut into many reads, and tags run out: bandwidth is tags × size / round trip.",
          "setpci -s ADDRESS CAP_EXP+8.w=5000:7000 sets 4096 bytes until the next boot");
  static final Code SMALL_READS =
      Code.info(
          "DB-PCIE-04",
          "MaxReadRequestSize of a NIC is below 4096 bytes",
          WHERE,
          "512 bytes is what NICs start with. On a long way with few tags 4096 lets a pull go faster.",
          "setpci -s ADDRESS CAP_EXP+8.w=5000:7000, and measure");
  static final Code STRICT =
      Code.warn(
          "DB-PCIE-05",
          "relaxed ordering is switched off",
          WHERE,
          "Memory regions that ask for relaxed ordering do not get it: 84 instead of 400 Gb/s in"
              + " virtual machines, 150 instead of 200 Gb/s on EPYC.",
          "setpci -s ADDRESS CAP_EXP+8.w=0010:0010; for a NIC see also PCI_WR_ORDERING in mlxconfig;"
              + " some CPUs' root ports are known to break it, and the kernel then clears the bit",
          "https://github.com/NVIDIA/nccl/issues/1731",
          "https://github.com/openucx/ucx/pull/8062");
  static final Code TAGS =
      Code.warn(
          "DB-PCIE-06",
          "extended tags are off",
          WHERE,
          "32 reads at most are in flight instead of 256: at 512 bytes and 1.4 µs that is 94 Gb/s.",
          "set ExtTag in the firmware, or: setpci -s ADDRESS CAP_EXP+8.w=0100:0100");
  static final Code TEN_BIT =
      Code.info(
          "DB-PCIE-07",
          "10-bit tags are off",
          "Device Control 2 and Device Capabilities 2 of the PCI Express capability, from config.",
          "256 reads at most are in flight instead of 768; every port on the way must be able to"
              + " complete them.",
          "");
  static final Code UNREADABLE =
      Code.absent(
          "DB-PCIE-08",
          "config space cannot be read",
          "config gives 64 bytes: the kernel shows the rest to CAP_SYS_ADMIN alone.",
          "Payload size, read size, tags and ordering cannot be told.",
          "run it once as root: sudo ./doorbell doctor");

  @Override
  public List<Code> codes() {
    return List.of(GOOD, PAYLOAD, READS, SMALL_READS, STRICT, TAGS, TEN_BIT, UNREADABLE);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    List<PciFunction> ends = patient.ends().stream().distinct().toList();
    if (ends.isEmpty()) {
      return;
    }
    if (ends.stream().anyMatch(end -> end.config().express().isEmpty())) {
      found.accept(new Finding(UNREADABLE, "", "config space is out of reach for this user"));
      return;
    }
    boolean good = true;
    for (PciFunction end : ends) {
      good &= one(end, end.config().express().orElseThrow(), found);
    }
    if (good) {
      PciConfig.Express first = ends.getFirst().config().express().orElseThrow();
      found.accept(
          new Finding(
              GOOD, "", "MaxPayload %d, relaxed ordering on".formatted(first.maxPayload())));
    }
  }

  private static boolean one(PciFunction end, PciConfig.Express express, Consumer<Finding> found) {
    boolean good = true;
    String at = end.address();
    if (express.maxPayload() == SMALLEST_PAYLOAD && express.payloadSupported() > SMALLEST_PAYLOAD) {
      found.accept(
          new Finding(PAYLOAD, at, "MaxPayload 128 of %d".formatted(express.payloadSupported())));
      good = false;
    }
    if (!end.nvidiaGpu() && express.maxReadRequest() < MOST) {
      boolean few = express.maxReadRequest() < FEW;
      found.accept(
          new Finding(
              few ? READS : SMALL_READS, at, "MaxReadReq %d".formatted(express.maxReadRequest())));
      good &= !few;
    }
    if (!express.relaxedOrdering()) {
      found.accept(new Finding(STRICT, at, "RlxdOrd-"));
      good = false;
    }
    if (express.extendedTagsSupported() && !express.extendedTags()) {
      found.accept(new Finding(TAGS, at, "ExtTag-"));
      good = false;
    }
    if (express.tenBitTagsSupported() && !express.tenBitTags()) {
      found.accept(new Finding(TEN_BIT, at, "10BitTagReq-"));
    }
    return good;
  }
}
