package dev.doorbell.push.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.contract.RoundTopology;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.push.network.Network.Host;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions.Marking;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SwitchedNetworkTest {
  private static final int FRAME = 1_000;
  private static final double RATE = 10;

  private final TimedFabric fabric = new TimedFabric(RoundTopology.sameSwitch(), 1);
  private final DevicePort clock = fabric.attachDevice(Locus.nic(0, 0), budget -> 0);
  private final List<Sender> hosts = new ArrayList<>();

  private static final class Bytes extends Frame {
    final int number;

    Bytes(int source, int destination, int number, long flow) {
      super(source, destination, FRAME, flow, false);
      this.number = number;
    }
  }

  /** A host that sends at the rate of its port unless it is paused. */
  private final class Sender implements Host {
    final SwitchedNetwork network;
    final List<Bytes> got = new ArrayList<>();
    final ArrayDeque<Bytes> left = new ArrayDeque<>();
    long lastAt;
    boolean paused;
    boolean sending;

    Sender(SwitchedNetwork network) {
      this.network = network;
      network.attach(this);
    }

    void send(int from, int to, int count, long flow) {
      for (int i = 0; i < count; i++) {
        left.add(new Bytes(from, to, i, flow));
      }
      next();
    }

    private void next() {
      Bytes frame = paused ? null : left.peek();
      sending = frame != null;
      if (frame != null) {
        clock.timer(
            (long) (FRAME / RATE),
            ok -> {
              network.send(left.remove());
              next();
            });
      }
    }

    @Override
    public void arrive(Frame frame) {
      got.add((Bytes) frame);
      lastAt = fabric.now();
    }

    @Override
    public void pause(boolean stop) {
      paused = stop;
      if (!stop && !sending) {
        next();
      }
    }
  }

  private static QueueOptions queues(int buffer, Marking marking, int headroom) {
    return new QueueOptions(RATE, 100, 50, buffer, 1, marking, headroom, QueueOptions.Pause.NONE);
  }

  private SwitchedNetwork open(NetworkPlan plan, QueueOptions options) {
    SwitchedNetwork network = new SwitchedNetwork(fabric, Locus.nic(0, 0), plan, options, 1);
    for (int host = 0; host < plan.leaves().size(); host++) {
      hosts.add(new Sender(network));
    }
    return network;
  }

  @AfterEach
  void close() {
    fabric.close();
  }

  @ParameterizedTest
  @CsvSource({"switch,1", "leaf-spine,3", "rails,3", "fat-tree,5"})
  void a_frame_takes_each_cable_each_switch_and_each_port_of_its_way(String shape, int switches) {
    NetworkPlan plan =
        switch (shape) {
          case "switch" -> NetworkPlan.single(8);
          case "leaf-spine" -> NetworkPlan.leafSpine(8, 4, 2);
          case "rails" -> NetworkPlan.rails(8, 4, 2);
          default -> NetworkPlan.fatTree(8, 4);
        };
    open(plan, queues(1 << 20, Marking.NONE, 0));
    hosts.get(0).send(0, 7, 1, 0);
    fabric.run(() -> false, 1_000_000);
    long port = (long) (FRAME / RATE);
    assertThat(hosts.get(7).lastAt).isEqualTo(port + 100 + switches * (50 + port + 100L));
  }

  @Test
  void flows_of_different_number_use_all_spines_and_frames_of_one_stay_in_order() {
    open(NetworkPlan.leafSpine(16, 8, 4), queues(1 << 22, Marking.NONE, 0));
    for (int host = 0; host < 8; host++) {
      hosts.get(host).send(host, 8 + host, 100, host);
    }
    fabric.run(() -> false, 10_000_000);
    for (int host = 8; host < 16; host++) {
      assertThat(hosts.get(host).got).extracting(frame -> frame.number).isSorted().hasSize(100);
    }
    // Eight flows over four spines by hash: some share one, and one spine alone would take all of
    // 8.
    long slowest = hosts.stream().mapToLong(host -> host.lastAt).max().orElseThrow();
    assertThat(slowest).isBetween(100 * 100L, 5 * 100 * 100L);
  }

  @Test
  void without_pauses_an_incast_loses_what_the_dynamic_threshold_does_not_admit() {
    SwitchedNetwork network = open(NetworkPlan.single(5), queues(40 * FRAME, Marking.NONE, 0));
    for (int host = 1; host < 5; host++) {
      hosts.get(host).send(host, 0, 100, host);
    }
    fabric.run(() -> false, 10_000_000);
    assertThat(network.counters().lost()).isPositive();
    assertThat(network.counters().lost() + hosts.get(0).got.size()).isEqualTo(400);
    // One queue under alpha = 1 takes half of the buffer.
    assertThat(network.busiest().most()).isBetween(19L * FRAME, 20L * FRAME);
  }

  @ParameterizedTest
  @CsvSource({"4,1", "7,2", "15,4"})
  void with_pauses_and_headroom_nothing_is_lost_whatever_meets(int senders, int spines) {
    int headroom = QueueOptions.headroom(RATE, 100, 50, FRAME);
    SwitchedNetwork network =
        open(
            NetworkPlan.leafSpine(senders + 1, 4, spines),
            queues(30 * FRAME, Marking.NONE, headroom));
    for (int host = 1; host <= senders; host++) {
      hosts.get(host).send(host, 0, 60, host);
    }
    fabric.run(() -> false, 100_000_000);
    assertThat(network.counters().lost()).isZero();
    assertThat(network.counters().pauses()).isPositive();
    assertThat(hosts.get(0).got).hasSize(senders * 60);
  }

  @Test
  void a_headroom_that_is_too_small_loses() {
    SwitchedNetwork network = open(NetworkPlan.single(5), queues(20 * FRAME, Marking.NONE, FRAME));
    for (int host = 1; host < 5; host++) {
      hosts.get(host).send(host, 0, 60, host);
    }
    fabric.run(() -> false, 100_000_000);
    assertThat(network.counters().lost()).isPositive();
  }

  @Test
  void marks_begin_at_the_lower_threshold_and_everything_above_the_upper_one_is_marked() {
    SwitchedNetwork network =
        open(NetworkPlan.single(3), queues(1 << 20, new Marking(5 * FRAME, 20 * FRAME, 0.5), 0));
    hosts.get(1).send(1, 0, 60, 1);
    hosts.get(2).send(2, 0, 60, 2);
    fabric.run(() -> false, 10_000_000);
    List<Bytes> got = hosts.get(0).got;
    assertThat(got.subList(0, 8)).noneMatch(Frame::congested);
    assertThat(got.subList(60, 100)).allMatch(Frame::congested);
    assertThat(network.counters().marked()).isBetween(60L, 112L);
  }

  @Test
  void impossible_plans_are_refused() {
    assertThatThrownBy(() -> NetworkPlan.fatTree(17, 4)).hasMessageContaining("room for 16 hosts");
    assertThatThrownBy(() -> NetworkPlan.fatTree(2, 3)).hasMessageContaining("ports are even");
    NetworkPlan apart = new NetworkPlan("apart", 2, List.of(0, 1), List.of());
    assertThatThrownBy(
            () ->
                new SwitchedNetwork(
                    fabric, Locus.nic(0, 0), apart, queues(1 << 20, Marking.NONE, 0), 1))
        .hasMessageContaining("no way from switch");
  }
}
