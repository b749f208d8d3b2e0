package dev.doorbell.experiments.collective;

import dev.doorbell.core.fabric.timed.machine.Nvlink;
import dev.doorbell.core.fabric.timed.machine.Topology;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Times of NCCL's collectives: latencies of its cost model ({@code src/graph/tuning.cc} of
 * github.com/NVIDIA/nccl, commit 5067397c), which hold its launch, its flags and the CPUs that post
 * among nodes; rates of a topology; and what NVLS copies where buffers are not registered.
 */
public final class NcclTimes {
  /** Bytes of a packet's payload among nodes. */
  private static final int MTU = 4096;

  // Microseconds of LL, LL128 and Simple: baseLatencies, hwLatencies.
  private static final double[] TREE_BASE = {6.8, 14, 8.4};
  private static final double[] RING_BASE = {6.6, 14, 8.4};
  private static final double[] TREE_NEAR = {0.6, 1.25, 4};
  private static final double[] RING_NEAR = {0.6, 1.9, 3.4};
  private static final double[] TREE_FAR = {5, 8.5, 14};
  private static final double[] RING_FAR = {2.7, 4, 14};
  private static final double NVLS = 25;
  private static final double NVLS_TREE_FAR = 20.9;

  /** {@code getNetOverhead} of an Intel CPU. */
  private static final double POST = 1;

  /** "Plateau effect of ring": an all-reduce among nodes by Simple. */
  private static final double PLATEAU = 1.4;

  /** GB/s of LL, {@code llMaxBws}: in a node with and without NVLink SHARP; of 2 and more nodes. */
  private static final double[] LL_MOST = {141, 87.7, 39, 20.4};

