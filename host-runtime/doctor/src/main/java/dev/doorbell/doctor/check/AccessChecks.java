package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.facts.HostFacts;
import dev.doorbell.doctor.facts.NvidiaDriver;
import dev.doorbell.doctor.facts.PciFunction;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The ways by which an HCA and a GPU reach each other: drivers, modules, locked memory. */
final class AccessChecks {
  private static final long KIBIBYTE = 1024;
  private static final long TINY_LIMIT = 16 << 20;

  private AccessChecks() {}

  /** NVIDIA's kernel driver, and which flavour of it. */
  static void driver(CheckedMachine machine, CheckResults found) {
    List<PciFunction> gpus = machine.facts().gpus();
    if (gpus.isEmpty()) {
      found.add("DB-DRIVER-05", "", "none on the PCI bus");
      return;
    }
    List<PciFunction> nouveau =
        gpus.stream().filter(gpu -> gpu.driver().equals(Optional.of("nouveau"))).toList();
    nouveau.forEach(gpu -> found.add("DB-DRIVER-03", gpu.address(), "driven by nouveau"));
    NvidiaDriver driver = machine.facts().driver();
    if (!driver.loaded()) {
      if (nouveau.isEmpty()) {
        found.add("DB-DRIVER-04", gpus.getFirst().address(), "NVIDIA's driver is not loaded");
      }
      return;
    }
    String version = driver.version().orElseThrow();
    found.add(
        driver.open() ? "DB-DRIVER-01" : "DB-DRIVER-02",
        "",
        "NVIDIA driver %s, %s kernel modules, %d GPU%s"
            .formatted(
                version,
                driver.open() ? "open" : "proprietary",
                gpus.size(),
                gpus.size() == 1 ? "" : "s"));
    if (!driver.controlNode()) {
      found.add("DB-DRIVER-06", "/dev/nvidiactl", "not there for this process");
    }
    driver
        .library()
        .filter(library -> !library.equals(version))
        .ifPresent(
            library ->
                found.add(
                    "DB-DRIVER-07",
                    "",
                    "kernel module %s, libcuda %s".formatted(version, library)));
  }

  /** nvidia-peermem: the older way for an HCA to reach GPU memory. */
  static void peerMemory(CheckedMachine machine, CheckResults found) {
    if (!machine.pair()) {
      found.add(
          "DB-PEERMEM-07",
          "",
          "%s, %s"
              .formatted(
                  machine.driver() ? "a GPU" : "no usable GPU",
                  machine.hca() ? "an HCA" : "no HCA"));
      return;
    }
    if (machine.facts().host().loaded("nv_peer_mem")) {
      found.add("DB-PEERMEM-06", "", "nv_peer_mem is loaded");
    }
    if (machine.oldPathPeerMemory()) {
      found.add("DB-PEERMEM-01", "", "a peer memory client of NVIDIA's is registered");
    } else if (machine.newPathPeerMemory()) {
      found.add("DB-PEERMEM-05", "", "nvidia_peermem is registered; memory_peers does not show it");
    } else {
      boolean loaded = machine.facts().host().loaded("nvidia_peermem");
      if (loaded) {
        found.add(
            "DB-PEERMEM-02",
            "",
            "nvidia_peermem is loaded, but has not registered with the RDMA core");
      }
      if (!machine.dmaBuf()) {
        found.add("DB-PEERMEM-04", "", "no way for an HCA to register GPU memory");
      } else if (!loaded) {
        found.add("DB-PEERMEM-03", "", "nvidia_peermem is not loaded; dma-buf can be used");
      }
    }
  }

  /** dma-buf: the newer way for an HCA to reach GPU memory, condition by condition. */
  static void dmaBuf(CheckedMachine machine, CheckResults found) {
    if (!machine.pair()) {
      return;
    }
    Facts facts = machine.facts();
    String kernel = facts.host().kernel();
    if (!facts.host().kernelAtLeast(5, 12)) {
      found.add("DB-DMABUF-02", "", "kernel " + kernel);
    }
    if (!facts.driver().open()) {
      found.add("DB-DMABUF-03", "", "proprietary kernel modules");
    }
    if (facts
        .libraries()
        .verbs()
        .filter(release -> release >= CheckedMachine.DMABUF_RDMA_CORE)
        .isEmpty()) {
      found.add(
          "DB-DMABUF-04",
          "",
          facts.libraries().verbs().map(release -> "rdma-core " + release).orElse("no libibverbs"));
    }
    if (machine.dmaBuf()) {
      found.add(
          "DB-DMABUF-01",
          "",
          "kernel %s, open modules, rdma-core %d"
              .formatted(kernel, facts.libraries().verbs().orElseThrow()));
    }
    boolean told = !facts.host().kernelOptions().isEmpty();
    if (told && !"y".equals(facts.host().kernelOptions().get("CONFIG_PCI_P2PDMA"))) {
      found.add("DB-DMABUF-05", "/boot/config-" + kernel, "CONFIG_PCI_P2PDMA is not set");
    }
  }

  /** Options of NVIDIA's module that let a GPU map a NIC's doorbell page. */
  static void registryKeys(CheckedMachine machine, CheckResults found) {
    if (!machine.pair()) {
      return;
    }
    Map<String, String> parameters = machine.facts().driver().parameters();
    String dwords = parameters.getOrDefault("RegistryDwords", "");
    boolean override = dwords.replace(" ", "").contains("PeerMappingOverride=1");
    if (override) {
      found.add("DB-NVREG-01", "", "PeerMappingOverride=1");
    } else {
      found.add("DB-NVREG-02", "", "RegistryDwords has no PeerMappingOverride=1");
    }
    if (parameters.getOrDefault("EnableStreamMemOPs", "0").equals("0")) {
      found.add("DB-NVREG-03", "", "EnableStreamMemOPs is 0");
    }
  }

  /** Memory that this process may lock: every registered byte counts. */
  static void lockedMemory(CheckedMachine machine, CheckResults found) {
    if (machine.facts().rdmaDevices().isEmpty()) {
      return;
    }
    HostFacts host = machine.facts().host();
    long limit = host.lockedBytes();
    if (limit < 0 || host.mayLockAll()) {
      found.add("DB-MEMLOCK-01", "", limit < 0 ? "unlimited" : "CAP_IPC_LOCK lifts the limit");
    } else {
      found.add(
          limit < TINY_LIMIT ? "DB-MEMLOCK-02" : "DB-MEMLOCK-03",
          host.container() ? "container" : "",
          "%d KiB".formatted(limit / KIBIBYTE));
    }
  }
}
