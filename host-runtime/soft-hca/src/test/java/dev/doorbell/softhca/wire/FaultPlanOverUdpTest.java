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
import dev.doorbell.softhca.SoftWorld;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A fault plan over datagrams of the system: the same plan, the same words, real frames. */
class FaultPlanOverUdpTest {
  /** 4.2 ms until an ACK is missed. */
  private static final ConnectionAttributes QUICK =
      new ConnectionAttributes(10, 7, 7, 12, 16, 16, 0);

  @Test
  void packets_are_hurt_on_a_udp_wire_and_a_corrupt_one_has_a_wrong_icrc() {
    WireWorlds worlds =
        WireWorlds.udp(WireWorlds.LOOPBACK, SoftHcaOptions.DEFAULT, WireFaults.NONE);
    try (SoftWorld world = worlds.world) {
      Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
      Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
      Endpoint.connect(a, b, QUICK);
      FaultPlan plan =
          new FaultPlan(
              5,
              List.of(
                  of(FaultAction.CORRUPT, 3), of(FaultAction.LOSE, 5), of(FaultAction.REORDER, 9)));
      FaultInjector injector = plan.bind(0, 0, world.fabric.now());
      world.soft(0).inject(injector);
      byte[] payload = new byte[200_000];
      new Random(5).nextBytes(payload);
      a.buffer.putBytes(0, payload);
      a.rdmaWrite(b, 0, 500_000, payload.length).post();
      assertThat(a.pollSend().isError()).isFalse();
      assertThat(b.buffer.getBytes(500_000, payload.length)).isEqualTo(payload);
      assertThat(worlds.wires.get(1).counters().badIcrc()).isOne();
      assertThat(FaultCount.total(plan, List.of(injector)))
          .extracting(FaultCount::fired)
          .containsExactly(1L, 1L, 1L);
    }
  }

  private static Fault of(FaultAction action, long packet) {
    return Fault.of(action, FaultEvent.PACKET_SENT, FaultTrigger.at(packet)).with(2);
  }
}
