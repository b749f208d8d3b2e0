package dev.doorbell.experiments.doctor;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Options of NVIDIA's module that let a GPU map a NIC's doorbell page. */
final class RegistryKeyCheck implements Check {
  private static final String LIBGDSYNC = "gpudirect/libgdsync: README";

  static final Code SET =
      Code.pass(
          "DB-NVREG-01",
          "the GPU may map a NIC's doorbell page",
          "/proc/driver/nvidia/params has PeerMappingOverride=1 among RegistryDwords.",
          "cuMemHostRegister(IOMEMORY) of a UAR page works for every user: the GPU can ring.",
          LIBGDSYNC);
  static final Code NO_OVERRIDE =
      Code.warn(
          "DB-NVREG-02",
          "PeerMappingOverride is not set",
          "/proc/driver/nvidia/params has no PeerMappingOverride=1 among RegistryDwords.",
          "cudaHostRegister(IoMemory) of a UAR page may fail with error 800 (not permitted): the GPU"
              + " cannot ring, and libraries fall back to a CPU that rings for it. Some drivers and"
              + " root work without.",
          "echo 'options nvidia NVreg_EnableStreamMemOPs=1"
              + " NVreg_RegistryDwords=\"PeerMappingOverride=1;\"' > /etc/modprobe.d/nvidia.conf;"
              + " update-initramfs -u; reboot",
          "https://github.com/deepseek-ai/DeepEP/issues/163",
          "https://github.com/deepseek-ai/DeepEP/issues/484",
          "https://github.com/NVIDIA/open-gpu-kernel-modules/discussions/1053",
          LIBGDSYNC);
  static final Code NO_MEMOPS =
      Code.info(
          "DB-NVREG-03",
          "EnableStreamMemOPs is not set",
          "/proc/driver/nvidia/params has EnableStreamMemOPs: 0.",
          "Older drivers need it for stream memory operations (GPUDirect Async by streams); kernels"
              + " that ring themselves do not use them.",
          "set NVreg_EnableStreamMemOPs=1 as DB-NVREG-02 shows, if a library asks for it",
          "https://github.com/NVIDIA/nvshmem/issues/34",
          LIBGDSYNC);

  @Override
  public List<Code> codes() {
    return List.of(SET, NO_OVERRIDE, NO_MEMOPS);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    if (!patient.pair()) {
      return;
    }
    Map<String, String> parameters = patient.facts().driver().parameters();
    String dwords = parameters.getOrDefault("RegistryDwords", "");
    boolean override = dwords.replace(" ", "").contains("PeerMappingOverride=1");
    found.accept(
        override
            ? new Finding(SET, "", "PeerMappingOverride=1")
            : new Finding(NO_OVERRIDE, "", "RegistryDwords has no PeerMappingOverride=1"));
    if (parameters.getOrDefault("EnableStreamMemOPs", "0").equals("0")) {
      found.accept(new Finding(NO_MEMOPS, "", "EnableStreamMemOPs is 0"));
    }
  }
}
