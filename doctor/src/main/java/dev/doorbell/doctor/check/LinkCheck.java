package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.facts.PciLink;
import dev.doorbell.doctor.facts.RdmaDevice;
import dev.doorbell.doctor.facts.RdmaPort;
import java.util.Optional;

/** PCIe links of GPUs and NICs: speed, width, and whether the port can be fed. */
final class LinkCheck implements Check {
  private static final Code FULL = Code.of("DB-LINK-01");
  private static final Code SLOW = Code.of("DB-LINK-02");
  private static final Code NARROW = Code.of("DB-LINK-03");
  private static final Code IDLE = Code.of("DB-LINK-04");
  private static final Code UNKNOWN = Code.of("DB-LINK-05");
  private static final Code SLOT = Code.of("DB-LINK-06");
  private static final Code STARVED = Code.of("DB-LINK-07");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    boolean full = true;
    boolean any = false;
    for (PciFunction end : machine.ends().stream().distinct().toList()) {
      any = true;
      full &= one(machine, end, found);
    }
    if (any && full) {
      found.add(FULL, "", "every GPU and NIC at full speed and width");
    }
  }

  private static boolean one(CheckedMachine machine, PciFunction end, CheckResults found) {
    PciLink link = end.link();
    if (!link.known()) {
      found.add(UNKNOWN, end.address(), "no link speed");
      return false;
    }
    PciLink above = above(machine, end).map(PciFunction::link).filter(PciLink::known).orElse(link);
    double speed = Math.min(link.maxSpeed(), above.maxSpeed());
    int width = Math.min(link.maxWidth(), above.maxWidth());
    boolean full = true;
    if (speed < link.maxSpeed() || width < link.maxWidth()) {
      found.add(
          SLOT,
          end.address(),
          "card %s, slot %s"
              .formatted(
                  text(link.maxSpeed(), link.maxWidth()),
                  text(above.maxSpeed(), above.maxWidth())));
    }
    if (link.speed() < speed) {
      found.add(
          end.nvidiaGpu() ? IDLE : SLOW,
          end.address(),
          "%s of %s".formatted(generation(link.speed()), generation(speed)));
      full = false;
    }
    if (link.width() < width) {
      found.add(NARROW, end.address(), "x%d of x%d".formatted(link.width(), width));
      full = false;
    }
    double ports = rate(machine, end);
    if (ports > link.gigabits()) {
      found.add(
          STARVED,
          end.address(),
          "PCIe %.0f Gb/s, ports %.0f Gb/s".formatted(link.gigabits(), ports));
    }
    return full;
  }

  private static Optional<PciFunction> above(CheckedMachine machine, PciFunction end) {
    return end.bridges().isEmpty()
        ? Optional.empty()
        : machine.facts().function(end.bridges().getLast());
  }

  /** Sub-functions of a NIC show its ports once more. */
  private static double rate(CheckedMachine machine, PciFunction end) {
    return machine.facts().hcas().stream()
        .filter(hca -> hca.pciAddress().equals(Optional.of(end.address())))
        .mapToDouble(LinkCheck::rate)
        .max()
        .orElse(0);
  }

  private static double rate(RdmaDevice hca) {
    return hca.ports().stream().filter(RdmaPort::active).mapToDouble(RdmaPort::gigabits).sum();
  }

  private static String text(double speed, int width) {
    return "%s x%d".formatted(generation(speed), width);
  }

  /** Gen1 is 2.5 GT/s, Gen2 5, Gen3 8, and each one after doubles it. */
  private static String generation(double speed) {
    double[] speeds = {2.5, 5, 8, 16, 32, 64, 128};
    int generation = 1;
    while (generation < speeds.length && speeds[generation] <= speed) {
      generation++;
    }
    return "Gen" + generation;
  }
}