  /** {@code treeCorrectionFactor} of sizes from 64 B on, doubled. */
  private static final double[][] TREE_RATE = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}
  };

  /** {@code NVLS_NCHANNELS_SM90}. */
  private static final int NVLS_BLOCKS = 16;

  // A block's copy, measured: experiments/validation/causes.md.
  private static final double COPY_NANOS = 2_000;
  private static final double COPY_RATE = 36.3;

  private final Collective collective;
  private final int ranks;
  private final int node;
  private final int nodes;
  private final Topology topology;
  private final Map<String, Double> times = new LinkedHashMap<>();

  private NcclTimes(Collective collective, int ranks, Topology topology) {
    this.collective = collective;
    this.ranks = ranks;
    this.node = Math.min(ranks, topology.ranksOfNode());
    this.nodes = Math.ceilDiv(ranks, node);
    this.topology = topology;
  }

  /**
   * Nanoseconds by algorithm and protocol, such as "ring LL" or "nvls_tree Simple"; nothing for
   * what NCCL's model leaves out.
   *
   * @param bytes of the larger buffer
   * @param sumsFloats whether an NVSwitch can add
   */
  public static Map<String, Double> of(
      Collective collective, long bytes, int ranks, boolean sumsFloats, Topology topology) {
    NcclTimes of = new NcclTimes(collective, ranks, topology);
    if (collective != Collective.BARRIER && !collective.exchanges()) {
      String[] protocols = {"LL", "LL128", "Simple"};
      for (int protocol = 0; protocol < protocols.length; protocol++) {
        of.times.put("ring " + protocols[protocol], of.ring(protocol, bytes));
        if (collective == Collective.ALL_REDUCE) {
          of.times.put("tree " + protocols[protocol], of.tree(protocol, bytes));
        }
      }
      Nvlink nvlink = topology.nvlink();
      if (collective == Collective.ALL_REDUCE && sumsFloats && nvlink != null && nvlink.reduces()) {
        of.times.put(of.nodes == 1 ? "nvls Simple" : "nvls_tree Simple", of.nvls(nvlink, bytes));
      }
    }
    return of.times;
  }

  /** GB/s between the nodes, of all ports of one. */
  private double far() {
    double each = topology.network().bytesPerNano() * MTU;
    return node * each / (MTU + topology.network().packetOverhead());
  }

  /** GB/s of a bus of rings or trees. */
  private double bus() {
    Nvlink nvlink = topology.nvlink();
    double near = nvlink == null || node == 1 ? Double.MAX_VALUE : nvlink.bytesPerNano();
    return nodes == 1 ? near : Math.min(near, far());
  }

  private double mostOfLl() {
    Nvlink nvlink = topology.nvlink();
    boolean adds = nvlink != null && nvlink.reduces();
    return LL_MOST[nodes > 1 ? Math.min(nodes, 3) : adds ? 0 : 1];
  }

  private double ring(int protocol, long bytes) {
    int steps =
        switch (collective) {
          case ALL_REDUCE -> 2 * (ranks - 1);
          case REDUCE_SCATTER, ALL_GATHER -> ranks - 1;
          default -> ranks;
        };
    int passes = collective == Collective.ALL_REDUCE ? 2 : 1;
    boolean simple = protocol == 2;
    double hop = nodes == 1 ? RING_NEAR[protocol] : RING_FAR[protocol];
    double latency;
    if (collective.rooted()) {
      latency = nodes == 1 ? hop : steps * (simple ? TREE_FAR[protocol] : hop);
    } else {
      double post = nodes == 1 ? 0 : simple ? 3 * POST : POST;
      int between = (nodes - 1) * passes;
      double far = node == 1 ? TREE_FAR[protocol] : hop;
      latency = (steps - between) * Math.max(RING_NEAR[protocol], post) + between * far;
    }
    latency += RING_BASE[protocol];
    if (simple && nodes > 1 && passes == 2) {
      latency *= PLATEAU;
    }
    double rate =
        switch (protocol) {
          case 0 -> Math.min(mostOfLl(), bus() / 2);
          case 1 -> bus() * 120 / 128;
          default -> bus();
        };
    return 1e3 * latency + bytes * steps / (rate * ranks);
  }

  private double tree(int protocol, long bytes) {
    int levels = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(nodes);
    double latency =
        TREE_BASE[protocol]
            + 2 * ((ranks / nodes - 1) * TREE_NEAR[protocol] + levels * TREE_FAR[protocol]);
    double rate = 0.92 * bus();
    rate =
        switch (protocol) {
          case 0 -> Math.min(rate / 3.8, mostOfLl());
          case 1 -> rate * (nodes == 1 ? 7.0 / 9 : 120.0 / 128);
          default -> rate;
        };
    int size = Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.max(1, bytes / 64));
    double[] factors = TREE_RATE[protocol];
    return 1e3 * latency + 2 * bytes / (rate * (size < factors.length ? factors[size] : 1));
  }

  /** All contributions and all sums pass a port; among nodes, halves of two trees as well. */
  private double nvls(Nvlink nvlink, long bytes) {
    double request = (double) nvlink.requestBytes() / nvlink.maxPayload();
    double rate = nvlink.bytesPerNano() / (1 + 1.0 / node + request);
    double latency = NVLS;
    if (nodes > 1) {
      rate = Math.min(rate, far() / (nodes == 2 ? 1 : 2));
      latency += 2 * (Integer.SIZE - 1 - Integer.numberOfLeadingZeros(nodes)) * NVLS_TREE_FAR;
    }
    return 1e3 * latency + copies(bytes) + bytes / rate;
  }

  /** The first chunk goes into NCCL's buffer before the switch adds, the last one out behind it. */
  private double copies(long bytes) {
    long at = (long) NVLS_BLOCKS * node;
    long chunk = bytes < 64 * at * (128 << 10) ? 64 << 10 : 128 << 10;
    chunk = bytes < 8 * at * chunk ? 32 << 10 : chunk;
    chunk = bytes < 2 * at * chunk ? 16 << 10 : chunk;
    double ofBlock = Math.min(node * chunk, (double) bytes / NVLS_BLOCKS);
    return 2 * (COPY_NANOS + ofBlock / COPY_RATE);
  }
}
