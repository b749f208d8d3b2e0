package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.RandomTraffic;
import dev.doorbell.contract.RoundTopology;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.UdpHeader;
import dev.doorbell.softhca.SoftWorld;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.RoceWire.WireCounters;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a wire that leaves the process carries, and what it does with what it should not carry. */
class RoceWireTest {
  private static final Endpoint.Shape USUAL = Endpoint.Shape.usual();
  private static final Gid LEFT = Gid.parse("10.88.0.1");
  private static final Gid RIGHT = Gid.parse("10.88.0.2");

  /** ACK timeout of 4 ms: losses are repeated soon. */
  private static final ConnectionAttributes QUICK =
      new ConnectionAttributes(10, 7, 7, 12, 16, 16, 0);

  @TempDir Path folder;

  private static Endpoint[] connect(WireWorlds worlds, ConnectionAttributes attributes) {
    Endpoint a = new Endpoint(worlds.world, 0, USUAL);
    Endpoint b = new Endpoint(worlds.world, 1, USUAL);
    Endpoint.connect(a, b, attributes);
    return new Endpoint[] {a, b};
  }

  private static void traffic(WireWorlds worlds, Endpoint[] ends, long seed, int rounds) {
    new RandomTraffic(worlds.world, ends[0], ends[1], seed).run(rounds);
  }

  private WireCapture capture(WireWorlds worlds, String name) throws IOException {
    WireCapture capture =
        WireCapture.create(
            folder.resolve(name), "a test", worlds.world.fabric.basis(), worlds.world.fabric.now());
    worlds.wires.getFirst().capture(capture);
    return capture;
  }

  /** How a capture's frames are framed. */
  enum Framing {
    UDP_4,
    UDP_6,
    ETHERNET_4,
    ETHERNET_LINK_LOCAL,
    ETHERNET_V1
  }

  private static WireWorlds world(Framing framing, WireFaults faults) {
    SoftHcaOptions options = SoftHcaOptions.DEFAULT;
    GidTable left = GidTable.of(WireWorlds.LEFT_MAC, List.of(LEFT));
    GidTable right = GidTable.of(WireWorlds.RIGHT_MAC, List.of(RIGHT));
    int index =
        switch (framing) {
          case ETHERNET_V1 -> left.indexOf(LEFT, RoceVersion.V1);
          case ETHERNET_LINK_LOCAL ->
              left.indexOf(Gid.linkLocal(WireWorlds.LEFT_MAC), RoceVersion.V2);
          default -> left.indexOf(LEFT, RoceVersion.V2);
        };
    return switch (framing) {
      case UDP_4 -> WireWorlds.udp(WireWorlds.LOOPBACK, options, faults);
      case UDP_6 -> WireWorlds.udp(WireWorlds.LOOPBACK_6, options, faults);
      default ->
          WireWorlds.ethernet(
              new EthernetOptions(WireWorlds.LEFT_MAC, left, index, Map.of()),
              new EthernetOptions(WireWorlds.RIGHT_MAC, right, index, Map.of()),
              options,
              faults);
    };
  }

  @ParameterizedTest
  @EnumSource(Framing.class)
  void every_framing_carries_everything_and_its_capture_breaks_no_rule(Framing framing)
      throws IOException {
    WireWorlds worlds = world(framing, WireFaults.NONE);
    Path file = folder.resolve("capture.pcapng");
    long[] frames = {0};
    List<Integer> ports;
    try (SoftWorld world = worlds.world;
        WireCapture capture = capture(worlds, "capture.pcapng")) {
      assertThat(world).isNotNull();
      Endpoint[] ends = connect(worlds, QUICK);
      if (framing.name().startsWith("ETHERNET")) {
        // The right end speaks first: its frame tells the left one where it is.
        traffic(worlds, new Endpoint[] {ends[1], ends[0]}, 1, 4);
      }
      traffic(worlds, ends, 2, 20);
      worlds.wires.getFirst().capture(null);
      capture.flush();
      WireCounters counters = worlds.wires.getFirst().counters();
      assertThat(counters.badIcrc() + counters.malformed() + counters.notForUs()).isZero();
      assertThat(counters.refused()).isZero();
      ports =
          framing.name().startsWith("UDP")
              ? worlds.wires.stream().map(RoceWire::port).toList()
              : List.of(UdpHeader.ROCE_PORT);
    }
    assertThat(Flows.problems(file, _ -> frames[0]++)).isEmpty();
    assertThat(frames[0]).isGreaterThan(100);
    Tshark.assertSound(file, ports, frames[0]);
  }

