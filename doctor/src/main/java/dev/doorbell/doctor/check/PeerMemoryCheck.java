package dev.doorbell.doctor.check;

import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;

/** nvidia-peermem: the older way for an HCA to reach GPU memory. */
final class PeerMemoryCheck implements Check {
  private static final Code REGISTERED = Code.of("DB-PEERMEM-01");
  private static final Code NOT_REGISTERED = Code.of("DB-PEERMEM-02");
  private static final Code NOT_NEEDED = Code.of("DB-PEERMEM-03");
  private static final Code NO_WAY = Code.of("DB-PEERMEM-04");
  private static final Code NEW_PATH = Code.of("DB-PEERMEM-05");
  private static final Code OLD_MODULE = Code.of("DB-PEERMEM-06");
  private static final Code NOTHING = Code.of("DB-PEERMEM-07");

  @Override
  public void examine(CheckedMachine machine, CheckResults found) {
    if (!machine.pair()) {
      found.add(
          NOTHING,
          "",
          "%s, %s"
              .formatted(
                  machine.driver() ? "a GPU" : "no usable GPU",
                  machine.hca() ? "an HCA" : "no HCA"));
      return;
    }
    if (machine.facts().host().loaded("nv_peer_mem")) {
      found.add(OLD_MODULE, "", "nv_peer_mem is loaded");
    }
    if (machine.oldPathPeerMemory()) {
      found.add(REGISTERED, "", "a peer memory client of NVIDIA's is registered");
    } else if (machine.newPathPeerMemory()) {
      found.add(NEW_PATH, "", "nvidia_peermem is registered; memory_peers does not show it");
    } else {
      boolean loaded = machine.facts().host().loaded("nvidia_peermem");
      if (loaded) {
        found.add(
            NOT_REGISTERED,
            "",
            "nvidia_peermem is loaded, but has not registered with the RDMA core");
      }
      if (!machine.dmaBuf()) {
        found.add(NO_WAY, "", "no way for an HCA to register GPU memory");
      } else if (!loaded) {
        found.add(NOT_NEEDED, "", "nvidia_peermem is not loaded; dma-buf can be used");
      }
    }
  }
}
