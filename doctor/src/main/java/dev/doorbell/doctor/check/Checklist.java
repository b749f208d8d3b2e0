package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResult;
import dev.doorbell.doctor.catalogue.CheckResults;
import java.util.List;

/** All checks, from what a machine is to what it has registered. */
public final class Checklist {
  private static final List<Check> CHECKS =
      List.of(
          new DriverCheck(),
          new RdmaCheck(),
          new PeerMemoryCheck(),
          new DmaBufCheck(),
          new RegistryKeyCheck(),
          new TopologyCheck(),
          new AcsCheck(),
          new IommuCheck(),
          new LinkCheck(),
          new PciSettingsCheck(),
          new BarCheck(),
          new LockedMemoryCheck(),
          new PortCheck(),
          new GidCheck(),
          new MtuCheck(),
          new OrderingCheck(),
          new VirtualMachineCheck(),
          new VariableCheck());

  private Checklist() {}

  /** Runs every check, in the order of the list. */
  public static List<CheckResult> examine(CheckedMachine machine) {
    CheckResults found = new CheckResults();
    CHECKS.forEach(check -> check.examine(machine, found));
    return found.list();
  }
}