  @Test
  void an_in_process_wire_is_captured_as_if_it_left_the_process() throws IOException {
    Path file = folder.resolve("virtual.pcapng");
    InProcessWire wire = new InProcessWire(500, 400);
    TimedFabric fabric = new TimedFabric(RoundTopology.sameSwitch(), 3);
    long[] frames = {0};
    try (SoftWorld world = new SoftWorld(fabric, SoftHcaOptions.DEFAULT, wire);
        WireCapture capture = WireCapture.create(file, "", fabric.basis(), fabric.now())) {
      wire.capture(capture);
      Endpoint a = new Endpoint(world, 0, USUAL);
      Endpoint b = new Endpoint(world, 1, USUAL);
      Endpoint.connect(a, b);
      new RandomTraffic(world, a, b, 4).run(12);
      wire.capture(null);
    }
    assertThat(Flows.problems(file, _ -> frames[0]++)).isEmpty();
    assertThat(frames[0]).isGreaterThan(100);
    Tshark.assertSound(file, List.of(UdpHeader.ROCE_PORT), frames[0]);
    assertThat(
            Tshark.lines(file, UdpHeader.ROCE_PORT, "frame.number == 1", "frame.time_epoch")
                .getFirst())
        .startsWith("0.000");
  }

  @Test
  void traffic_class_and_source_port_are_on_the_wire() throws IOException {
    WireWorlds worlds = world(Framing.UDP_4, WireFaults.NONE);
    Set<Integer> classes = new HashSet<>();
    try (SoftWorld world = worlds.world) {
      WireCapture capture = capture(worlds, "tos.pcapng");
      Endpoint[] ends = connect(worlds, new ConnectionAttributes(14, 7, 7, 12, 16, 16, 0x6a));
      ends[0].rdmaWrite(ends[1], 0, 0, 3_000).post();
      assertThat(ends[0].pollSend().isError()).isFalse();
      capture.close();
      assertThat(world.runUntil(() -> true)).isTrue();
    }
    assertThat(Flows.problems(folder.resolve("tos.pcapng"), f -> classes.add(f.trafficClass())))
        .isEmpty();
    // Those that arrived among them: the system handed their traffic class over.
    assertThat(classes).containsExactly(0x6a);
  }

  @Test
  void a_guest_sees_the_source_port_that_linux_would_choose() throws IOException {
    WireWorlds worlds = world(Framing.ETHERNET_4, WireFaults.NONE);
    Set<Integer> ports = new HashSet<>();
    int expected;
    try (SoftWorld world = worlds.world) {
      WireCapture capture = capture(worlds, "ports.pcapng");
      Endpoint[] ends = connect(worlds, QUICK);
      expected =
          UdpHeader.connectionSourcePort(ends[0].queuePair.number(), ends[1].queuePair.number());
      ends[1].rdmaWrite(ends[0], 0, 0, 3_000).post();
      assertThat(ends[1].pollSend().isError()).isFalse();
      capture.close();
      assertThat(world.runUntil(() -> true)).isTrue();
    }
    assertThat(
            Flows.problems(
                folder.resolve("ports.pcapng"), f -> ports.add(UdpHeader.sourcePort(f.udp))))
        .isEmpty();
    assertThat(ports).containsExactly(expected);
  }

  /** Every packet meets one of the fates, by a seed. */
  private static final class Misery implements WireFaults {
    final Map<Fate, Integer> done = new EnumMap<>(Fate.class);
    private final SplittableRandom random;
    private final int oneIn;

    Misery(long seed, int oneIn) {
      random = new SplittableRandom(seed);
      this.oneIn = oneIn;
    }

    @Override
    public Fate fate(dev.doorbell.softhca.packet.Packet packet, boolean leaving) {
      if (random.nextInt(oneIn) != 0) {
        return Fate.PASS;
      }
      Fate[] all = leaving ? Fate.values() : new Fate[] {Fate.DROP, Fate.DUPLICATE};
      Fate fate = all[random.nextInt(all.length)];
      done.merge(fate, 1, Integer::sum);
      return fate;
    }

