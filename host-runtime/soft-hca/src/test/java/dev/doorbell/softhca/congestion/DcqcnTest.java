package dev.doorbell.softhca.congestion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** The reaction point against the equations of the paper. */
class DcqcnTest {
  private static final double LINE = 5;
  private static final double G = 1 / 256.0;
  private static final long PERIOD = 55_000;

  private final Dcqcn control = new Dcqcn(Dcqcn.Parameters.published(LINE));

  @Test
  void a_queue_pair_sends_at_line_rate_until_the_first_notification() {
    control.onSent(0, 4_096);
    assertThat(control.bytesPerNano(1_000_000_000)).isEqualTo(LINE);
  }

  @Test
  void the_first_notification_halves_the_rate_and_the_next_cuts_by_half_of_alpha() {
    control.onNotification(0);
    assertThat(control.bytesPerNano(0)).isEqualTo(LINE / 2);
    assertThat(control.alpha()).isEqualTo((1 - G) + G);
    control.onNotification(50_000);
    assertThat(control.bytesPerNano(50_000)).isEqualTo(LINE / 4);
  }

  @Test
  void alpha_decays_in_each_period_without_a_notification() {
    control.onNotification(0);
    control.bytesPerNano(3 * PERIOD);
    assertThat(control.alpha()).isCloseTo(Math.pow(1 - G, 3), within(1e-12));
  }

  @Test
  void fast_recovery_goes_half_way_back_five_times_and_then_adds_40_megabits_a_step() {
    control.onNotification(0);
    control.onNotification(1);
    double target = LINE / 2;
    double current = LINE / 4;
    for (int step = 1; step <= 5; step++) {
      current = (target + current) / 2;
      assertThat(control.bytesPerNano(1 + step * PERIOD)).isCloseTo(current, within(1e-12));
    }
    for (int step = 6; step <= 20; step++) {
      target += 0.005;
      current = (target + current) / 2;
      assertThat(control.bytesPerNano(1 + step * PERIOD)).isCloseTo(current, within(1e-12));
    }
  }

  @Test
  void when_timer_and_byte_counter_have_both_gone_far_steps_are_hyper() {
    control.onNotification(0);
    control.onNotification(1);
    long now = 1 + 10 * PERIOD;
    double before = control.bytesPerNano(now);
    for (int step = 0; step < 6; step++) {
      control.onSent(now, 10_000_000);
    }
    double additive = 0.005;
    assertThat(control.bytesPerNano(now) - before).isGreaterThan(10 * additive / 2);
  }

  @Test
  void back_at_line_rate_nothing_is_limited_and_alpha_begins_anew() {
    control.onNotification(0);
    long later = 1_000_000_000;
    assertThat(control.bytesPerNano(later)).isEqualTo(LINE);
    control.onNotification(later);
    assertThat(control.bytesPerNano(later)).isEqualTo(LINE / 2);
  }

  @Test
  void the_rate_has_a_least_value() {
    for (int i = 0; i < 100; i++) {
      control.onNotification(i);
    }
    assertThat(control.bytesPerNano(100)).isEqualTo(LINE / 1000);
  }

  @Test
  void impossible_parameters_are_refused() {
    assertThatThrownBy(() -> Dcqcn.Parameters.published(0))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
