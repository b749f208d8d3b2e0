package dev.doorbell.experiments.model;

import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Link.Credits;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Tlp;
import dev.doorbell.core.fabric.timed.machine.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Latency and bandwidth of every {@link PostingPath} by arithmetic.
 *
 * <p>A latency runs from "data ready in GPU memory" until the HCA holds the whole payload and may
 * emit its first packet. Symbols: o_c, o_g building a work request on CPU and GPU; L_xy one-way
 * latency from x to y of C CPU, G GPU, H host memory, N HCA; S(n) serialisation of n bytes on the
 * slowest link, S_w in stores of the GPU's granule, S_c in completions; W bytes of a WQE with
 * inline payload; m_G, m_H service of a read by GPU and host; F_d fence over GPU memory, F_s = 2
 * L_GH + m_H over host memory, F_m = 2 L_GN + m_N over on-chip memory; p_db, p_w, p_x doorbell, WQE
 * and packet in the HCA; t_poll, t_memic polling, on-chip memory. S = max(wire, N / cap) for
 * payload.
 */
public final class PathModel {
  /** Bytes of a WQE that carries inline payload beside it: control 16, address 16, header 4. */
  static final int INLINE_OVERHEAD = 36;

  private static final int BLOCK = 64;
  private static final int BLUEFLAME_BYTES = 256;
  private static final long MOST_INLINE = BLUEFLAME_BYTES - INLINE_OVERHEAD;
  private static final int NO_CUT = Integer.MAX_VALUE;

  private final Topology topology;
  private final GpuPrices gpu;
  private final CpuPrices cpu;
  private final NicPrices nic;
  private final PciePath gpuNic;
  private final PciePath gpuHost;
  private final PciePath nicHost;

  /** Bytes that a request for payload asks for at most. */
  private final int payloadRequest;

  private PathModel(Topology topology, int mtu) {
    this.topology = topology;
    this.gpu = topology.gpus().getFirst();
    this.cpu = topology.cpus().getFirst();
    this.nic = topology.nics().getFirst();
    this.gpuNic = new PciePath(topology, "gpu0", "nic0");
    this.gpuHost = new PciePath(topology, "gpu0", "cpu0");
    this.nicHost = new PciePath(topology, "nic0", "cpu0");
    this.payloadRequest = Math.min(nic.maxReadRequest(), mtu);
  }

  /**
   * A model of the first GPU, HCA and CPU of a node whose HCA reads the payload of each packet by
   * requests of its own, as the software HCA does.
   *
   * @param mtu most bytes of payload in a packet
   */
  public static PathModel perPacket(Topology topology, int mtu) {
    return new PathModel(topology, mtu);
  }

  public Topology topology() {
    return topology;
  }

  /**
   * Returns whether a path can carry a message at all: inline payload has to fit into 256 bytes of
   * WQE, and the root complex has to route what the HCA reads.
   */
  public boolean carries(PostingPath path, long bytes) {
    if (path.inline() && bytes > MOST_INLINE) {
      return false;
    }
    return gpuNic.peerReads() || !path.readsGpu();
  }

