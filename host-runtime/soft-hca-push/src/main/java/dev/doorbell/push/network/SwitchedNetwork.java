package dev.doorbell.push.network;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.push.network.Network.Host;
import dev.doorbell.push.network.SwitchNode.Ingress;
import dev.doorbell.push.network.SwitchNode.QueuedPort;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Switches of a {@link NetworkPlan} in virtual time: queues of ports out of a buffer that each
 * switch shares by dynamic thresholds, ECN marks, PFC pauses with headroom on every cable, equal
 * cost paths by flow. Urgent frames overtake others and are never paused.
 *
 * <p>Store and forward: a frame joins the queue of its port out when its last byte is in.
 */
public final class SwitchedNetwork implements Network, AutoCloseable {
  /** Counters of frames. */
  public record Counters(long lost, long marked, long pauses) {}

  /**
   * The queue of a port out, over the time since its first frame.
   *
   * @param port switch and what it leads to
   * @param mean bytes over time
   * @param most bytes at any time
   */
  public record Load(String port, double mean, long most) {}

  private final Agent agent = new Agent.Passive();
  private final Fabric fabric;
  private final Wiring wiring;
  private final NetworkPlan plan;
  private final QueueOptions options;
  private final List<SwitchNode> switches = new ArrayList<>();
  private final List<QueuedPort> toHosts = new ArrayList<>();
  private final List<Ingress> fromHosts = new ArrayList<>();

  /** State that all switches share. */
  static final class Wiring {
    final DevicePort clock;
    final QueueOptions options;
    final SplittableRandom random;
    final EqualCostPaths paths;
    long lost;
    long marked;
    long pauses;

    Wiring(DevicePort clock, QueueOptions options, EqualCostPaths paths, long seed) {
      this.clock = clock;
      this.options = options;
      this.paths = paths;
      this.random = new SplittableRandom(seed);
    }

    void lose(Frame frame) {
      lost++;
      frame.lost();
    }
  }

  /**
   * A network without hosts.
   *
   * @param at a place of the topology: whose clock is used
   * @param seed of the marks and of the choice among equal paths
   * @throws IllegalArgumentException when the plan leaves hosts apart
   */
  public SwitchedNetwork(
      Fabric fabric, Locus at, NetworkPlan plan, QueueOptions options, long seed) {
    this.fabric = fabric;
    this.plan = plan;
    this.options = options;
    EqualCostPaths paths = new EqualCostPaths(plan, seed);
    this.wiring = new Wiring(fabric.attachDevice(at, agent), options, paths, seed);
    for (int i = 0; i < plan.switches(); i++) {
      switches.add(new SwitchNode(i, wiring, plan));
    }
    for (int trunk = 0; trunk < plan.trunks().size(); trunk++) {
      SwitchNode one = switches.get(plan.trunks().get(trunk).one());
      SwitchNode other = switches.get(plan.trunks().get(trunk).other());
      join(one, other, trunk);
      join(other, one, trunk);
    }
  }

