package dev.doorbell.core.fabric.timed.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queues that take turns against the same ones beside each other, on several host threads. */
class SimulationTest {
  private static final int RANKS = 6;
  private static final long LOOKAHEAD = 500;
  private static final long UNTIL = 100_000;

  /** What a rank did, as a text; each does things of its own, and now and then tells another. */
  private static class Ranks {
    final Simulation simulation = new Simulation();
    final List<EventQueue> queues = new ArrayList<>();
    private final List<StringBuilder> done = new ArrayList<>();
    private final List<SplittableRandom> random = new ArrayList<>();

    /** Messages of different ranks may arrive at one instant. */
    private final boolean together;

    private final class Turn extends Event {
      private final int rank;
      private final boolean first;
      private final String name;

      Turn(int rank, boolean first, String name) {
        this.rank = rank;
        this.first = first;
        this.name = name;
      }

      @Override
      protected void fire() {
        done.get(rank).append(name).append('@').append(time()).append(' ');
        SplittableRandom own = random.get(rank);
        EventQueue queue = queues.get(rank);
        if (first && own.nextInt(4) == 0) {
          int other = own.nextInt(RANKS);
          long late =
              LOOKAHEAD
                  + own.nextInt(300) * (together ? 20L : 1000L)
                  + (together ? 0 : 2L * rank + 1);
          queue.send(queues.get(other), new Turn(other, false, "from" + rank), late);
        }
        if (!name.startsWith("from")) {
          queue.schedule(this, time() + (1 + own.nextInt(first ? 90 : 3)) * 20L);
        }
      }
    }

    Ranks(long seed, boolean together) {
      this.together = together;
      for (int rank = 0; rank < RANKS; rank++) {
        queues.add(simulation.newQueue());
        done.add(new StringBuilder());
        random.add(new SplittableRandom(seed * RANKS + rank));
      }
      for (int rank = 0; rank < RANKS; rank++) {
        for (int turn = 0; turn < 4; turn++) {
          queues.get(rank).schedule(new Turn(rank, turn == 0, "t" + turn), 7L * turn);
        }
      }
    }

    Ranks inOrder() {
      Event event = simulation.poll();
      while (event != null && event.time() < UNTIL) {
        simulation.fire(event);
        event = simulation.poll();
      }
      return this;
    }

    Ranks beside(int threads) {
      simulation.part();
      try (HostThreads host = HostThreads.enter(threads)) {
        for (long start = next(); start < UNTIL; start = next()) {
          long[] ends = new long[RANKS];
          Arrays.fill(ends, Math.min(UNTIL, start + LOOKAHEAD));
          simulation.window(start, ends, host);
        }
      } finally {
        simulation.join();
      }
      return this;
    }

    private long next() {
      return queues.stream().mapToLong(EventQueue::nextTime).min().orElseThrow();
    }

