package dev.doorbell.core.fabric.timed.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CalendarTest {
  @Test
  void work_follows_work() {
    Calendar calendar = new Calendar();
    assertThat(calendar.book(10, 5, 0)).isEqualTo(15);
    assertThat(calendar.book(10, 5, 0)).isEqualTo(20);
    assertThat(calendar.started()).isEqualTo(15);
  }

  @Test
  void who_arrives_before_what_is_booked_uses_the_time_until_then() {
    Calendar calendar = new Calendar();
    calendar.book(100, 10, 0);
    assertThat(calendar.book(90, 5, 0)).isEqualTo(95);
    assertThat(calendar.book(90, 10, 0)).isEqualTo(115);
    assertThat(calendar.started()).isEqualTo(95);
  }

  @Test
  void no_moment_is_given_twice_and_none_is_wasted() {
    for (long seed = 1; seed <= 300; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Calendar calendar = new Calendar();
      BitSet busy = new BitSet();
      int now = 0;
      for (int i = 0; i < 300; i++) {
        now += random.nextInt(8);
        int earliest = now + random.nextInt(200);
        int work = random.nextInt(12);
        int expectedStart = busy.nextClearBit(earliest);
        int at = earliest;
        for (int left = work; left > 0; left--) {
          at = busy.nextClearBit(at);
          busy.set(at++);
        }
        long end = calendar.book(earliest, work, now);
        if (work > 0) {
          assertThat(end).as("seed %d, booking %d", seed, i).isEqualTo(at);
          assertThat(calendar.started())
              .as("seed %d, booking %d", seed, i)
              .isEqualTo(expectedStart);
        }
      }
    }
  }
}