  private void join(SwitchNode from, SwitchNode to, int trunk) {
    QueuedPort port = from.trunk(trunk, "switch %d to %d".formatted(from.number, to.number));
    Ingress ingress = to.new Ingress(port::pause);
    port.leadsTo(ingress, options.cableNanos() + options.switchNanos());
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException when the plan has no more hosts
   */
  @Override
  public int attach(Host host) {
    int number = fromHosts.size();
    if (number == plan.leaves().size()) {
      throw new IllegalStateException(
          "%s is a network of %d hosts".formatted(plan.name(), plan.leaves().size()));
    }
    SwitchNode leaf = switches.get(plan.leaves().get(number));
    QueuedPort port = leaf.host(number, "switch %d to host %d".formatted(leaf.number, number));
    port.leadsTo(host::arrive, options.cableNanos());
    toHosts.add(port);
    fromHosts.add(leaf.new Ingress(host::pause));
    return number;
  }

  @Override
  public void send(Frame frame) {
    Ingress ingress = fromHosts.get(frame.source());
    frame.hop = ingress;
    wiring.clock.timer(options.cableNanos() + options.switchNanos(), frame);
  }

  public Counters counters() {
    return new Counters(wiring.lost, wiring.marked, wiring.pauses);
  }

  /** Bytes that wait in the port out to a host. */
  public long queued(int host) {
    return toHosts.get(host).queued();
  }

  /** The port out whose queue was the longest on average. */
  public Load busiest() {
    long now = wiring.clock.now();
    Load busiest = new Load("none", 0, 0);
    for (SwitchNode node : switches) {
      for (QueuedPort port : node.ports) {
        Load load = port.load(now);
        busiest = load.mean() > busiest.mean() ? load : busiest;
      }
    }
    return busiest;
  }

  @Override
  public void close() {
    fabric.detach(agent);
  }

  /**
   * The shortest ways between the switches of a plan. Of several that are equally short, the hash
   * of a flow decides (ECMP): frames of a flow stay in order.
   */
  static final class EqualCostPaths {
    /** Numbers of the trunks of each switch that lead nearer to each destination. */
    private final int[][][] next;

    /** The switch of each host. */
    final int[] leaves;

    private final long seed;

    /**
     * @param seed of the hash
     * @throws IllegalArgumentException when a switch that has hosts cannot be reached from another
     */
    EqualCostPaths(NetworkPlan plan, long seed) {
      this.seed = seed;
      int switches = plan.switches();
      this.leaves = plan.leaves().stream().mapToInt(Integer::intValue).toArray();
      List<List<int[]>> neighbours = new ArrayList<>();
      for (int i = 0; i < switches; i++) {
        neighbours.add(new ArrayList<>());
      }
      for (int trunk = 0; trunk < plan.trunks().size(); trunk++) {
        NetworkPlan.Trunk of = plan.trunks().get(trunk);
        neighbours.get(of.one()).add(new int[] {of.other(), trunk});
        neighbours.get(of.other()).add(new int[] {of.one(), trunk});
      }
      next = new int[switches][switches][];
      int[] distinct = IntStream.of(leaves).distinct().toArray();
      for (int leaf : distinct) {
        int[] distance = distances(leaf, neighbours);
        for (int other : distinct) {
          if (distance[other] < 0) {
            throw new IllegalArgumentException(
                "%s: no way from switch %d to switch %d".formatted(plan.name(), other, leaf));
          }
        }
        for (int at = 0; at < switches; at++) {
          int here = distance[at];
          next[at][leaf] =
              neighbours.get(at).stream()
                  .filter(way -> distance[way[0]] >= 0 && distance[way[0]] == here - 1)
                  .mapToInt(way -> way[1])
                  .toArray();
        }
      }
    }

    private static int[] distances(int from, List<List<int[]>> neighbours) {
      int[] distance = new int[neighbours.size()];
      Arrays.fill(distance, -1);
      distance[from] = 0;
      ArrayDeque<Integer> open = new ArrayDeque<>(List.of(from));
      while (!open.isEmpty()) {
        int at = open.remove();
        for (int[] way : neighbours.get(at)) {
          if (distance[way[0]] < 0) {
            distance[way[0]] = distance[at] + 1;
            open.add(way[0]);
          }
        }
      }
      return distance;
    }

    /** The trunk that a flow takes from one switch towards another one. */
    int trunk(int at, int towards, long flow) {
      int[] ways = next[at][towards];
      return ways.length == 1
          ? ways[0]
          : ways[Math.floorMod(hash(hash(flow) + hash(seed + at)), ways.length)];
    }

    /** Finalizer of SplitMix64 (Steele et al., OOPSLA 2014). */
    private static long hash(long value) {
      long z = value + 0x9e37_79b9_7f4a_7c15L;
      z = (z ^ (z >>> 30)) * 0xbf58_476d_1ce4_e5b9L;
      z = (z ^ (z >>> 27)) * 0x94d0_49bb_1331_11ebL;
      return z ^ (z >>> 31);
    }
  }

  /**
   * Queues of the switches of a {@link SwitchedNetwork}.
   *
   * @param bytesPerNano rate of each port
   * @param cableNanos latency of each cable
   * @param switchNanos from a frame's last bit in to its place in the queue of its port
   * @param bufferBytes of each switch, shared by its ports
   * @param threshold of the shared buffer (Choudhury and Hahne, "Dynamic queue length thresholds",
   *     1998): a queue may have so many times what is free. Without PFC a queue is that of a port
   *     out, and what exceeds is lost; with PFC it is what came in by a port, and what exceeds
   *     pauses the sender there
   * @param marking ECN; {@link Marking#NONE} marks nothing
   * @param headroomBytes of each port in for what arrives after a pause was sent; 0: no PFC
   * @param pause PFC without headroom, by what came in by a port
   */
  public record QueueOptions(
      double bytesPerNano,
      long cableNanos,
      long switchNanos,
      int bufferBytes,
      double threshold,
      Marking marking,
      int headroomBytes,
      Pause pause) {

    /** Queues that may have the whole buffer, and no delay but those of cables and ports. */
    public static QueueOptions shared(
        double bytesPerNano, long cableNanos, int bufferBytes, Marking marking, Pause pause) {
      return new QueueOptions(
          bytesPerNano, cableNanos, 0, bufferBytes, Double.POSITIVE_INFINITY, marking, 0, pause);
    }

    /**
     * Pauses the sender of a port in that has more than {@code above} bytes in the switch, until it
     * has {@code below} or fewer. Nothing is lost only where the buffer has room for what is under
     * way when the pause arrives.
     */
    public record Pause(int above, int below) {
      /** Nobody is paused. */
      public static final Pause NONE = new Pause(Integer.MAX_VALUE, 0);

      public Pause {
        if (below < 0 || below > above) {
          throw new IllegalArgumentException(
              "pause above %d bytes, resume at %d".formatted(above, below));
        }
      }
    }

    /**
     * Marks by the length of the queue out: none up to {@code least} bytes, all above {@code most},
     * between them with a probability that grows to {@code probability} (RED, as DCQCN uses it).
     */
    public record Marking(int least, int most, double probability) {
      /** Nothing is marked. */
      public static final Marking NONE = new Marking(Integer.MAX_VALUE, Integer.MAX_VALUE, 0);

      public Marking {
        if (least < 0 || most < least || !(probability >= 0 && probability <= 1)) {
          throw new IllegalArgumentException(
              "marks from %d to %d bytes with probability %s".formatted(least, most, probability));
        }
      }

      /** Everything above {@code bytes}. */
      public static Marking above(int bytes) {
        return new Marking(bytes, bytes, 1);
      }

      double chance(long queued) {
        if (queued <= least) {
          return 0;
        }
        return queued > most ? 1 : probability * (queued - least) / (most - least);
      }
    }

    public QueueOptions {
      if (!(bytesPerNano > 0)
          || cableNanos < 0
          || switchNanos < 0
          || bufferBytes <= 0
          || !(threshold > 0)
          || headroomBytes < 0) {
        throw new IllegalArgumentException(
            "queues with %s bytes/ns, cable %d ns, switch %d ns, buffer %d bytes, threshold %s, headroom %d bytes"
                .formatted(
                    bytesPerNano, cableNanos, switchNanos, bufferBytes, threshold, headroomBytes));
      }
    }

    /** Returns true if senders are paused (PFC). */
    public boolean pauses() {
      return headroomBytes > 0;
    }

    /**
     * The least headroom that loses nothing: what the sender sends until the pause has reached it
     * and what is under way then, and on either side a frame that has begun (IEEE 802.1Qbb, annex
     * N).
     */
    public static int headroom(double bytesPerNano, long cableNanos, long switchNanos, int frame) {
      return (int) Math.ceil(2 * cableNanos * bytesPerNano + switchNanos * bytesPerNano)
          + 2 * frame;
    }
  }
}
