package dev.doorbell.doctor.facts;

import java.util.List;

/**
 * How NVIDIA's driver has offered GPU memory to the RDMA core.
 *
 * @param clients names below {@code /sys/kernel/mm/memory_peers} that have a version
 * @param folder whether {@code /sys/kernel/mm/memory_peers} is there at all
 * @param moduleVersion whether {@code /sys/module/nvidia_peermem/version} is there, the only path
 *     of newer kernels
 */
public record PeerMemory(List<String> clients, boolean folder, boolean moduleVersion) {
  public PeerMemory {
    clients = List.copyOf(clients);
  }
}
