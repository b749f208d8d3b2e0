package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.PciFunction;
import java.util.List;
import java.util.function.Consumer;

/** BAR1 of the GPU, the window through which an HCA reaches its memory. */
final class BarCheck implements Check {
  private static final int BAR1 = 1;
  private static final long MEBIBYTE = 1 << 20;
  private static final long ENOUGH = 1024 * MEBIBYTE;

  static final Code LARGE =
      Code.pass(
          "DB-BAR-01",
          "BAR1 is large",
          "The second line of the GPU's resource file: 1 GiB or more.",
          "Buffers of useful sizes can be registered. What is registered must fit BAR1 in all.");
  static final Code SMALL =
      Code.warn(
          "DB-BAR-02",
          "BAR1 is small",
          "The second line of the GPU's resource file: below 1 GiB; 256 MiB without resizable BAR.",
          "Registration of GPU memory fails once BAR1 is full, a part of which the driver keeps.",
          "switch on \"Above 4G decoding\" and \"Resizable BAR\" in the firmware; on data-centre GPUs"
              + " see nvidia-smi -q -d MEMORY and the display mode (displaymodeselector)");
  static final Code NONE =
      Code.fail(
          "DB-BAR-03",
          "BAR1 has no address",
          "The second line of the GPU's resource file is empty: the firmware assigned nothing.",
          "The driver does not start (\"BAR1 is 0M @ 0x0\" in dmesg), and nothing can reach the GPU's"
              + " memory.",
          "switch on \"Above 4G decoding\" in the firmware, or boot with pci=realloc");

  @Override
  public List<Code> codes() {
    return List.of(LARGE, SMALL, NONE);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    List<PciFunction> gpus = patient.facts().gpus();
    long least = Long.MAX_VALUE;
    for (PciFunction gpu : gpus) {
      long size = gpu.bars().get(BAR1);
      if (size == 0) {
        found.accept(new Finding(NONE, gpu.address(), "BAR1 is unassigned"));
      } else if (size < ENOUGH) {
        found.accept(
            new Finding(SMALL, gpu.address(), "BAR1 is %d MiB".formatted(size / MEBIBYTE)));
      }
      least = Math.min(least, size);
    }
    if (!gpus.isEmpty() && least >= ENOUGH) {
      found.accept(new Finding(LARGE, "", "%d GiB".formatted(least / ENOUGH)));
    }
  }
}
