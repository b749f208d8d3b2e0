package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.SoftWorld;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a connection over a wire to other processes lets in, and how much it sends at once. */
class WireGuardsTest {
  private static final int MIB = 1 << 20;

  /** ACK timeout of 1 ms, one retry. */
  private static final ConnectionAttributes IMPATIENT =
      new ConnectionAttributes(8, 1, 7, 12, 16, 16, 0);

  private static final ConnectionAttributes WITHOUT_TIMEOUT =
      new ConnectionAttributes(0, 7, 7, 12, 16, 16, 0);

  @Test
  void what_comes_from_another_gid_than_the_peers_is_dropped_and_counted() {
    WireWorlds worlds =
        WireWorlds.udp(WireWorlds.LOOPBACK, SoftHcaOptions.DEFAULT, WireFaults.NONE);
    try (SoftWorld world = worlds.world) {
      Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
      Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
      QueuePairAddress real = a.queuePair.address();
      QueuePairAddress believed =
          new QueuePairAddress("127.0.0.9", real.number(), real.startPsn(), real.mtu());
      a.queuePair.connect(b.queuePair.address(), Endpoint.ALL, IMPATIENT);
      b.queuePair.connect(believed, Endpoint.ALL, IMPATIENT);
      a.buffer.putLong(0, 0x1234);
      a.rdmaWrite(b, 0, 0, Long.BYTES).post();
      assertThat(a.pollSend().syndrome()).isEqualTo(Syndrome.TRANSPORT_RETRY_EXCEEDED);
      assertThat(b.buffer.getLong(0)).isZero();
      assertThat(((SoftHca) world.hca(1)).strangers()).isEqualTo(2);
      assertThat(((SoftHca) world.hca(0)).strangers()).isZero();
    }
  }

  @Test
  void no_more_leaves_without_an_acknowledgement_than_half_of_a_receive_buffer_holds() {
    WireFaults deaf = (packet, leaving) -> leaving ? WireFaults.Fate.PASS : WireFaults.Fate.DROP;
    WireWorlds worlds = WireWorlds.udp(WireWorlds.LOOPBACK, SoftHcaOptions.DEFAULT, deaf);
    try (SoftWorld world = worlds.world) {
      RoceWire wire = worlds.wires.getFirst();
      Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
      Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
      Endpoint.connect(a, b, WITHOUT_TIMEOUT);
      int window = wire.window(4096);
      int messages = window * 4096 / MIB + 2;
      for (int i = 0; i < messages; i++) {
        a.rdmaWrite(b, 0, 0, MIB).post();
      }
      assertThat(world.runUntil(() -> wire.counters().framesOut() >= window)).isTrue();
      int[] turns = {0};
      assertThat(world.runUntil(() -> ++turns[0] > 10_000)).isTrue();
      assertThat(wire.counters().framesOut()).isEqualTo(window);
      assertThat(wire.window(8)).isGreaterThan(4 * window);
    }
  }

  @Test
  void a_plan_strikes_packets_as_often_as_it_says() {
    FaultPlan plan =
        new FaultPlan(
            7,
            List.of(
                Fault.of(FaultAction.LOSE, FaultEvent.PACKET_SENT, FaultTrigger.at(0)),
                Fault.of(FaultAction.DUPLICATE, FaultEvent.PACKET_RECEIVED, FaultTrigger.at(1)),
                Fault.of(FaultAction.CORRUPT, FaultEvent.PACKET_SENT, FaultTrigger.at(3))));
    WireWorlds worlds =
        WireWorlds.udp(WireWorlds.LOOPBACK, SoftHcaOptions.DEFAULT, WireFaults.NONE);
    try (SoftWorld world = worlds.world) {
      FaultInjector planned = plan.bind(0, 0, world.fabric.now());
      world.soft(0).inject(planned);
      Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
      Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
      Endpoint.connect(a, b, new ConnectionAttributes(8, 7, 7, 12, 16, 16, 0));
      for (int i = 0; i < 8; i++) {
        a.buffer.putLong(0, i);
        a.rdmaWrite(b, 0, 0, Long.BYTES).post();
        assertThat(a.pollSend().isError()).isFalse();
        assertThat(b.buffer.getLong(0)).isEqualTo(i);
      }
      assertThat(FaultCount.total(plan, List.of(planned)))
          .extracting(FaultCount::fired)
          .containsExactly(1L, 1L, 1L);
      assertThat(worlds.wires.stream().mapToLong(w -> w.counters().badIcrc()).sum()).isEqualTo(1);
    }
  }
}
