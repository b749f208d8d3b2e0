package dev.doorbell.core.fabric.explore.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ClockTest {
  private static final int ACTORS = 300;

  @Test
  void copies_that_share_pages_are_as_independent_as_arrays() {
    SplittableRandom random = new SplittableRandom(7);
    List<Clock> clocks = new ArrayList<>(List.of(new Clock()));
    List<int[]> expected = new ArrayList<>(List.of(new int[ACTORS]));
    for (int i = 0; i < 4000; i++) {
      int one = random.nextInt(clocks.size());
      int other = random.nextInt(clocks.size());
      switch (random.nextInt(4)) {
        case 0 -> {
          clocks.add(clocks.get(one).copy());
          expected.add(expected.get(one).clone());
        }
        case 1 -> {
          clocks.get(one).join(clocks.get(other));
          for (int actor = 0; actor < ACTORS; actor++) {
            expected.get(one)[actor] =
                Math.max(expected.get(one)[actor], expected.get(other)[actor]);
          }
        }
        default -> {
          int actor = random.nextInt(ACTORS);
          clocks.get(one).set(actor, i + 1);
          expected.get(one)[actor] = i + 1;
        }
      }
    }
    for (int i = 0; i < clocks.size(); i++) {
      for (int actor = 0; actor < ACTORS; actor++) {
        assertThat(clocks.get(i).get(actor)).isEqualTo(expected.get(i)[actor]);
      }
    }
  }

  /** As arrays, these clocks would take 20 GB. */
  @Test
  void a_hundred_thousand_threads_of_a_launch_have_a_clock_each() {
    Clock launch = new Clock();
    launch.set(0, 5);
    List<Clock> threads = new ArrayList<>();
    Clock end = new Clock();
    for (int thread = 1; thread <= 100_000; thread++) {
      Clock own = launch.copy();
      own.set(thread, 1);
      threads.add(own);
      end.join(own);
    }
    assertThat(threads.getLast().get(0)).isEqualTo(5);
    assertThat(threads.getLast().covers(99_999, 1)).isFalse();
    assertThat(end.covers(99_999, 1)).isTrue();
  }
}
