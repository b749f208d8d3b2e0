package dev.doorbell.experiments.workbench.calibration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.workbench.calibration.LoadsTogether.LoadLadder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The number of loads under way, found again from rungs of threads that have so many. */
class LoadLadderTest {
  private static final double ROUND_TRIP = 1200;

  /** When a thread issues the last of {@code loads}: the next one waits for the oldest. */
  private static double issued(int loads, int inFlight, double each) {
    double[] at = new double[loads];
    double now = 0;
    for (int i = 0; i < loads; i++) {
      now += each;
      if (i >= inFlight) {
        now = Math.max(now, at[i - inFlight] + ROUND_TRIP);
      }
      at[i] = now;
    }
    return now;
  }

  private static List<Integer> climb(LoadLadder ladder, int inFlight, double each, double noise) {
    SplittableRandom random = new SplittableRandom(inFlight);
    List<Integer> tried = new ArrayList<>();
    for (int loads = ladder.next(); loads > 0; loads = ladder.next()) {
      tried.add(loads);
      double issued = issued(loads, inFlight, each) + random.nextDouble() * noise;
      ladder.add(loads, issued, issued + ROUND_TRIP);
    }
    return tried;
  }

  @Test
  void the_number_is_doubled_until_a_load_waits_and_then_halved_into_the_step() {
    LoadLadder ladder = new LoadLadder();

    assertThat(climb(ladder, 60, 2, 0)).containsExactly(1, 2, 4, 8, 16, 32, 64, 48, 56, 60, 62, 61);
    assertThat(ladder.inFlight()).isEqualTo(60);
    assertThat(ladder.bounded()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"2, 2", "3, 2", "7, 10", "31, 2", "32, 2", "33, 2", "60, 5", "100, 8", "127, 2"})
  void every_number_is_found_however_much_a_clock_errs(int inFlight, double each) {
    LoadLadder ladder = new LoadLadder();

    climb(ladder, inFlight, each, 5);

    assertThat(ladder.inFlight()).isEqualTo(inFlight);
    assertThat(ladder.bounded()).isTrue();
  }

  @Test
  void a_thread_that_waits_for_each_load_has_one_under_way_and_no_other_is_tried() {
    LoadLadder ladder = new LoadLadder();
    assertThat(ladder.next()).isEqualTo(1);

    ladder.add(1, ROUND_TRIP, ROUND_TRIP);

    assertThat(ladder.next()).isZero();
    assertThat(ladder.inFlight()).isEqualTo(1);
    assertThat(ladder.bounded()).isTrue();
  }

  @Test
  void where_none_waits_the_number_is_at_least_what_was_tried() {
    LoadLadder ladder = new LoadLadder();

    assertThat(climb(ladder, 1000, 2, 0)).endsWith(LoadLadder.MOST);
    assertThat(ladder.inFlight()).isEqualTo(LoadLadder.MOST);
    assertThat(ladder.bounded()).isFalse();
  }

  @Test
  void loads_that_are_back_before_the_next_ones_are_issued_are_no_bound() {
    LoadLadder ladder = new LoadLadder();

    climb(ladder, 60, ROUND_TRIP / 50, 0);

    assertThat(ladder.bounded()).isFalse();
  }

  @Test
  void what_an_h200_took_says_60_on_the_rungs_that_there_were() {
    // Cycles of papers/h200-prices/loads_in_flight.csv; nobody tried 61.
    LoadLadder ladder = new LoadLadder();
    int[][] rungs = {
      {1, 4, 2564},
      {2, 8, 2565},
      {4, 16, 2636},
      {8, 32, 2752},
      {16, 67, 2856},
      {32, 130, 2981},
      {48, 194, 3064},
      {56, 226, 3108},
      {60, 242, 3159},
      {62, 2796, 5478},
      {64, 2827, 5613},
      {128, 5668, 8727}
    };
    for (int[] rung : rungs) {
      ladder.add(rung[0], rung[1], rung[2]);
    }

    assertThat(ladder.inFlight()).isEqualTo(60);
    assertThat(ladder.next()).isEqualTo(61);
  }
}
