package dev.doorbell.softhca.congestion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class DelayControlTest {
  private static final long TARGET = 10_000;
  private static final int MTU = 1_000;

  /** Begins with 50 packets. */
  private final DelayControl control = new DelayControl(5, TARGET, MTU, 10_000);

  @Test
  void a_round_trip_beyond_the_target_cuts_the_window_by_its_excess_once_a_round_trip() {
    control.onAcknowledged(1_000_000, 12_500, 1);
    long cut = control.windowBytes(0);
    assertThat((double) cut).isCloseTo(50 * MTU * (1 - 0.8 * 0.2), within(1.0));
    control.onAcknowledged(1_000_100, 12_500, 1);
    assertThat(control.windowBytes(0)).isEqualTo(cut);
    control.onAcknowledged(1_020_000, 12_500, 1);
    assertThat(control.windowBytes(0)).isLessThan(cut);
  }

  @Test
  void no_cut_is_more_than_half() {
    control.onAcknowledged(1_000_000, 1_000_000, 1);
    assertThat(control.windowBytes(0)).isEqualTo(25L * MTU);
  }

  @Test
  void below_the_target_a_window_grows_by_a_packet_a_round_trip() {
    control.onAcknowledged(1_000_000, 1_000_000, 1);
    for (int packet = 0; packet < 25; packet++) {
      control.onAcknowledged(1_000_000, 5_000, 1);
    }
    assertThat((double) control.windowBytes(0)).isCloseTo(26.0 * MTU, within(30.0));
  }

  @Test
  void below_one_packet_the_window_becomes_a_rate() {
    long now = 0;
    for (int i = 0; i < 10; i++) {
      now += 10_000_000;
      control.onAcknowledged(now, 1_000_000, 1);
    }
    assertThat(control.windowBytes(0)).isEqualTo(MTU);
    assertThat(control.bytesPerNano(now)).isLessThan(MTU / 1_000_000.0);
  }
}
