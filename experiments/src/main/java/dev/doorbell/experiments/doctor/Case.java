package dev.doorbell.experiments.doctor;

import dev.doorbell.experiments.doctor.facts.Facts;
import dev.doorbell.experiments.doctor.facts.Gid;
import dev.doorbell.experiments.doctor.facts.PciFunction;
import java.util.List;
import java.util.Optional;

/**
 * A machine's facts, with what several checks derive from them.
 *
 * @param peer what the doctor of the other host has printed as JSON, where it was given
 */
record Case(Facts facts, Topology topology, Optional<Peer> peer) {
  /** The first rdma-core with {@code ibv_reg_dmabuf_mr}. */
  static final int DMABUF_RDMA_CORE = 34;

  static Case of(Facts facts, Optional<Peer> peer) {
    return new Case(facts, Topology.of(facts), peer);
  }

  boolean gpu() {
    return !facts.gpus().isEmpty();
  }

  boolean hca() {
    return !facts.hcas().isEmpty();
  }

  boolean driver() {
    return gpu() && facts.driver().loaded();
  }

  /** Whether there is something between which GPUDirect RDMA could go. */
  boolean pair() {
    return driver() && hca();
  }

  boolean virtualMachine() {
    return facts.host().virtualMachine();
  }

  /** Whether NVIDIA's driver can hand GPU memory to an HCA as a dma-buf, by all that files tell. */
  boolean dmaBuf() {
    return facts.driver().open()
        && facts.host().kernelAtLeast(5, 12)
        && facts.libraries().verbs().filter(release -> release >= DMABUF_RDMA_CORE).isPresent();
  }

  /** Whether a peer memory client has registered GPU memory with the RDMA core. */
  boolean peerMemory() {
    return oldPathPeerMemory() || newPathPeerMemory();
  }

  boolean oldPathPeerMemory() {
    return facts.peerMemory().clients().stream()
        .anyMatch(name -> name.startsWith("nv_mem") || name.startsWith("nvidia"));
  }

  /** Newer kernels have no folder of clients: the module then holds symbols of the RDMA core. */
  boolean newPathPeerMemory() {
    return !facts.peerMemory().folder()
        && facts.peerMemory().moduleVersion()
        && (facts.host().uses("nvidia_peermem", "ib_core")
            || facts.host().uses("nvidia_peermem", "ib_uverbs"));
  }

  /** GPUs and NICs, the ends between which data goes. */
  List<PciFunction> ends() {
    return java.util.stream.Stream.concat(facts.gpus().stream(), facts.nics().stream()).toList();
  }

  /** The GID that a library picks by itself: RoCE v2 over IPv4, then any other v2. */
  static Optional<Gid> best(List<Gid> gids) {
    return gids.stream()
        .filter(gid -> gid.version2() && gid.ipv4())
        .findFirst()
        .or(() -> gids.stream().filter(gid -> gid.version2() && !gid.linkLocal()).findFirst());
  }
}
