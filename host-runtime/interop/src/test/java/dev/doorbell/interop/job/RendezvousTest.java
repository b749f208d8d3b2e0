package dev.doorbell.interop.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.HostPort;
import dev.doorbell.interop.control.LineChannel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Processes of a job find each other, or learn who is missing. */
class RendezvousTest {
  private static final String HERE = "127.0.0.1";
  private static final long LONG = 60_000_000_000L;
  private static final long SHORT = 200_000_000L;

  private static RendezvousClient join(Rendezvous place, int size) throws EnvironmentException {
    return new RendezvousClient(place.place(), size, LONG);
  }

  private static void gather(Rendezvous place, RendezvousClient... members)
      throws EnvironmentException {
    boolean all = false;
    while (!all) {
      place.poll();
      all = true;
      for (RendezvousClient member : members) {
        all &= member.isComplete();
      }
    }
  }

  @Test
  void everybody_gets_the_values_of_all_in_the_order_of_ranks() throws EnvironmentException {
    try (Rendezvous place = new Rendezvous(new HostPort(HERE, 0), 3, LONG);
        RendezvousClient one = join(place, 3);
        RendezvousClient two = join(place, 3)) {
      for (String round : List.of("first", "second")) {
        two.start(round, 1, List.of(round + " b = %", ""));
        one.start(round, 0, List.of("a"));
        gather(place, one, two);
        assertThat(one.values()).containsExactly("a", round + " b = %", "");
        assertThat(two.values()).isEqualTo(one.values());
      }
    }
  }

  @Test
  void who_is_killed_between_two_rounds_is_noticed_before_the_next_one()
      throws EnvironmentException {
    try (Rendezvous place = new Rendezvous(new HostPort(HERE, 0), 2, LONG);
        RendezvousClient one = join(place, 2)) {
      LineChannel killed = place.place().connect(LONG);
      killed.send(
          ControlLine.of("gather")
              .with("round", "cards")
              .with("size", 2)
              .with("rank", 1)
              .with("value", "b"));
      one.start("cards", 0, List.of("a"));
      gather(place, one);
      one.requireAll();
      assertThat(place.isWhole()).isTrue();

      killed.close(); // as the kernel does for a process that is killed: without a word

      long end = System.nanoTime() + LONG;
      while (place.isWhole() && System.nanoTime() < end) {
        place.poll();
      }
      assertThat(place.isWhole()).isFalse();
      assertThatThrownBy(
              () -> {
                while (System.nanoTime() < end) {
                  one.requireAll();
                }
              })
          .isInstanceOf(EnvironmentException.class)
          .hasMessageContaining("rank 1 has left");
    }
  }

  @Test
  void who_does_not_come_in_time_is_named() throws EnvironmentException {
    try (Rendezvous place = new Rendezvous(new HostPort(HERE, 0), 4, SHORT);
        RendezvousClient one = join(place, 4)) {
      one.start("addresses", 1, List.of("b", "c"));
      assertThatThrownBy(() -> gather(place, one))
          .isInstanceOf(EnvironmentException.class)
          .hasMessageContaining("rank 0, 3 did not come");
    }
  }

  @Test
  void who_leaves_is_named_at_once() throws EnvironmentException {
    try (Rendezvous place = new Rendezvous(new HostPort(HERE, 0), 3, LONG);
        RendezvousClient one = join(place, 3)) {
      try (LineChannel killed = place.place().connect(LONG)) {
        killed.send(
            ControlLine.of("gather")
                .with("round", "x")
                .with("size", 3)
                .with("rank", 2)
                .with("value", ""));
        place.poll();
      }
      one.start("x", 0, List.of("a"));
      assertThatThrownBy(() -> gather(place, one))
          .isInstanceOf(EnvironmentException.class)
          .hasMessageContaining("rank 2 has left");
    }
  }

  @Test
  void a_rank_that_is_connected_already_and_another_size_are_refused() throws EnvironmentException {
    try (Rendezvous place = new Rendezvous(new HostPort(HERE, 0), 2, LONG);
        RendezvousClient one = join(place, 2);
        RendezvousClient twin = join(place, 2);
        RendezvousClient other = join(place, 5)) {
      one.start("x", 0, List.of("a"));
      // When this request is answered, the one before it has been handled.
      other.start("x", 1, List.of("b"));
      assertThatThrownBy(() -> gather(place, other)).isInstanceOf(EnvironmentException.class);
      twin.start("x", 0, List.of("a"));
      assertThatThrownBy(() -> gather(place, twin))
          .hasMessageContaining("rank 0 is connected already");
    }
  }
}
