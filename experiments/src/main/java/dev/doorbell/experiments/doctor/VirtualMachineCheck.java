package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.PciFunction;
import java.util.List;
import java.util.function.Consumer;

/** What a virtual machine hides. */
final class VirtualMachineCheck implements Check {
  private static final String THREAD = "https://github.com/NVIDIA/nccl/issues/1731";

  static final Code VIRTUAL =
      Code.info(
          "DB-VM-01",
          "a virtual machine",
          "The CPU's flags in /proc/cpuinfo have hypervisor.",
          "What the PCI tree, link speeds and NUMA nodes say is the hypervisor's word.",
          "",
          THREAD);
  static final Code FLAT =
      Code.warn(
          "DB-VM-02",
          "the PCI tree is the hypervisor's, and NCCL has no topology file",
          "In a virtual machine no GPU shares a bridge with an HCA, and NCCL_TOPO_FILE is not set.",
          "NCCL takes every pair for PHB or worse and does not use GPUDirect RDMA by itself.",
          "set NCCL_TOPO_FILE to the topology that the provider publishes for this machine type",
          "NCCL user guide, NCCL_TOPO_FILE",
          THREAD);
  static final Code NO_ATS =
      Code.warn(
          "DB-VM-03",
          "ATS of the NIC is off",
          "In a virtual machine; the ATS capability of the NIC's config space has its enable bit"
              + " clear.",
          "ACS must stay on in a virtual machine, so without translated requests every peer-to-peer"
              + " access goes up to the root complex and back.",
          "on the host: mlxconfig -d DEVICE set ATS_ENABLED=true, and reset the firmware",
          "https://github.com/NVIDIA/nccl/issues/1205",
          THREAD);
  static final Code ATS =
      Code.pass(
          "DB-VM-04",
          "ATS of the NIC is on",
          "In a virtual machine; the ATS capability of the NIC's config space has its enable bit set.",
          "Translated requests go straight from switch to GPU.",
          THREAD);
  static final Code FUNCTION =
      Code.info(
          "DB-VM-05",
          "a virtual function",
          "The device number of the NIC is that of a ConnectX virtual function.",
          "Fewer queue pairs, no on-chip memory on some, and ordering that differs from bare metal:"
              + " register payload with relaxed ordering.",
          "",
          THREAD);

  @Override
  public List<Code> codes() {
    return List.of(VIRTUAL, FLAT, NO_ATS, ATS, FUNCTION);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    patient.facts().nics().stream()
        .filter(PciFunction::mellanoxVirtualFunction)
        .forEach(nic -> found.accept(new Finding(FUNCTION, nic.address(), "a virtual function")));
    if (!patient.virtualMachine()) {
      return;
    }
    String product = patient.facts().host().product();
    found.accept(new Finding(VIRTUAL, "", product.isEmpty() ? "hypervisor flag" : product));
    if (!patient.pair()) {
      return;
    }
    boolean near =
        patient.topology().ways().stream()
            .anyMatch(way -> way.distance().compareTo(Distance.PHB) < 0);
    if (!near && patient.facts().variable("NCCL_TOPO_FILE").isEmpty()) {
      found.accept(new Finding(FLAT, "", "no GPU shares a bridge with an HCA"));
    }
    for (PciFunction nic : patient.facts().nics()) {
      nic.config()
          .ats()
          .ifPresent(
              on ->
                  found.accept(
                      new Finding(on ? ATS : NO_ATS, nic.address(), on ? "ATS on" : "ATS off")));
    }
  }
}
