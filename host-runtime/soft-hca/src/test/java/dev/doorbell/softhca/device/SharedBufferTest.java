package dev.doorbell.softhca.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.contract.RoundTopology;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.softhca.device.HcaTiming.HcaRates;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SharedBufferTest {
  private static final int QUANTUM = SharedBuffer.QUANTUM;

  private final TimedFabric fabric =
      new TimedFabric(RoundTopology.sameSwitch(), AddressSpace.reserve(1L << 24), 1);
  private final DevicePort port =
      fabric.attachDevice(
          Locus.nic(0, 0),
          new Agent() {
            @Override
            public int step(int budget) {
              return 0;
            }

            @Override
            public String where() {
              return "nothing";
            }
          });
  private final List<String> called = new ArrayList<>();

  private SharedBuffer.Turn turn(String name) {
    return new SharedBuffer.Turn(() -> called.add(name));
  }

  @Test
  void whoever_finds_no_room_has_its_turn_when_something_has_left() {
    SharedBuffer buffer = new SharedBuffer(port, 2 * QUANTUM);
    SharedBuffer.Turn first = turn("first");
    SharedBuffer.Turn second = turn("second");
    assertThat(buffer.take(first, QUANTUM)).isTrue();
    assertThat(buffer.take(first, QUANTUM)).isTrue();
    assertThat(buffer.take(first, QUANTUM)).isFalse();
    assertThat(buffer.take(second, 8)).isFalse();
    assertThat(second.waits()).isTrue();
    buffer.release(QUANTUM);
    assertThat(called).containsExactly("first");
    assertThat(buffer.take(first, QUANTUM)).isTrue();
    // It asks once more, and is behind the second now.
    assertThat(buffer.take(first, QUANTUM)).isFalse();
    buffer.release(QUANTUM);
    assertThat(called).containsExactly("first", "second");
    assertThat(buffer.take(second, 8)).isTrue();
    // What the second does not use of its turn is the first one's.
    buffer.end(second);
    assertThat(called).containsExactly("first", "second");
    buffer.release(8);
    assertThat(called).containsExactly("first", "second", "first");
  }

  @Test
  void room_comes_back_when_the_wire_has_taken_a_packet() {
    SharedBuffer buffer = new SharedBuffer(port, QUANTUM);
    SharedBuffer.Turn turn = turn("turn");
    assertThat(buffer.take(turn, QUANTUM)).isTrue();
    assertThat(buffer.take(turn, QUANTUM)).isFalse();
    buffer.leaves(QUANTUM, 170);
    assertThat(called).isEmpty();
    fabric.run(() -> false, 1_000);
    assertThat(fabric.now()).isEqualTo(170);
    assertThat(called).containsExactly("turn");
  }

  @Test
  void a_turn_that_is_cancelled_gives_way() {
    SharedBuffer buffer = new SharedBuffer(port, QUANTUM);
    SharedBuffer.Turn gone = turn("gone");
    SharedBuffer.Turn next = turn("next");
    assertThat(buffer.take(gone, QUANTUM)).isTrue();
    assertThat(buffer.take(gone, 8)).isFalse();
    assertThat(buffer.take(next, 8)).isFalse();
    buffer.cancel(gone);
    buffer.release(QUANTUM);
    assertThat(called).containsExactly("next");
    // A turn that was granted and not used comes back as well.
    SharedBuffer.Turn last = turn("last");
    assertThat(buffer.take(last, 8)).isFalse();
    buffer.cancel(next);
    assertThat(called).containsExactly("next", "last");
  }

  @Test
  void without_a_limit_nobody_waits_and_a_buffer_holds_a_packet_at_least() {
    SharedBuffer buffer = new SharedBuffer(port, 0);
    SharedBuffer.Turn turn = turn("turn");
    for (int i = 0; i < 10_000; i++) {
      assertThat(buffer.take(turn, QUANTUM)).isTrue();
    }
    assertThatThrownBy(() -> new HcaRates(0, 0, 0, 0, 0, 1, QUANTUM - 1, 0))
        .hasMessageContaining("4095");
  }
}
