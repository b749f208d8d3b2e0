package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Relaxed ordering of memory regions, where libraries are configured not to use it. */
final class OrderingCheck implements Check {
  private static final Set<String> NO = Set.of("0", "n", "no", "off", "false");

  private static final Code SWITCHED_OFF = Code.of("DB-ORDER-01");
  private static final Code FORCED = Code.of("DB-ORDER-02");

  private static final List<String> VARIABLES =
      List.of("NCCL_IB_PCI_RELAXED_ORDERING", "UCX_IB_PCI_RELAXED_ORDERING");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    boolean needed =
        machine.virtualMachine() || machine.facts().host().cpuVendor().equals("AuthenticAMD");
    for (String name : VARIABLES) {
      String value = machine.facts().variable(name).orElse("").toLowerCase(Locale.ROOT);
      if (NO.contains(value)) {
        if (needed && machine.hca()) {
          found.add(SWITCHED_OFF, name, "is " + value);
        }
      } else if (Set.of("1", "y", "yes", "on", "true").contains(value)) {
        found.add(FORCED, name, "is " + value);
      }
    }
  }
}
