package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.topology.PciDistance;

/** Facts that a virtual machine hides. */
final class VirtualMachineCheck implements Check {
  private static final Code VIRTUAL = Code.of("DB-VM-01");
  private static final Code FLAT = Code.of("DB-VM-02");
  private static final Code NO_ATS = Code.of("DB-VM-03");
  private static final Code ATS = Code.of("DB-VM-04");
  private static final Code FUNCTION = Code.of("DB-VM-05");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    machine.facts().nics().stream()
        .filter(PciFunction::mellanoxVirtualFunction)
        .forEach(nic -> found.add(FUNCTION, nic.address(), "a virtual function"));
    if (!machine.virtualMachine()) {
      return;
    }
    String product = machine.facts().host().product();
    found.add(VIRTUAL, "", product.isEmpty() ? "hypervisor flag" : product);
    if (!machine.pair()) {
      return;
    }
    boolean near =
        machine.topology().paths().stream()
            .anyMatch(path -> path.distance().compareTo(PciDistance.PHB) < 0);
    if (!near && machine.facts().variable("NCCL_TOPO_FILE").isEmpty()) {
      found.add(FLAT, "", "no GPU shares a bridge with an HCA");
    }
    for (PciFunction nic : machine.facts().nics()) {
      nic.config()
          .ats()
          .ifPresent(on -> found.add(on ? ATS : NO_ATS, nic.address(), on ? "ATS on" : "ATS off"));
    }
  }
}
