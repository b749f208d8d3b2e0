package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.NvidiaDriver;
import dev.doorbell.experiments.doctor.facts.PciFunction;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** NVIDIA's kernel driver, and which flavour of it. */
final class DriverCheck implements Check {
  private static final String MODULES =
      "https://github.com/NVIDIA/open-gpu-kernel-modules (README)";

  static final Code OPEN =
      Code.pass(
          "DB-DRIVER-01",
          "NVIDIA driver with open kernel modules",
          "/proc/driver/nvidia/version names the driver and says \"Open Kernel Module\".",
          "GPU memory can be exported as dma-buf, so that an HCA can register it without peermem.",
          MODULES);
  static final Code PROPRIETARY =
      Code.info(
          "DB-DRIVER-02",
          "NVIDIA driver with proprietary kernel modules",
          "/proc/driver/nvidia/version names the driver and does not say \"Open Kernel Module\".",
          "The proprietary modules do not export GPU memory as dma-buf; GPUDirect RDMA then needs"
              + " nvidia-peermem.",
          "install the open flavour of the driver (nvidia-open), if the GPU is Turing or newer",
          "https://github.com/microsoft/mscclpp/issues/657",
          MODULES);
  static final Code NOUVEAU =
      Code.fail(
          "DB-DRIVER-03",
          "nouveau drives the GPU",
          "The driver link of the GPU's PCI function points to nouveau.",
          "CUDA does not see the GPU, and NVIDIA's driver cannot take it.",
          "blacklist nouveau (\"blacklist nouveau\" and \"options nouveau modeset=0\" below"
              + " /etc/modprobe.d), rebuild the initramfs, reboot, install NVIDIA's driver");
  static final Code NO_DRIVER =
      Code.fail(
          "DB-DRIVER-04",
          "an NVIDIA GPU without a driver",
          "A PCI function of NVIDIA's with class 03 is there; /proc/driver/nvidia/version is not.",
          "CUDA does not see the GPU.",
          "install NVIDIA's driver and load it: modprobe nvidia");
  static final Code NO_GPU =
      Code.absent(
          "DB-DRIVER-05",
          "no NVIDIA GPU",
          "No PCI function has vendor 10de and class 03.",
          "Kernels run on the PTX VM; nothing can be said about GPUDirect RDMA.",
          "");
  static final Code NO_NODE =
      Code.fail(
          "DB-DRIVER-06",
          "the GPU's device nodes are missing",
          "The driver is loaded; /dev/nvidiactl is not there for this process.",
          "CUDA finds no device: in a container the GPU was not handed in.",
          "start the container with --gpus all (NVIDIA container toolkit), or run nvidia-modprobe");
  static final Code MISMATCH =
      Code.fail(
          "DB-DRIVER-07",
          "kernel driver and CUDA library are of different versions",
          "The newest libcuda.so.VERSION in the usual folders differs from"
              + " /proc/driver/nvidia/version.",
          "cuInit fails with \"system has unsupported display driver / cuda driver combination\" or"
              + " \"driver/library version mismatch\".",
          "reload the kernel module (rmmod nvidia_uvm nvidia_peermem nvidia_drm nvidia_modeset nvidia;"
              + " modprobe nvidia) or reboot; in a container update the toolkit");

  @Override
  public List<Code> codes() {
    return List.of(OPEN, PROPRIETARY, NOUVEAU, NO_DRIVER, NO_GPU, NO_NODE, MISMATCH);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    List<PciFunction> gpus = patient.facts().gpus();
    if (gpus.isEmpty()) {
      found.accept(new Finding(NO_GPU, "", "none on the PCI bus"));
      return;
    }
    List<PciFunction> nouveau =
        gpus.stream().filter(gpu -> gpu.driver().equals(Optional.of("nouveau"))).toList();
    nouveau.forEach(gpu -> found.accept(new Finding(NOUVEAU, gpu.address(), "driven by nouveau")));
    NvidiaDriver driver = patient.facts().driver();
    if (!driver.loaded()) {
      if (nouveau.isEmpty()) {
        found.accept(
            new Finding(NO_DRIVER, gpus.getFirst().address(), "NVIDIA's driver is not loaded"));
      }
      return;
    }
    String version = driver.version().orElseThrow();
    found.accept(
        new Finding(
            driver.open() ? OPEN : PROPRIETARY,
            "",
            "NVIDIA driver %s, %s kernel modules, %d GPU%s"
                .formatted(
                    version,
                    driver.open() ? "open" : "proprietary",
                    gpus.size(),
                    gpus.size() == 1 ? "" : "s")));
    if (!driver.controlNode()) {
      found.accept(new Finding(NO_NODE, "/dev/nvidiactl", "not there for this process"));
    }
    driver
        .library()
        .filter(library -> !library.equals(version))
        .ifPresent(
            library ->
                found.accept(
                    new Finding(
                        MISMATCH, "", "kernel module %s, libcuda %s".formatted(version, library))));
  }
}
