package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.HostFacts;

/** How much memory this process may lock: every registered byte counts. */
final class LockedMemoryCheck implements Check {
  private static final long KIBIBYTE = 1024;
  private static final long TINY = 16 << 20;

  private static final Code UNLIMITED = Code.of("DB-MEMLOCK-01");
  private static final Code TOO_SMALL = Code.of("DB-MEMLOCK-02");
  private static final Code LIMITED = Code.of("DB-MEMLOCK-03");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    if (machine.facts().rdmaDevices().isEmpty()) {
      return;
    }
    HostFacts host = machine.facts().host();
    long limit = host.lockedBytes();
    if (limit < 0 || host.mayLockAll()) {
      found.add(UNLIMITED, "", limit < 0 ? "unlimited" : "CAP_IPC_LOCK lifts the limit");
    } else {
      found.add(
          limit < TINY ? TOO_SMALL : LIMITED,
          host.container() ? "container" : "",
          "%d KiB".formatted(limit / KIBIBYTE));
    }
  }
}
