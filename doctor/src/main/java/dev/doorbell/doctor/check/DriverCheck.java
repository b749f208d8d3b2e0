package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.NvidiaDriver;
import dev.doorbell.doctor.facts.PciFunction;
import java.util.List;
import java.util.Optional;

/** NVIDIA's kernel driver, and which flavour of it. */
final class DriverCheck implements Check {
  private static final Code OPEN = Code.of("DB-DRIVER-01");
  private static final Code PROPRIETARY = Code.of("DB-DRIVER-02");
  private static final Code NOUVEAU = Code.of("DB-DRIVER-03");
  private static final Code NO_DRIVER = Code.of("DB-DRIVER-04");
  private static final Code NO_GPU = Code.of("DB-DRIVER-05");
  private static final Code NO_NODE = Code.of("DB-DRIVER-06");
  private static final Code MISMATCH = Code.of("DB-DRIVER-07");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    List<PciFunction> gpus = machine.facts().gpus();
    if (gpus.isEmpty()) {
      found.add(NO_GPU, "", "none on the PCI bus");
      return;
    }
    List<PciFunction> nouveau =
        gpus.stream().filter(gpu -> gpu.driver().equals(Optional.of("nouveau"))).toList();
    nouveau.forEach(gpu -> found.add(NOUVEAU, gpu.address(), "driven by nouveau"));
    NvidiaDriver driver = machine.facts().driver();
    if (!driver.loaded()) {
      if (nouveau.isEmpty()) {
        found.add(NO_DRIVER, gpus.getFirst().address(), "NVIDIA's driver is not loaded");
      }
      return;
    }
    String version = driver.version().orElseThrow();
    found.add(
        driver.open() ? OPEN : PROPRIETARY,
        "",
        "NVIDIA driver %s, %s kernel modules, %d GPU%s"
            .formatted(
                version,
                driver.open() ? "open" : "proprietary",
                gpus.size(),
                gpus.size() == 1 ? "" : "s"));
    if (!driver.controlNode()) {
      found.add(NO_NODE, "/dev/nvidiactl", "not there for this process");
    }
    driver
        .library()
        .filter(library -> !library.equals(version))
        .ifPresent(
            library ->
                found.add(
                    MISMATCH, "", "kernel module %s, libcuda %s".formatted(version, library)));
  }
}