  /** Latency in nanoseconds, or nothing where the path cannot carry the message. */
  public OptionalDouble latencyNanos(PostingPath path, long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("bytes=" + bytes);
    }
    return carries(path, bytes) ? OptionalDouble.of(latency(path, bytes)) : OptionalDouble.empty();
  }

  private double latency(PostingPath path, long bytes) {
    double og = gpu.atomic();
    double gn = gpuNic.latency();
    double fd = gpu.fence();
    double fs = hostFence();
    double px = nic.packet();
    int wqe = wqeBytes(path, bytes);
    return switch (path) {
      case A3 -> og + 2 * fd + gn + nic.doorbell() + wqeFromGpu(wqe) + nic.wqe() + pull(bytes) + px;
      case A4 ->
          og + 2 * fs + gn + nic.doorbell() + wqeFromHost(wqe) + nic.wqe() + pull(bytes) + px;
      case A5 -> og + fd + gpuBlueFlame(wqe) + pull(bytes) + px;
      case B1 -> og + 2 * fd + gn + nic.doorbell() + wqeFromGpu(wqe) + nic.wqe() + px;
      case B2 -> og + 2 * fs + gn + nic.doorbell() + wqeFromHost(wqe) + nic.wqe() + px;
      case B3 -> og + gpuBlueFlame(wqe) + px;
      case C1 -> og + pushOnChip(bytes) + onChipFence() + gpuBlueFlame(wqe) + nic.onChipRead() + px;
      case D ->
          og
              + pushHost(bytes)
              + 2 * fs
              + gn
              + nic.doorbell()
              + wqeFromHost(wqe)
              + nic.wqe()
              + pullHost(bytes)
              + px;
      case E1 -> og + gpuHost.latency() + cpu.poll() + cpuBlueFlame() + pull(bytes) + px;
    };
  }

  private static int wqeBytes(PostingPath path, long bytes) {
    return path.inline() ? (int) (bytes + INLINE_OVERHEAD + BLOCK - 1) / BLOCK * BLOCK : BLOCK;
  }

  /** F_s: a fence after a store to host memory. */
  public double hostFence() {
    return 2 * gpuHost.latency() + cpu.memoryService();
  }

  /** F_m: a fence after a store to the HCA. */
  public double onChipFence() {
    return 2 * gpuNic.latency() + nic.memoryService();
  }

  /** The CPU builds a WQE and stores it to the HCA, which parses it. */
  private double cpuBlueFlame() {
    return cpu.post() + nicHost.latency() + nicHost.writes(BLOCK, BLOCK) + nic.wqe();
  }

  private double gpuBlueFlame(int wqeBytes) {
    return gpuNic.writes(wqeBytes, BLOCK) + gpuNic.latency() + nic.wqe();
  }

  private double wqeFromGpu(int bytes) {
    return 2 * gpuNic.latency()
        + gpu.memoryService()
        + gpuNic.completions(bytes, nic.maxReadRequest(), gpuCut());
  }

  private double wqeFromHost(int bytes) {
    return 2 * nicHost.latency()
        + cpu.memoryService()
        + nicHost.completions(bytes, nic.maxReadRequest(), hostCut());
  }

  private double pull(long bytes) {
    double most =
        Math.max(
            gpuNic.payloadCompletions(bytes, payloadRequest, gpuCut()),
            tagBound(bytes, readGpuRoundTrip()));
    return 2 * gpuNic.latency() + gpu.memoryService() + most;
  }

  private double pullHost(long bytes) {
    double most =
        Math.max(
            nicHost.payloadCompletions(bytes, payloadRequest, hostCut()),
            tagBound(bytes, readHostRoundTrip()));
    return 2 * nicHost.latency() + cpu.memoryService() + most;
  }

  /** Tags make a long read wait for the return of earlier requests. */
  private double tagBound(long bytes, double roundTrip) {
    if (nic.readTags() == 0) {
      return 0;
    }
    long flight = (long) nic.readTags() * payloadRequest;
    return bytes <= flight ? 0 : (bytes - flight) / (flight / roundTrip);
  }

  private double pushOnChip(long bytes) {
    return gpuNic.payloadWrites(bytes, gpu.storeGranule());
  }

  private double pushHost(long bytes) {
    return gpuHost.payloadWrites(bytes, gpu.storeGranule());
  }

  private int gpuCut() {
    return gpuNic.completion(gpu.completionBytes());
  }

  private int hostCut() {
    return nicHost.completion(cpu.completionBytes());
  }

  private double readGpuRoundTrip() {
    return 2 * gpuNic.latency()
        + gpu.memoryService()
        + gpuNic.completions(payloadRequest, NO_CUT, gpuCut());
  }

  private double readHostRoundTrip() {
    return 2 * nicHost.latency()
        + cpu.memoryService()
        + nicHost.completions(payloadRequest, NO_CUT, hostCut());
  }

  /**
   * The rate in bytes a nanosecond (GB/s) that messages of one size cannot pass however many are
   * under way: the narrowest of the PCIe legs that the payload crosses, and the network's port.
   */
  public OptionalDouble ceiling(PostingPath path, long bytes) {
    if (!carries(path, bytes)) {
      return OptionalDouble.empty();
    }
    double wire = topology.network().bytesPerNano();
    return OptionalDouble.of(Math.min(wire, pcieCeiling(path, bytes)));
  }

  /**
   * The rate in bytes a nanosecond (GB/s) that messages of one size cannot pass where they arrive:
   * the network's port, and what the HCA writes into the GPU's memory.
   */
  public double arrivalCeiling(long bytes) {
    return Math.min(
        topology.network().bytesPerNano(), gpuNic.writeBandwidth(bytes, Integer.MAX_VALUE));
  }

  /**
   * The rate in bytes a nanosecond (GB/s) that one poster cannot pass on a path that stages its
   * payload: a chunk's stores, their fence and their post come before the next chunk's. Nothing
   * where the HCA finds the payload by itself, so that nothing is waited for between messages.
   */
  public OptionalDouble posterCeiling(PostingPath path, long chunk) {
    return switch (path) {
      case C1 -> OptionalDouble.of(chunk / (gpu.atomic() + pushOnChip(chunk) + onChipFence()));
      case D -> OptionalDouble.of(chunk / (gpu.atomic() + pushHost(chunk) + 2 * hostFence()));
      default -> OptionalDouble.empty();
    };
  }

  private double pcieCeiling(PostingPath path, long bytes) {
    int wqe = wqeBytes(path, bytes);
    return switch (path) {
      case A3, A4, A5, E1 -> readGpu(bytes);
      case B1 -> readGpu(wqe) * bytes / wqe;
      case B2 -> readHost(wqe) * bytes / wqe;
      case B3 -> gpuNic.writeBandwidth(wqe, BLOCK) * bytes / wqe;
      case C1 -> gpuNic.writeBandwidth(bytes, gpu.storeGranule());
      case D -> Math.min(gpuHost.writeBandwidth(bytes, gpu.storeGranule()), readHost(bytes));
    };
  }

  private double readGpu(long bytes) {
    return gpuNic.readBandwidth(
        bytes, payloadRequest, gpuCut(), nic.readTags(), readGpuRoundTrip());
  }

  private double readHost(long bytes) {
    return nicHost.readBandwidth(
        bytes, payloadRequest, hostCut(), nic.readTags(), readHostRoundTrip());
  }

  /**
   * Transfers over one path: how long they occupy it, and how many bytes a nanosecond it can carry.
   * Times in nanoseconds, transfers aligned; latencies are not in them.
   */
  private static final class PciePath {
    private final Path path;
    private final List<Link> links = new ArrayList<>();
    private final int maxPayload;

    PciePath(Topology topology, String from, String to) {
      this.path = topology.path(from, to);
      for (Hop hop : path.hops()) {
        links.add(topology.link(hop.link()));
      }
      this.maxPayload = topology.maxPayload(path);
    }

    /** One-way latency L. */
    double latency() {
      return path.nanos();
    }

    boolean peerReads() {
      return path.peerReads();
    }

    /** The payload of a completion: as the completer cuts, and no larger than any link carries. */
    int completion(int completionBytes) {
      return completionBytes == 0 ? maxPayload : Math.min(maxPayload, completionBytes);
    }

    /** S_w: posted writes of {@code granule} bytes each. */
    double writes(long bytes, int granule) {
      double slowest = 0;
      int count = Tlp.writes(0, bytes, Math.min(granule, maxPayload));
      for (Link link : links) {
        slowest =
            Math.max(slowest, (bytes + (double) count * link.writeOverhead()) / link.tlpRate());
      }
      return slowest;
    }

    /** {@link #writes} of payload, with the path's cap. */
    double payloadWrites(long bytes, int granule) {
      double cap = path.writeCap();
      return Math.max(writes(bytes, granule), cap == 0 ? 0 : bytes / cap);
    }

    /** S_c: completions of {@code cut} bytes. */
    double completions(long bytes, int maxReadRequest, int cut) {
      double slowest = 0;
      int count = Tlp.completions(0, bytes, maxReadRequest, cut);
      for (Link link : links) {
        slowest =
            Math.max(
                slowest, (bytes + (double) count * link.completionOverhead()) / link.tlpRate());
      }
      return slowest;
    }

    /** {@link #completions} of payload, with the path's cap. */
    double payloadCompletions(long bytes, int maxReadRequest, int cut) {
      double cap = path.readCap();
      return Math.max(completions(bytes, maxReadRequest, cut), cap == 0 ? 0 : bytes / cap);
    }

    /** The requests' time on the links, which reads share with whatever else goes that way. */
    double requests(long bytes, int maxReadRequest) {
      double slowest = 0;
      int count = Tlp.requests(0, bytes, maxReadRequest);
      for (Link link : links) {
        slowest = Math.max(slowest, (double) count * link.requestBytes() / link.tlpRate());
      }
      return slowest;
    }

    /** Bytes a nanosecond of messages of {@code bytes} in TLPs of {@code granule}. */
    double writeBandwidth(long bytes, int granule) {
      int payload = Math.min(granule, maxPayload);
      double bound = bytes / payloadWrites(bytes, payload);
      for (Link link : links) {
        Credits credits = link.credits();
        if (credits != null) {
          bound = Math.min(bound, Bounds.postedCredits(credits, (int) Math.min(payload, bytes)));
        }
      }
      return bound;
    }

    /**
     * Bytes a nanosecond of reads of {@code bytes} each.
     *
     * @param tags requests that may be outstanding, 0 for as many as it takes
     * @param roundTrip of one read
     */
    double readBandwidth(long bytes, int maxReadRequest, int cut, int tags, double roundTrip) {
      double bound =
          Math.min(
              bytes / payloadCompletions(bytes, maxReadRequest, cut),
              bytes / requests(bytes, maxReadRequest));
      return tags == 0
          ? bound
          : Math.min(bound, Bounds.little(tags, Math.min(bytes, maxReadRequest), roundTrip));
    }
  }
}