    long of(WireFaults.Fate fate) {
      return done.getOrDefault(fate, 0);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Framing.class,
      names = {"UDP_4", "ETHERNET_4"})
  void loss_duplication_corruption_and_reordering_do_not_reach_memory(Framing framing) {
    Misery misery = new Misery(11, 12);
    WireWorlds worlds = world(framing, misery);
    try (SoftWorld world = worlds.world) {
      assertThat(world).isNotNull();
      Endpoint[] ends = connect(worlds, QUICK);
      traffic(worlds, new Endpoint[] {ends[1], ends[0]}, 5, 40);
      for (WireFaults.Fate fate : WireFaults.Fate.values()) {
        assertThat(fate == WireFaults.Fate.PASS ? 1 : misery.of(fate))
            .as("times of %s", fate)
            .isPositive();
      }
      // The last of them may still be under way.
      world.runUntil(() -> badIcrc(worlds) >= misery.of(WireFaults.Fate.CORRUPT));
      assertThat(badIcrc(worlds)).isEqualTo(misery.of(WireFaults.Fate.CORRUPT));
    }
  }

  private static long badIcrc(WireWorlds worlds) {
    return worlds.wires.stream().mapToLong(wire -> wire.counters().badIcrc()).sum();
  }

  @Test
  void what_strangers_send_is_counted_and_changes_nothing() throws IOException {
    WireWorlds worlds = world(Framing.UDP_4, WireFaults.NONE);
    long seed = 23;
    SplittableRandom random = new SplittableRandom(seed);
    try (SoftWorld world = worlds.world;
        DatagramSocket stranger = new DatagramSocket()) {
      Endpoint[] ends = connect(worlds, QUICK);
      int port = worlds.wires.get(1).port();
      int datagrams = 200;
      for (int i = 0; i < datagrams; i++) {
        byte[] noise = new byte[i == 0 ? 60_000 : random.nextInt(5_000)];
        random.nextBytes(noise);
        stranger.send(
            new DatagramPacket(noise, noise.length, InetAddress.getLoopbackAddress(), port));
        world.settle();
      }
      RoceWire wire = worlds.wires.get(1);
      world.runUntil(() -> wire.counters().malformed() + wire.counters().badIcrc() >= datagrams);
      WireCounters counters = wire.counters();
      assertThat(counters.malformed() + counters.badIcrc())
          .as("seed %d", seed)
          .isEqualTo(datagrams);
      assertThat(counters.framesIn()).isZero();
      traffic(worlds, ends, 6, 2);
    }
  }

  @Test
  void a_message_larger_than_the_socket_takes_at_once_arrives_whole() {
    WireWorlds worlds = world(Framing.UDP_4, WireFaults.NONE);
    try (SoftWorld world = worlds.world) {
      assertThat(world).isNotNull();
      Endpoint[] ends = connect(worlds, QUICK);
      byte[] payload = new byte[1 << 20];
      new SplittableRandom(8).nextBytes(payload);
      ends[0].buffer.putBytes(0, payload);
      ends[0].rdmaWrite(ends[1], 0, 0, payload.length).post();
      assertThat(ends[0].pollSend().opcode()).isEqualTo(Cqe.REQUESTER);
      assertThat(ends[1].buffer.getBytes(0, payload.length)).isEqualTo(payload);
    }
  }

  @Test
  void refusals_say_what_to_do() {
    TimedFabric virtual = new TimedFabric(RoundTopology.sameSwitch(), 1);
    assertThatThrownBy(
            () -> RoceWire.udp(virtual, Locus.nic(0, 0), WireWorlds.LOOPBACK, 0, WireFaults.NONE))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("use the direct fabric");
    virtual.close();
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1 << 20), 0);
        RoceWire wire =
            RoceWire.udp(fabric, Locus.nic(0, 0), WireWorlds.LOOPBACK, 0, WireFaults.NONE)) {
      assertThatThrownBy(
              () ->
                  RoceWire.udp(
                      fabric, Locus.nic(0, 0), WireWorlds.LOOPBACK, wire.port(), WireFaults.NONE))
          .isInstanceOf(HcaException.class)
          .hasMessageContaining("another process may have it");
      assertThatThrownBy(() -> WireAddress.parse("somewhere"))
          .isInstanceOf(HcaException.class)
          .hasMessageContaining("is no GID");
      assertThat(WireAddress.parse("[fe80::1]:5000")).hasToString("[fe80::1]:5000");
      assertThat(WireAddress.parse("10.0.0.1:5000")).hasToString("10.0.0.1:5000");
      assertThat(WireAddress.parse("10.0.0.1")).hasToString("10.0.0.1");
    }
  }
}
