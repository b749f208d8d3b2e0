package dev.doorbell.doctor.facts;

import java.util.List;

/**
 * Signs that NVIDIA's driver has offered GPU memory to the RDMA core.
 *
 * @param clients names below {@code /sys/kernel/mm/memory_peers} that have a version
 * @param folder whether {@code /sys/kernel/mm/memory_peers} is there at all
 * @param moduleVersion whether {@code /sys/module/nvidia_peermem/version} is there, the only path
 *     of newer kernels
 */
public record PeerMemory(List<String> clients, boolean folder, boolean moduleVersion) {
  private static final String PEERS = "sys/kernel/mm/memory_peers";

  public PeerMemory {
    clients = List.copyOf(clients);
  }

  static PeerMemory read(Root root) {
    List<String> clients =
        root.names(PEERS).stream()
            .filter(name -> root.exists(PEERS + "/" + name + "/version"))
            .toList();
    return new PeerMemory(
        clients, root.exists(PEERS), root.exists("sys/module/nvidia_peermem/version"));
  }
}
