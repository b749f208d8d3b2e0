package dev.doorbell.experiments.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.timed.machine.Link.Credits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BoundsTest {
  @Test
  void littles_law() {
    assertThat(Bounds.little(64, 512, 1000)).isCloseTo(32.77, within(0.005));
  }

  @ParameterizedTest
  @CsvSource({
    "0.7, 4, 8.7e-2", "0.7, 8, 1.8e-2", "0.7, 16, 1.0e-3", "0.7, 32, 3.3e-6",
    "0.9, 8, 7.03e-2", "0.9, 64, 1.2e-4", "0.95, 16, 3.8e-2", "0.99, 128, 3.8e-3",
    "1, 3, 0.25",
  })
  void a_ring_is_full_as_a_queue_of_poisson_arrivals_is(double load, int slots, double expected) {
    assertThat(Bounds.ringFull(load, slots)).isCloseTo(expected, within(expected * 0.03));
  }

  @ParameterizedTest
  @CsvSource({"64, 2, 32.8", "128, 5, 26.2", "256, 5, 52.4", "256, 50, 5.2", "1024, 20, 52.4"})
  void staging_is_bound_by_the_round_trip(int kibibytes, int micros, double expected) {
    assertThat(Bounds.staging(kibibytes * 1024L, micros * 1000.0, 0))
        .isCloseTo(expected, within(0.06));
  }

  @Test
  void posted_credits_bound_small_writes_more_than_large_ones() {
    Credits credits = new Credits(127, 444, 300);
    assertThat(Bounds.postedCredits(credits, 256)).isCloseTo(23.0, within(0.05));
    assertThat(Bounds.postedCredits(credits, 32)).isCloseTo(13.5, within(0.05));
  }

  @ParameterizedTest
  @CsvSource({"1, 28", "2, 92", "3, 156", "4, 220"})
  void inline_capacity(int blocks, int bytes) {
    assertThat(Bounds.inlineBytes(blocks)).isEqualTo(bytes);
  }

  @Test
  void a_batch_shares_its_fences() {
    double nanos = Bounds.post(80, 2828, 8);
    assertThat(nanos).isEqualTo(433.5);
    assertThat(1000 / nanos).isCloseTo(2.31, within(0.005));
  }

  @Test
  void two_straight_lines_meet_once() {
    assertThat(Bounds.crossover(1600, 27.76, 1100, 25.21))
        .isCloseTo(500 / (1 / 25.21 - 1 / 27.76), within(1e-6));
  }

  @ParameterizedTest
  @CsvSource({"512, 2, 20, 0.9275", "512, 2, 24, 0.9143", "512, 8, 20, 0.762", "32, 1, 24, 0.571"})
  void headers_take_their_share(long bytes, int tlps, int overhead, double expected) {
    assertThat(Bounds.efficiency(bytes, tlps, overhead)).isCloseTo(expected, within(0.0005));
  }
}
