package dev.doorbell.push.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.RoundTopology;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.push.network.Network.Host;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions.Marking;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions.Pause;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SwitchTest {
  private static final int FRAME = 1_000;

  private final TimedFabric fabric = new TimedFabric(RoundTopology.sameSwitch(), 1);
  private final List<String> log = new ArrayList<>();

  private static final class Bytes extends Frame {
    Bytes(int source, int destination) {
      super(source, destination, FRAME, 0, false);
    }
  }

  /** Notes what comes. */
  private final class Listener implements Host {
    private final String name;

    Listener(String name) {
      this.name = name;
    }

    @Override
    public void arrive(Frame frame) {
      log.add("%s %d%s".formatted(name, fabric.now(), frame.congested() ? " marked" : ""));
    }

    @Override
    public void pause(boolean paused) {
      log.add("%s %s %d".formatted(name, paused ? "pause" : "resume", fabric.now()));
    }
  }

  private SwitchedNetwork make(int buffer, Marking marking, Pause pause) {
    SwitchedNetwork made =
        new SwitchedNetwork(
            fabric,
            Locus.nic(0, 0),
            NetworkPlan.single(3),
            QueueOptions.shared(10, 100, buffer, marking, pause),
            1);
    made.attach(new Listener("a"));
    made.attach(new Listener("b"));
    made.attach(new Listener("c"));
    return made;
  }

  private void settle() {
    fabric.run(() -> false, 1_000_000);
  }

  @AfterEach
  void close() {
    fabric.close();
  }

  @Test
  void a_frame_takes_two_cables_and_its_time_on_the_port() {
    SwitchedNetwork made = make(1 << 20, Marking.NONE, Pause.NONE);
    made.send(new Bytes(0, 2));
    settle();
    assertThat(log).containsExactly("c 300");
  }

  @Test
  void frames_from_two_hosts_leave_one_port_one_after_the_other() {
    SwitchedNetwork made = make(1 << 20, Marking.NONE, Pause.NONE);
    made.send(new Bytes(0, 2));
    made.send(new Bytes(1, 2));
    made.send(new Bytes(0, 1));
    settle();
    assertThat(log).containsExactly("c 300", "b 300", "c 400");
  }

  @Test
  void what_finds_the_shared_buffer_full_is_lost_whoever_fills_it() {
    SwitchedNetwork made = make(2 * FRAME, Marking.NONE, Pause.NONE);
    made.send(new Bytes(0, 2));
    made.send(new Bytes(0, 2));
    made.send(new Bytes(1, 0));
    settle();
    assertThat(log).containsExactly("c 300", "c 400");
    assertThat(made.counters().lost()).isEqualTo(1);
  }

  @Test
  void a_frame_behind_a_long_queue_is_marked() {
    SwitchedNetwork made = make(1 << 20, Marking.above(FRAME), Pause.NONE);
    for (int i = 0; i < 3; i++) {
      made.send(new Bytes(0, 2));
    }
    settle();
    assertThat(log).containsExactly("c 300", "c 400", "c 500 marked");
    assertThat(made.counters().marked()).isEqualTo(1);
  }

  @Test
  void a_host_that_fills_the_buffer_is_paused_and_let_go_on() {
    SwitchedNetwork made = make(1 << 20, Marking.NONE, new Pause(2 * FRAME, FRAME));
    for (int i = 0; i < 3; i++) {
      made.send(new Bytes(0, 2));
    }
    made.send(new Bytes(1, 2));
    settle();
    // The third frame is one too many at 100; a has one left when its second has left, at 300.
    assertThat(log)
        .containsExactly("a pause 200", "c 300", "a resume 400", "c 400", "c 500", "c 600");
    assertThat(made.counters().pauses()).isEqualTo(1);
  }
}
