package dev.doorbell.experiments.collective;

import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.Nvlink;
import dev.doorbell.core.fabric.timed.machine.Topology;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Times of NCCL's collectives: latencies of its cost model ({@code src/graph/tuning.cc} of
 * github.com/NVIDIA/nccl, commit 5067397c), which hold its launch, its flags and the CPUs that post
 * among nodes; rates of a topology; what NVLS copies where buffers are not registered; and what a
 * thread takes to issue one call to each of its GPUs.
 *
 * @param gpusOfThread GPUs that one thread issues to, one after another
 */
public record NcclTimes(Collective collective, int ranks, int gpusOfThread, Topology topology) {
  private static final List<String> PROTOCOLS = List.of("ll", "ll128", "simple");
  private static final int SIMPLE = 2;
  private static final int MTU = 4096;

  // Microseconds of each protocol: baseLatencies, and hwLatencies in a node and among nodes.
  private static final double[] TREE_BASE = {6.8, 14, 8.4};
  private static final double[] RING_BASE = {6.6, 14, 8.4};
  private static final double[] TREE_NEAR = {0.6, 1.25, 4};
  private static final double[] RING_NEAR = {0.6, 1.9, 3.4};
  private static final double[] TREE_FAR = {5, 8.5, 14};
  private static final double[] RING_FAR = {2.7, 4, 14};
  private static final double NVLS_NEAR = 25;
  private static final double NVLS_FAR = 20.9;

  /** {@code getNetOverhead} of an Intel CPU, by protocol. */
  private static final double[] POST = {1, 1, 3};

  /** "Plateau effect of ring": an all-reduce among nodes by Simple. */
  private static final double PLATEAU = 1.4;

  /** GB/s of LL, {@code llMaxBws} of Hopper: among 1, 2 and more nodes. */
  private static final double[] LL_MOST = {141, 39, 20.4};

  /** {@code treeCorrectionFactor} by protocol: tenths, of 64 bytes and each power of two above. */
  private static final String[] TREE_TENTHS = {
    "AAAA987777654456789A", "AAAAA9888766666689999A", "99999998766555567877899A"
  };

  // NVLS_NCHANNELS_SM90, perChMaxTreeLL128Bws; a block's copy, measured: causes.md of validation.
  private static final int CHANNELS = 16;
  private static final double LL128_RATE = 36.7;
  private static final double COPY_NANOS = 2_000;
  private static final double COPY_RATE = 36.3;

  // Sends between GPUs of a node: the least time, and GB/s of a channel; published, as above.
  private static final double SEND_NANOS = 6_300;
  private static final double CHANNEL_RATE = 20.4;
  private static final int SEND_CHANNELS = 32;

  /** A call in a stream without a graph, for each GPU of its thread: measured, as above. */
  private static final double ISSUE_NANOS = 5_900;

  /**
   * Nanoseconds by algorithm and protocol, such as "ring ll" or "nvls simple"; nothing for other
   * collectives than all-reduce, all-gather, reduce-scatter and, in a node, all-to-all.
   *
   * @param bytes of the larger buffer
   */
  public Map<String, Double> of(long bytes) {
    Map<String, Double> times = new LinkedHashMap<>();
    boolean reduces = collective == Collective.ALL_REDUCE;
    if (reduces || (collective.divides() && !collective.exchanges())) {
      for (int protocol = 0; protocol <= SIMPLE; protocol++) {
        times.put("ring " + PROTOCOLS.get(protocol), ring(protocol, bytes));
        if (reduces) {
          times.put("tree " + PROTOCOLS.get(protocol), tree(protocol, bytes));
        }
      }
    }
    Nvlink nvlink = topology.nvlink();
    if (reduces && nvlink != null && nvlink.reduces()) {
      times.put("nvls simple", nvls(nvlink, bytes));
    }
    if (collective == Collective.ALL_TO_ALL && nvlink != null && nodes() == 1) {
      times.put("p2p simple", send(nvlink.bytesPerNano(), bytes / ranks));
    }
    double issue = Math.min(gpusOfThread, node()) * ISSUE_NANOS;
    times.replaceAll((algorithm, nanos) -> Math.max(nanos, issue));
    return times;
  }

  private int node() {
    return Math.min(ranks, topology.ranksOfNode());
  }

  private int nodes() {
    return Math.ceilDiv(ranks, node());
  }

  /** GB/s between the nodes, of all ports of one. */
  private double far() {
    Network network = topology.network();
    return node() * network.bytesPerNano() * MTU / (MTU + network.packetOverhead());
  }

