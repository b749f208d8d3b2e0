package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResult;
import dev.doorbell.doctor.catalogue.CheckResults;
import java.util.List;

/** All checks, from what a machine is to what it has registered. */
public final class Checklist {
  /** Compares a machine's facts with a rule and adds what it finds. */
  private interface Check {
    void examine(CheckedMachine machine, CheckResults found);
  }

  private static final List<Check> CHECKS =
      List.of(
          AccessChecks::driver,
          RdmaChecks::devices,
          AccessChecks::peerMemory,
          AccessChecks::dmaBuf,
          AccessChecks::registryKeys,
          PciChecks::topology,
          PciChecks::acs,
          PciChecks::iommu,
          PciChecks::links,
          PciChecks::settings,
          PciChecks::bars,
          AccessChecks::lockedMemory,
          RdmaChecks::ports,
          RdmaChecks::gids,
          RdmaChecks::mtu,
          PciChecks::virtualMachine,
          VariableChecks::variables);

  private Checklist() {}

  /** Runs every check, in the order of the list. */
  public static List<CheckResult> examine(CheckedMachine machine) {
    CheckResults found = new CheckResults();
    CHECKS.forEach(check -> check.examine(machine, found));
    return found.list();
  }
}
