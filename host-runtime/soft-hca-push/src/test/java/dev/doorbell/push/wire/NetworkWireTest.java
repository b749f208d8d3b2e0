package dev.doorbell.push.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.FabricWorld;
import dev.doorbell.contract.RandomTraffic;
import dev.doorbell.contract.RoundTopology;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.push.network.NetworkPlan;
import dev.doorbell.push.network.SwitchedNetwork;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions.Marking;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions.Pause;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.WireFaults;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** HCAs over a switch in virtual time that loses packets, and a wire that hurts them. */
class NetworkWireTest {
  /** Slower than what it joins, so that its queues fill. */
  private static final QueueOptions SHALLOW =
      QueueOptions.shared(1, 200, 24 << 10, Marking.NONE, Pause.NONE);

  private static final int BURST = 256 << 10;

  private record Outcome(long digest, long nanos, long lost, long sent) {}

  /** Stands for every packet that left an HCA or came to one, with its time and payload. */
  private static final class Digest {
    private final TimedFabric fabric;
    private final CRC32C sum = new CRC32C();
    private long sent;

    Digest(TimedFabric fabric) {
      this.fabric = fabric;
    }

    WireFaults before(int side, WireFaults faults) {
      return (packet, leaving) -> {
        sent += leaving ? 1 : 0;
        sum.update(
            "%d %d %s %d %d %d %s %s;"
                .formatted(
                    fabric.now(),
                    side,
                    leaving,
                    packet.opcode,
                    packet.psn,
                    packet.destination,
                    packet.ackRequest,
                    packet.solicited)
                .getBytes(StandardCharsets.US_ASCII));
        for (int at = 0; at < packet.bytes; at++) {
          sum.update(RawMemory.getByte(packet.payload + at));
        }
        return faults.fate(packet, leaving);
      };
    }
  }

  private static WireFaults hurt(long seed, double chance) {
    SplittableRandom random = new SplittableRandom(seed);
    WireFaults.Fate[] fates = WireFaults.Fate.values();
    return (packet, leaving) -> {
      WireFaults.Fate fate = fates[random.nextInt(leaving ? fates.length : 3)];
      return random.nextDouble() < chance ? fate : WireFaults.Fate.PASS;
    };
  }

  private static Outcome run(long seed, double chance, int windowBytes) {
    TimedFabric fabric = new TimedFabric(RoundTopology.sameSwitch(), seed);
    Digest digest = new Digest(fabric);
    try (SwitchedNetwork between =
        new SwitchedNetwork(fabric, Locus.nic(0, 0), NetworkPlan.single(2), SHALLOW, seed)) {
      NetworkWire wire = new NetworkWire(between, 10, windowBytes);
      SoftHcaOptions options =
          SoftHcaOptions.DEFAULT.withEngine(
              SoftHcaOptions.DEFAULT.engine().withMtu(1024).withFirstRetry(50_000));
      SoftHca[] hcas = new SoftHca[2];
      for (int side = 0; side < 2; side++) {
        hcas[side] = new SoftHca(fabric, Locus.nic(side, 0), "soft" + side, options);
        wire.join(hcas[side], digest.before(side, hurt(seed + side, chance)));
      }
      try (FabricWorld world = new FabricWorld(fabric, hcas)) {
        Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
        Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
        Endpoint.connect(a, b, new ConnectionAttributes(14, 7, 7, 1, 16, 16, 0));
        new RandomTraffic(world, a, b, seed).run(40);
        a.rdmaWrite(b, 0, 0, BURST).post();
        assertThat(a.pollSend().isError()).isFalse();
        assertThat(b.buffer.getBytes(0, BURST)).isEqualTo(a.buffer.getBytes(0, BURST));
        return new Outcome(
            digest.sum.getValue(), fabric.now(), between.counters().lost(), digest.sent);
      }
    }
  }

  @Test
  void the_same_seed_gives_the_same_packets_at_the_same_times_and_another_gives_others() {
    Outcome once = run(5, 0.05, 8 << 10);
    assertThat(run(5, 0.05, 8 << 10)).isEqualTo(once);
    assertThat(run(6, 0.05, 8 << 10).digest()).isNotEqualTo(once.digest());
  }

  @Test
  void what_overruns_a_switch_is_lost_and_comes_again() {
    Outcome greedy = run(7, 0, 1 << 20);
    Outcome modest = run(7, 0, 8 << 10);
    assertThat(greedy.lost()).isPositive();
    assertThat(modest.lost()).isZero();
    assertThat(greedy.sent()).isGreaterThan(modest.sent());
  }
}