  /** GB/s of a bus of rings or trees. */
  private double bus() {
    Nvlink nvlink = topology.nvlink();
    double near = nvlink == null || node() == 1 ? Double.MAX_VALUE : nvlink.bytesPerNano();
    return nodes() == 1 ? near : Math.min(near, far());
  }

  private double rate(int protocol, double bus, double ofLl, double ofLl128) {
    return switch (protocol) {
      case 0 -> Math.min(LL_MOST[Math.min(nodes(), 3) - 1], bus * ofLl);
      case 1 -> bus * ofLl128;
      default -> bus;
    };
  }

  private double ring(int protocol, long bytes) {
    int passes = collective == Collective.ALL_REDUCE ? 2 : 1;
    int steps = passes * (ranks - 1);
    int between = passes * (nodes() - 1);
    double near = Math.max(RING_NEAR[protocol], between == 0 ? 0 : POST[protocol]);
    double far = node() == 1 ? TREE_FAR[protocol] : RING_FAR[protocol];
    double latency = RING_BASE[protocol] + (steps - between) * near + between * far;
    boolean plateau = protocol == SIMPLE && between > 0 && passes == 2;
    double rate = rate(protocol, bus(), 1.0 / 2, 120.0 / 128);
    return 1e3 * latency * (plateau ? PLATEAU : 1) + bytes * steps / (rate * ranks);
  }

  private double tree(int protocol, long bytes) {
    int levels = Math.getExponent((double) nodes());
    double hops = (ranks / nodes() - 1) * TREE_NEAR[protocol] + levels * TREE_FAR[protocol];
    double rate = rate(protocol, 0.92 * bus(), 1 / 3.8, nodes() == 1 ? 7.0 / 9 : 120.0 / 128);
    String tenths = TREE_TENTHS[protocol];
    int power = Math.clamp(Math.getExponent(bytes / 64.0), 0, tenths.length() - 1);
    rate *= Character.digit(tenths.charAt(power), 16) / 10.0;
    double first = protocol == 1 ? firstChunk(bytes, levels) : 0;
    return 1e3 * (TREE_BASE[protocol] + 2 * hops) + first + 2 * bytes / rate;
  }

  /** The first chunk of LL128 goes up and down a tree alone: {@code src/enqueue.cc}. */
  private double firstChunk(long bytes, int levels) {
    long channel = bytes / CHANNELS;
    long chunk = 72_000;
    long loops = (long) Math.ceil((1 + levels + 0.1 * node()) * 16 / node());
    while (chunk > 32 << 10 && channel < chunk * loops) {
      chunk /= 2;
    }
    chunk = Math.min(chunk, channel);
    return 2 * ((node() - 1) * chunk / LL128_RATE + (long) levels * CHANNELS * chunk / far());
  }

  /** {@code addP2pToPlan}: more channels above 16 MiB each; the last chunk is copied after all. */
  private double send(double port, long part) {
    int channels = Integer.highestOneBit(Math.max(1, SEND_CHANNELS / ranks));
    while (part > (long) channels << 24 && channels < SEND_CHANNELS) {
      channels *= 2;
    }
    double sent =
        Math.max((ranks - 1) * (double) part / port, (double) part / (channels * CHANNEL_RATE));
    return SEND_NANOS + sent + Math.min(512 << 10, (double) part / channels) / CHANNEL_RATE;
  }

  /** All contributions and all sums pass a port; among nodes, halves of two trees as well. */
  private double nvls(Nvlink nvlink, long bytes) {
    double request = (double) nvlink.requestBytes() / nvlink.maxPayload();
    double near = nvlink.bytesPerNano() / (1 + 1.0 / node() + request);
    double ports = nodes() == 1 ? Double.MAX_VALUE : far() / (nodes() == 2 ? 1 : 2);
    double loop = Math.min((double) CHANNELS * node() * chunk(bytes), (double) bytes);
    // The first loop is copied before the switch adds; the last one crosses the ports behind all.
    double copies = 2 * (COPY_NANOS + loop / CHANNELS / COPY_RATE);
    double latency = 1e3 * (NVLS_NEAR + 2 * Math.getExponent((double) nodes()) * NVLS_FAR);
    return latency + copies + loop / ports + bytes / Math.min(near, ports);
  }

  private long chunk(long bytes) {
    long loop = ((long) CHANNELS * node()) << 10;
    if (nodes() > 1) {
      long kib = bytes < 64 * loop ? 32 : nodes() < 4 && bytes >= 4 * 128 * loop ? 128 : 64;
      return kib << 10;
    }
    long kib = bytes < 8 * 64 * loop ? 32 : bytes < 64 * 128 * loop ? 64 : 128;
    return bytes < 2 * kib * loop ? 16 << 10 : kib << 10;
  }
}
