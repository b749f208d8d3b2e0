package dev.doorbell.core.fabric.timed.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The queue against a list that is searched. */
class EventQueueTest {
  private static final class Numbered extends Event {
    private long scheduledAs;

    @Override
    protected void fire() {}
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void events_come_by_time_and_those_of_one_moment_as_they_were_scheduled(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    // Times of one bucket, of some, of the whole calendar, and of far beyond it; from the time of
    // the last event on, and, every now and then, from before it.
    long spread = List.of(50L, 5_000L, 2_000_000L, 1L << 40).get((int) (seed % 4));
    long clock = 0;
    Simulation simulation = new Simulation();
    EventQueue queue = simulation.newQueue();
    List<Numbered> waiting = new ArrayList<>();
    List<Numbered> idle = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      idle.add(new Numbered());
    }
    Comparator<Numbered> order =
        Comparator.<Numbered>comparingLong(event -> event.time())
            .thenComparingLong(event -> event.scheduledAs);
    for (int step = 0; step < 20_000; step++) {
      int choice = random.nextInt(10);
      if (choice < 5 && !idle.isEmpty()) {
        Numbered event = idle.remove(random.nextInt(idle.size()));
        event.scheduledAs = step;
        queue.schedule(event, time(random, clock, spread));
        waiting.add(event);
      } else if (choice < 6 && !waiting.isEmpty()) {
        Numbered moved = waiting.get(random.nextInt(waiting.size()));
        moved.scheduledAs = step;
        queue.schedule(moved, time(random, clock, spread));
      } else if (choice < 7 && !waiting.isEmpty()) {
        Numbered gone = waiting.remove(random.nextInt(waiting.size()));
        queue.remove(gone);
        assertThat(gone.scheduled()).as("seed %d", seed).isFalse();
        idle.add(gone);
      } else {
        Numbered first = waiting.stream().min(order).orElse(null);
        assertThat(simulation.nextTime())
            .as("seed %d, step %d", seed, step)
            .isEqualTo(first == null ? Long.MAX_VALUE : first.time());
        assertThat(simulation.poll()).as("seed %d, step %d", seed, step).isSameAs(first);
        if (first != null) {
          clock = first.time();
          waiting.remove(first);
          idle.add(first);
        }
      }
      assertThat(simulation.size()).isEqualTo(waiting.size());
    }
  }

  private static long time(SplittableRandom random, long clock, long spread) {
    long from = random.nextInt(100) == 0 ? 0 : clock;
    return from + random.nextLong(random.nextInt(4) == 0 ? spread : Math.min(spread, 700));
  }
}
