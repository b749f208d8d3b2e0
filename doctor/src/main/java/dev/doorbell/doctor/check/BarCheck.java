package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.PciFunction;
import java.util.List;

/** BAR1 of the GPU, the window through which an HCA reaches its memory. */
final class BarCheck implements Check {
  private static final int BAR1 = 1;
  private static final long MEBIBYTE = 1 << 20;
  private static final long ENOUGH = 1024 * MEBIBYTE;

  private static final Code LARGE = Code.of("DB-BAR-01");
  private static final Code SMALL = Code.of("DB-BAR-02");
  private static final Code NONE = Code.of("DB-BAR-03");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    List<PciFunction> gpus = machine.facts().gpus();
    long least = Long.MAX_VALUE;
    for (PciFunction gpu : gpus) {
      long size = gpu.bars().get(BAR1);
      if (size == 0) {
        found.add(NONE, gpu.address(), "BAR1 is unassigned");
      } else if (size < ENOUGH) {
        found.add(SMALL, gpu.address(), "BAR1 is %d MiB".formatted(size / MEBIBYTE));
      }
      least = Math.min(least, size);
    }
    if (!gpus.isEmpty() && least >= ENOUGH) {
      found.add(LARGE, "", "%d GiB".formatted(least / ENOUGH));
    }
  }
}