    List<String> done() {
      return done.stream().map(StringBuilder::toString).toList();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void ranks_beside_each_other_do_what_they_do_in_the_order_of_time(long seed) {
    Ranks inOrder = new Ranks(seed, false).inOrder();
    for (int threads = 1; threads <= 3; threads++) {
      Ranks beside = new Ranks(seed, false).beside(threads);
      assertThat(beside.done()).as("seed %d", seed).isEqualTo(inOrder.done());
      assertThat(beside.simulation.fired()).isEqualTo(inOrder.simulation.fired());
      assertThat(beside.simulation.clock()).isEqualTo(inOrder.simulation.clock());
    }
    assertThat(inOrder.done().toString()).contains("from");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void what_falls_together_has_the_same_order_on_any_number_of_host_threads(long seed) {
    Ranks alone = new Ranks(seed, true).beside(1);
    for (int threads = 2; threads <= 4; threads++) {
      Ranks several = new Ranks(seed, true).beside(threads);
      assertThat(several.done()).as("seed %d", seed).isEqualTo(alone.done());
      assertThat(several.simulation.fired()).isEqualTo(alone.simulation.fired());
      assertThat(several.simulation.size()).isEqualTo(alone.simulation.size());
    }
  }

  @Test
  void after_windows_the_queues_take_turns_again() {
    Ranks ranks = new Ranks(5, false).beside(2);
    long last = ranks.simulation.clock();
    for (int i = 0; i < 100; i++) {
      Event event = Objects.requireNonNull(ranks.simulation.poll());
      assertThat(event.time()).isGreaterThanOrEqualTo(last);
      last = event.time();
      ranks.simulation.fire(event);
    }
  }

  /** Calls something when it is fired. */
  private static final class Call extends Event {
    private final Runnable what;

    Call(Runnable what) {
      this.what = what;
    }

    @Override
    protected void fire() {
      what.run();
    }
  }

  /** Runs one window of 1000 over queues whose only events call these. */
  private static void window(int threads, Simulation simulation, List<EventQueue> queues) {
    simulation.part();
    try (HostThreads host = HostThreads.enter(threads)) {
      long[] ends = new long[queues.size()];
      Arrays.fill(ends, 1000);
      simulation.window(0, ends, host);
    } finally {
      simulation.join();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void what_an_event_throws_comes_out_and_others_end_their_window(int threads) {
    Simulation simulation = new Simulation();
    List<EventQueue> queues = new ArrayList<>();
    boolean[] ended = new boolean[RANKS];
    for (int rank = 0; rank < RANKS; rank++) {
      int number = rank;
      EventQueue queue = simulation.newQueue();
      queues.add(queue);
      queue.schedule(
          new Call(
              () -> {
                ended[number] = true;
                if (number >= 3) {
                  throw new IllegalStateException("rank " + number);
                }
              }),
          100 - number);
    }
    assertThatIllegalStateException()
        .isThrownBy(() -> window(threads, simulation, queues))
        .withMessage("rank 5");
    assertThat(ended).doesNotContain(false);
    assertThat(simulation.poll()).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void what_is_exclusive_is_done_in_the_order_of_time_before_the_next_event(int threads) {
    Simulation simulation = new Simulation();
    List<EventQueue> queues = new ArrayList<>();
    StringBuilder order = new StringBuilder();
    for (int rank = 0; rank < 3; rank++) {
      int number = rank;
      EventQueue queue = simulation.newQueue();
      queues.add(queue);
      Call next = new Call(() -> queue.exclusively(() -> order.append("next of ").append(number)));
      queue.schedule(next, 500);
      queue.schedule(
          new Call(
              () ->
                  queue.exclusively(
                      () -> order.append("%d at %d, ".formatted(number, queue.clock())))),
          100 - number);
    }
    window(threads, simulation, queues);
    assertThat(order).hasToString("2 at 98, 1 at 99, 0 at 100, ");
    assertThat(simulation.size()).isEqualTo(3);
  }

  @Test
  void a_message_that_is_faster_than_was_promised_is_an_error() {
    Simulation simulation = new Simulation();
    List<EventQueue> queues = List.of(simulation.newQueue(), simulation.newQueue());
    queues
        .getFirst()
        .schedule(
            new Call(() -> queues.getFirst().send(queues.getLast(), new Call(() -> {}), 999)), 0);
    assertThatThrownBy(() -> window(1, simulation, queues))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("sooner than was promised");
  }

  @Test
  void an_event_that_another_host_thread_schedules_is_an_error() {
    Simulation simulation = new Simulation();
    List<EventQueue> queues = List.of(simulation.newQueue());
    Throwable[] thrown = new Throwable[1];
    queues
        .getFirst()
        .schedule(
            new Call(
                () -> {
                  Thread other =
                      Thread.ofPlatform()
                          .uncaughtExceptionHandler((thread, e) -> thrown[0] = e)
                          .start(() -> queues.getFirst().schedule(new Call(() -> {}), 1));
                  try {
                    other.join(60_000);
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                }),
            0);
    window(1, simulation, queues);
    assertThat(thrown[0])
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("not sent");
  }
}
