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
    EventQueue queue = new EventQueue();
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
        assertThat(queue.nextTime())
            .as("seed %d, step %d", seed, step)
            .isEqualTo(first == null ? Long.MAX_VALUE : first.time());
        assertThat(queue.poll()).as("seed %d, step %d", seed, step).isSameAs(first);
        if (first != null) {
          clock = first.time();
          waiting.remove(first);
          idle.add(first);
        }
      }
      assertThat(queue.size()).isEqualTo(waiting.size());
    }
  }

  private static final int RANKS = 6;
  private static final long LOOKAHEAD = 500;

  /** What a rank did, as a text; each does things of its own, and now and then tells another. */
  private static final class Ranks {
    private final EventQueue queue = new EventQueue();
    private final List<StringBuilder> done = new ArrayList<>();
    private final List<SplittableRandom> random = new ArrayList<>();
    private int overtaken;

    private final class Turn extends Event {
      private final int rank;
      private final boolean thread;
      private final String name;

      Turn(int rank, boolean thread, String name) {
        super(queue.rank(rank), thread);
        this.rank = rank;
        this.thread = thread;
        this.name = name;
      }

      @Override
      protected void fire() {
        if (queue.nextTime() < time()) {
          overtaken++;
        }
        done.get(rank).append(name).append('@').append(time()).append(' ');
        SplittableRandom own = random.get(rank);
        if (!thread && own.nextInt(4) == 0) {
          int other = own.nextInt(RANKS);
          // Odd times, so that no two of different ranks fall together.
          long late = LOOKAHEAD + own.nextInt(300) * 1000L + 2L * rank + 1;
          queue.schedule(new Turn(other, false, "message" + rank), time() + late);
        }
        queue.schedule(this, time() + (1 + own.nextInt(thread ? 3 : 90)) * 20L);
      }
    }

    Ranks(long seed, long lookahead, long until) {
      for (int rank = 0; rank < RANKS; rank++) {
        done.add(new StringBuilder());
        random.add(new SplittableRandom(seed * RANKS + rank));
      }
      for (int rank = 0; rank < RANKS; rank++) {
        for (int thread = 0; thread < 4; thread++) {
          queue.schedule(new Turn(rank, thread > 0, "t" + thread), 7L * thread);
        }
      }
      queue.lookahead(lookahead, until);
      Event event = queue.poll();
      while (event != null && event.time() <= until) {
        queue.fire(event);
        event = queue.poll();
      }
      queue.catchUp();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void ranks_that_run_ahead_do_what_they_do_in_the_order_of_time(long seed) {
    Ranks inOrder = new Ranks(seed, 0, 100_000);
    Ranks ahead = new Ranks(seed, LOOKAHEAD, 100_000);

    assertThat(inOrder.overtaken).isZero();
    assertThat(ahead.overtaken).as("seed %d", seed).isPositive();
    for (int rank = 0; rank < RANKS; rank++) {
      assertThat(ahead.done.get(rank).toString())
          .as("rank %d, seed %d", rank, seed)
          .isEqualTo(inOrder.done.get(rank).toString());
    }
    assertThat(ahead.queue.fired()).isEqualTo(inOrder.queue.fired());
    assertThat(ahead.queue.clock()).isEqualTo(inOrder.queue.clock());
  }

  private static long time(SplittableRandom random, long clock, long spread) {
    long from = random.nextInt(100) == 0 ? 0 : clock;
    return from + random.nextLong(random.nextInt(4) == 0 ? spread : Math.min(spread, 700));
  }
}
