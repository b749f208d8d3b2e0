package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.ArrivalListener;
import org.junit.jupiter.api.Test;

class ArrivalsTest {
  private final Arrivals arrivals = new Arrivals();
  private final ArrivalListener inbox = arrivals.in(0, 1000);

  private void meets(double expected) {
    assertThat(arrivals.steady().orElseThrow()).isCloseTo(expected, within(1e-9));
  }

  @Test
  void the_first_half_fills_the_pipeline_and_does_not_count() {
    for (long i = 0; i < 10; i++) {
      inbox.arrived(100 * i, 100, 9_000_000 + (i < 5 ? 70_000 * i : 280_000 + 50_000 * (i - 4)));
    }
    meets(0.1 / 50);
  }

  @Test
  void several_inboxes_have_one_steady_state() {
    ArrivalListener other = arrivals.in(5000, 1000);
    for (long i = 0; i < 10; i++) {
      inbox.arrived(100 * i, 100, 100_000 * i);
      other.arrived(5000 + 100 * i, 100, 50_000 + 100_000 * i);
    }
    meets(0.05 / 50);
  }

  @Test
  void what_arrives_elsewhere_is_left_out_and_one_arrival_is_no_steady_state() {
    inbox.arrived(-100, 100, 1_000_000);
    inbox.arrived(1000, 100, 2_000_000);
    assertThat(arrivals.steady()).isEmpty();
    inbox.arrived(0, 1000, 3_000_000);
    assertThat(arrivals.steady()).isEmpty();
  }

  @Test
  void times_are_rounded_so_that_no_rate_is_above_that_of_a_link() {
    inbox.arrived(0, 500, 1_900);
    inbox.arrived(500, 500, 3_100);
    meets(0.5 / 3);
  }
}
