package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.experiments.scenario.kind.ExperimentKind.SettingName;
import dev.doorbell.experiments.scenario.world.World.Switching;
import dev.doorbell.experiments.scenario.world.WorldBuilder;
import dev.doorbell.push.network.NetworkPlan;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions.Marking;
import dev.doorbell.softhca.congestion.CongestionOptions;
import dev.doorbell.softhca.congestion.Dcqcn;
import dev.doorbell.softhca.congestion.DelayControl;
import dev.doorbell.softhca.congestion.UserPolicy;
import dev.doorbell.softhca.packet.Packet;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the network between ranks in virtual time, for kinds of points with many of them.
 *
 * @param network how hosts and switches are joined
 * @param cc congestion control of the HCAs' reliable connections
 * @param switching what switches do when their buffer is full
 * @param buffer bytes of each switch
 * @param mark bytes in a queue from which on packets are marked; 0: DCQCN's probabilities
 * @param radix hosts of a leaf, HCAs of a node (rails), or ports of a switch (fat tree)
 * @param spines of leaf-spine and rails
 * @param gbps rate of each port in Gbit/s; 0: the topology's
 */
public record NetworkSettings(
    Shape network,
    Control cc,
    @SettingName("switch") Full switching,
    int buffer,
    int mark,
    int radix,
    int spines,
    @SettingName("port_gbps") int gbps) {
  /** The rate for which DCQCN's thresholds were published, in bytes a nanosecond. */
  private static final double PUBLISHED_RATE = 5;

  // DCQCN (SIGCOMM 2015), figure 14.
  private static final int PUBLISHED_LEAST = 5_000;
  private static final int PUBLISHED_MOST = 200_000;
  private static final double PUBLISHED_PROBABILITY = 0.01;

  /** A queue may have as much as is free: alpha = 1 for the one class of data. */
  private static final double THRESHOLD = 1;

  /** A control by delay allows queues of this number of full packets. */
  private static final int ALLOWED_PACKETS = 16;

  /** Its largest window is what a port sends in so long: many round trips. */
  private static final long LARGEST_WINDOW_NANOS = 50_000;

  /** Nanoseconds of a round trip in HCAs: gather, framing and ACK. Assumed. */
  private static final long HOST_NANOS = 2_000;

  /** Round trips at the port's rate that a receiver grants: the port is busy while ACKs travel. */
  private static final int POOLED_TRIPS = 2;

  /** Silence after its last packet that costs a sender its credits, and the number of its turns. */
  private static final long SILENCE_NANOS = 100_000;

  private static final int SILENT_TURNS = 4;

  /** Shares of the network's latency: two cables, and the switch between them. Assumed. */
  private static final double CABLE_SHARE = 0.2;

  private static final double SWITCH_SHARE = 0.6;

  public enum Shape {
    PAIR,
    SWITCH,
    LEAF_SPINE,
    RAILS,
    FAT_TREE
  }

  public enum Control {
    NONE,
    DCQCN,
    DELAY,
    CREDITS,
    USER
  }

  /** Answers of a switch to a full buffer. */
  public enum Full {
    NONE,
    LOSSY,
    ECN,
    PFC
  }

  /** Refuses what contradicts itself. */
  public void check(int ranks, Checks checks) {
    boolean pair = network == Shape.PAIR;
    checks.refuseIf(
        pair && (cc != Control.NONE || switching != Full.NONE || gbps != 0),
        "cc, switch or port_gbps with network: pair",
        "cables that join everybody to everybody never congest",
        "use network: switch, leaf-spine, rails or fat-tree");
    checks.refuseIf(
        !pair && switching == Full.NONE,
        "switches with switch: none",
        "use switch: lossy, ecn or pfc");
    checks.refuseIf(
        cc == Control.DCQCN && switching == Full.LOSSY,
        "cc: dcqcn on switches that mark nothing",
        "use switch: ecn or pfc");
    String unusable = cc == Control.USER ? unusable() : null;
    checks.refuseIf(
        unusable != null,
        "cc: user with " + unusable,
        "put one jar with a UserPolicy on DOORBELL_CLASSPATH (docs/congestion.md)");
    checks.refuseIf(
        network == Shape.FAT_TREE && (radix % 2 != 0 || ranks > radix * radix * radix / 4),
        "%d ranks in a fat tree of switches with %d ports".formatted(ranks, radix),
        "it has room for radix^3/4 of them, and radix is even",
        "use a larger even radix");
    checks.refuseIf(
        !pair && buffer < 2 * Packet.frameBytes(Packet.MAX_PAYLOAD),
        "a buffer of %d bytes".formatted(buffer),
        "it holds no two frames",
        "use at least 16K");
  }

  /** The network among {@code ranks} ranks, or null for cables between all of them. */
  public @Nullable Switching of(Topology topology, int ranks) {
    if (network == Shape.PAIR) {
      return null;
    }
    NetworkPlan plan =
        switch (network) {
          case PAIR, SWITCH -> NetworkPlan.single(ranks);
          case LEAF_SPINE -> NetworkPlan.leafSpine(ranks, radix, spines);
          case RAILS -> NetworkPlan.rails(ranks, radix, spines);
          case FAT_TREE -> NetworkPlan.fatTree(ranks, radix);
        };
    return new Switching(plan, queues(topology), congestion(topology, ranks));
  }

  /** Builds the world of {@code ranks} ranks of a point, with this network between them. */
  public WorldBuilder world(PointRun<?> run, int ranks, QueueSettings queues) {
    return run.world().ranks(ranks).mtu(queues.mtu()).switching(of(run.topology(), ranks));
  }

  /** The policy of {@code cc: user}, or null. */
  public @Nullable String userPolicy() {
    return cc == Control.USER
        ? userPolicies()
            .map(policy -> "%s (%s)".formatted(policy.name(), policy.getClass().getName()))
            .findFirst()
            .orElse(null)
        : null;
  }

  private static @Nullable String unusable() {
    try {
      List<String> found = userPolicies().map(UserPolicy::name).toList();
      return switch (found.size()) {
        case 0 -> "no policy on the class path";
        case 1 -> null;
        default -> "several policies: " + String.join(", ", found);
      };
    } catch (ServiceConfigurationError e) {
      return "a policy that cannot be loaded: " + e.getMessage();
    }
  }

  private static Stream<UserPolicy> userPolicies() {
    return ServiceLoader.load(UserPolicy.class).stream().map(ServiceLoader.Provider::get);
  }

  private double rate(Topology topology) {
    return gbps == 0 ? topology.network().bytesPerNano() : gbps / 8.0;
  }

  private QueueOptions queues(Topology topology) {
    Network of = topology.network();
    double rate = rate(topology);
    long cable = Math.round(CABLE_SHARE * of.nanos());
    long latency = Math.round(SWITCH_SHARE * of.nanos());
    int frame = Packet.frameBytes(Packet.MAX_PAYLOAD);
    boolean marks = switching == Full.ECN || switching == Full.PFC;
    int headroom = switching == Full.PFC ? QueueOptions.headroom(rate, cable, latency, frame) : 0;
    return new QueueOptions(
        rate,
        cable,
        latency,
        buffer,
        THRESHOLD,
        marks ? marking(rate) : Marking.NONE,
        headroom,
        QueueOptions.Pause.NONE);
  }

  /** Thresholds of other rates are in proportion. */
  private Marking marking(double rate) {
    double scale = rate / PUBLISHED_RATE;
    return mark > 0
        ? Marking.above(mark)
        : new Marking(
            (int) (PUBLISHED_LEAST * scale), (int) (PUBLISHED_MOST * scale), PUBLISHED_PROBABILITY);
  }

  private CongestionOptions congestion(Topology topology, int ranks) {
    double rate = rate(topology);
    return switch (cc) {
      case NONE -> CongestionOptions.NONE;
      case DCQCN -> {
        Dcqcn.Parameters parameters = Dcqcn.Parameters.published(rate);
        yield CongestionOptions.of(_ -> new Dcqcn(parameters));
      }
      case DELAY ->
          CongestionOptions.of(
              mtu -> new DelayControl(rate, targetNanos(topology, mtu), mtu, LARGEST_WINDOW_NANOS));
      case CREDITS -> {
        double packetNanos = Packet.frameBytes(Packet.MAX_PAYLOAD) / rate;
        long trip = tripNanos(topology, Packet.MAX_PAYLOAD, 0);
        yield CongestionOptions.credits(
            rate,
            Math.round(POOLED_TRIPS * trip * rate),
            Math.max(SILENCE_NANOS, Math.round(SILENT_TURNS * ranks * packetNanos)));
      }
      case USER -> {
        long trip = tripNanos(topology, Packet.MAX_PAYLOAD, 0);
        UserPolicy user = userPolicies().findFirst().orElseThrow();
        yield CongestionOptions.of(user.policy(rate, trip));
      }
    };
  }

  /** The round trip of a packet through the longest way, and a queue of some packets. */
  private long targetNanos(Topology topology, int mtu) {
    return tripNanos(topology, mtu, ALLOWED_PACKETS);
  }

  private long tripNanos(Topology topology, int mtu, int queued) {
    int switches =
        switch (network) {
          case PAIR, SWITCH -> 1;
          case LEAF_SPINE, RAILS -> 3;
          case FAT_TREE -> 5;
        };
    double way = switches * topology.network().nanos();
    double packets = switches + 1 + queued;
    return Math.round(2 * way + HOST_NANOS + packets * Packet.frameBytes(mtu) / rate(topology));
  }
}
