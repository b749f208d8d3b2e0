package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.PciFunction;
import dev.doorbell.experiments.doctor.facts.PciLink;
import dev.doorbell.experiments.doctor.facts.RdmaDevice;
import dev.doorbell.experiments.doctor.facts.RdmaPort;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** PCIe links of GPUs and NICs: speed, width, and whether the port can be fed. */
final class LinkCheck implements Check {
  private static final String FILES =
      "current_link_speed, current_link_width and max_link_* of the PCI function, and of the port"
          + " above it.";

  static final Code FULL =
      Code.pass("DB-LINK-01", "links at full speed and width", FILES, "PCIe is what it can be.");
  static final Code SLOW =
      Code.warn(
          "DB-LINK-02",
          "a NIC's link runs below its speed",
          FILES,
          "Each generation less halves the bandwidth.",
          "reseat the card or the riser, look for a speed limit in the firmware, see dmesg for AER"
              + " errors; retrain: setpci -s PORT CAP_EXP+0x10.w=0020:0020");
  static final Code NARROW =
      Code.warn(
          "DB-LINK-03",
          "a link runs with fewer lanes than it has",
          FILES,
          "Bandwidth falls with the lanes: x8 is half of x16.",
          "reseat the card, check bifurcation in the firmware, clean the contacts; a slot may be wired"
              + " for fewer lanes than its length shows");
  static final Code IDLE =
      Code.info(
          "DB-LINK-04",
          "a GPU's link runs below its speed",
          FILES,
          "An idle GPU lowers its link on purpose; this says nothing about one at work.",
          "look again while a kernel runs: nvidia-smi -q -d PERFORMANCE, or this command");
  static final Code UNKNOWN =
      Code.absent(
          "DB-LINK-05",
          "link speed unknown",
          "The link files are missing or say Unknown, as in a virtual machine.",
          "Whether the link is at full speed cannot be told.",
          "ask on the host");
  static final Code SLOT =
      Code.info(
          "DB-LINK-06",
          "the slot is slower than the card",
          "max_link_speed or max_link_width of the port above is lower than the card's.",
          "The card can do more than this slot.",
          "move it to a faster slot, where there is one");
  static final Code STARVED =
      Code.warn(
          "DB-LINK-07",
          "PCIe is slower than the HCA's ports",
          "Gigabits per second of the link (after line encoding) against the sum of the rates of the"
              + " device's active ports.",
          "The ports cannot be filled, whatever posts.",
          "see DB-LINK-02, 03 and 06");

  @Override
  public List<Code> codes() {
    return List.of(FULL, SLOW, NARROW, IDLE, UNKNOWN, SLOT, STARVED);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    boolean full = true;
    boolean any = false;
    for (PciFunction end : patient.ends().stream().distinct().toList()) {
      any = true;
      full &= one(patient, end, found);
    }
    if (any && full) {
      found.accept(new Finding(FULL, "", "every GPU and NIC at full speed and width"));
    }
  }

  private static boolean one(Case patient, PciFunction end, Consumer<Finding> found) {
    PciLink link = end.link();
    if (!link.known()) {
      found.accept(new Finding(UNKNOWN, end.address(), "no link speed"));
      return false;
    }
    PciLink above = above(patient, end).map(PciFunction::link).filter(PciLink::known).orElse(link);
    double speed = Math.min(link.maxSpeed(), above.maxSpeed());
    int width = Math.min(link.maxWidth(), above.maxWidth());
    boolean full = true;
    if (speed < link.maxSpeed() || width < link.maxWidth()) {
      found.accept(
          new Finding(
              SLOT,
              end.address(),
              "card %s, slot %s"
                  .formatted(
                      text(link.maxSpeed(), link.maxWidth()),
                      text(above.maxSpeed(), above.maxWidth()))));
    }
    if (link.speed() < speed) {
      found.accept(
          new Finding(
              end.nvidiaGpu() ? IDLE : SLOW,
              end.address(),
              "%s of %s".formatted(generation(link.speed()), generation(speed))));
      full = false;
    }
    if (link.width() < width) {
      found.accept(new Finding(NARROW, end.address(), "x%d of x%d".formatted(link.width(), width)));
      full = false;
    }
    double ports = rate(patient, end);
    if (ports > link.gigabits()) {
      found.accept(
          new Finding(
              STARVED,
              end.address(),
              "PCIe %.0f Gb/s, ports %.0f Gb/s".formatted(link.gigabits(), ports)));
    }
    return full;
  }

  private static Optional<PciFunction> above(Case patient, PciFunction end) {
    return end.bridges().isEmpty()
        ? Optional.empty()
        : patient.facts().function(end.bridges().getLast());
  }

  /** Sub-functions of a NIC show its ports once more. */
  private static double rate(Case patient, PciFunction end) {
    return patient.facts().hcas().stream()
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
