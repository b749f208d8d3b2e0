package dev.doorbell.push.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.FabricWorld;
import dev.doorbell.contract.RoundTopology;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.push.network.NetworkPlan;
import dev.doorbell.push.network.SwitchedNetwork;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions.Marking;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.congestion.CongestionControl;
import dev.doorbell.softhca.congestion.CongestionOptions;
import dev.doorbell.softhca.congestion.CongestionPolicy;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.WireFaults;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Congestion control of queue pairs, with a policy of a user's own. */
class CongestionTest {
  private static final int BURST = 256 << 10;
  private static final double RATE = 10;

  /** Sends at a rate and counts what it is told. */
  private static final class Slow implements CongestionControl {
    final double rate;
    int sent;
    int acknowledged;
    final List<Long> notifications = new ArrayList<>();
    final List<Long> trips = new ArrayList<>();

    Slow(double rate) {
      this.rate = rate;
    }

    @Override
    public double bytesPerNano(long now) {
      return rate;
    }

    @Override
    public int ackInterval() {
      return 8;
    }

    @Override
    public void onSent(long now, int frameBytes) {
      sent += frameBytes;
    }

    @Override
    public void onNotification(long now) {
      notifications.add(now);
    }

    @Override
    public void onAcknowledged(long now, long roundTripNanos, int packets) {
      acknowledged += packets;
      if (roundTripNanos > 0) {
        trips.add(roundTripNanos);
      }
    }
  }

  private record Outcome(long nanos, List<Slow> controls, int cnps) {}

  /**
   * One write from HCA 0 to HCA 1 through a switch of half the HCAs' rate that marks above {@code
   * mark} bytes.
   *
   * @param rate of the policy; 0: none
   */
  private static Outcome write(double rate, int mark, long interval) {
    TimedFabric fabric = new TimedFabric(RoundTopology.sameSwitch(), 1);
    QueueOptions queues =
        new QueueOptions(
            RATE / 2, 100, 100, 1 << 20, 1, Marking.above(mark), 0, QueueOptions.Pause.NONE);
    try (SwitchedNetwork network =
        new SwitchedNetwork(fabric, Locus.nic(0, 0), NetworkPlan.single(2), queues, 1)) {
      NetworkWire wire = new NetworkWire(network, RATE, Integer.MAX_VALUE);
      List<Slow> controls = new ArrayList<>();
      int[] cnps = new int[1];
      CongestionPolicy policy =
          mtu -> {
            controls.add(new Slow(rate));
            return controls.getLast();
          };
      SoftHcaOptions options =
          SoftHcaOptions.DEFAULT
              .withEngine(SoftHcaOptions.DEFAULT.engine().withMtu(1024))
              .withCongestion(
                  rate > 0 ? CongestionOptions.of(policy, interval) : CongestionOptions.NONE);
      WireFaults count =
          (packet, leaving) -> {
            cnps[0] += leaving && packet.opcode == BthOpcode.CONGESTION_NOTIFICATION ? 1 : 0;
            return WireFaults.Fate.PASS;
          };
      SoftHca[] hcas = new SoftHca[2];
      for (int side = 0; side < 2; side++) {
        hcas[side] = new SoftHca(fabric, Locus.nic(side, 0), "soft" + side, options);
        wire.join(hcas[side], count);
      }
      try (FabricWorld world = new FabricWorld(fabric, hcas)) {
        Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
        Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
        Endpoint.connect(a, b, new ConnectionAttributes(14, 7, 7, 1, 16, 16, 0));
        long from = fabric.now();
        a.rdmaWrite(b, 0, 0, BURST).post();
        assertThat(a.pollSend().isError()).isFalse();
        assertThat(b.buffer.getBytes(0, BURST)).isEqualTo(a.buffer.getBytes(0, BURST));
        return new Outcome(fabric.now() - from, controls, cnps[0]);
      }
    }
  }

  @Test
  void requests_leave_at_the_rate_of_the_policy() {
    Outcome free = write(0, 1 << 19, 0);
    Outcome paced = write(RATE / 10, 1 << 19, 0);
    assertThat(paced.nanos()).isBetween(BURST * 10L / 10, BURST * 12L / 10 + 10_000);
    assertThat(free.nanos()).isLessThan(paced.nanos() / 3);
    int packets = BURST / 1024;
    assertThat(paced.controls())
        .anySatisfy(
            control -> {
              assertThat(control.acknowledged).isEqualTo(packets);
              assertThat(control.sent).isGreaterThan(BURST);
              assertThat(control.trips)
                  .hasSizeGreaterThan(packets / 16)
                  .allMatch(trip -> trip < 20_000);
              assertThat(control.notifications).isEmpty();
            });
  }

  @Test
  void marked_packets_are_answered_by_notifications_an_interval_apart() {
    Outcome marked = write(RATE, 0, 10_000);
    assertThat(marked.cnps()).isBetween(2, 7);
    assertThat(marked.controls())
        .anySatisfy(
            control -> {
              assertThat(control.notifications).hasSize(marked.cnps());
              for (int i = 1; i < control.notifications.size(); i++) {
                assertThat(control.notifications.get(i) - control.notifications.get(i - 1))
                    .isGreaterThanOrEqualTo(9_500);
              }
            });
  }

  @Test
  void without_congestion_control_nobody_answers_marks() {
    assertThat(write(0, 0, 0).cnps()).isZero();
  }
}
