package dev.doorbell.doctor.check;

import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.topology.PciTopology;
import java.util.List;
import java.util.stream.Stream;

/** A machine's facts, with what several checks derive from them. */
public record CheckedMachine(Facts facts, PciTopology topology) {
  /** The first rdma-core with {@code ibv_reg_dmabuf_mr}. */
  static final int DMABUF_RDMA_CORE = 34;

  public CheckedMachine(Facts facts) {
    this(facts, PciTopology.of(facts));
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

  /** Returns true if there is a usable GPU and an HCA, the two ends of GPUDirect RDMA. */
  boolean pair() {
    return driver() && hca();
  }

  boolean virtualMachine() {
    return facts.host().virtualMachine();
  }

  /** Returns true if, by the files, NVIDIA's driver can export GPU memory as a dma-buf. */
  boolean dmaBuf() {
    return facts.driver().open()
        && facts.host().kernelAtLeast(5, 12)
        && facts.libraries().verbs().filter(release -> release >= DMABUF_RDMA_CORE).isPresent();
  }

  /** Returns true if a peer memory client has registered GPU memory with the RDMA core. */
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

  /** Returns the endpoints of transfers: GPUs and NICs. */
  List<PciFunction> ends() {
    return Stream.concat(facts.gpus().stream(), facts.nics().stream()).toList();
  }
}
