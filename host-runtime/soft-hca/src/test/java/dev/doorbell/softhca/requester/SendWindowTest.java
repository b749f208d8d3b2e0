package dev.doorbell.softhca.requester;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.softhca.packet.Wire;
import dev.doorbell.softhca.packet.Wire.Route;
import dev.doorbell.softhca.packet.Wire.Station;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The congestion window and the retransmission timeout. */
class SendWindowTest {
  private static final int MTU = 256;
  private static final int WINDOW = 16;
  private static final long FIRST_RETRY = 100_000;

  /** A wire without members that bounds unacknowledged packets. */
  private static final class BoundedWire extends Wire {
    @Override
    public @Nullable Route route(Station from, String to) {
      return null;
    }

    @Override
    public @Nullable Route route(Station from, long gidHigh, long gidLow) {
      return null;
    }

    @Override
    public long @Nullable [] gid(String name) {
      return null;
    }

    @Override
    public int window(int payloadBytes) {
      return WINDOW;
    }

    @Override
    public void leave(Station station) {}

    @Override
    public String members() {
      return "";
    }
  }

  @Test
  void losses_close_the_window_and_acknowledgements_open_it_again() {
    SendWindow window = new SendWindow(new BoundedWire(), MTU, FIRST_RETRY);
    assertThat(window.packets(MTU)).isEqualTo(WINDOW);
    window.onLoss(WINDOW);
    assertThat(window.packets(MTU)).isEqualTo(SendWindow.SMALLEST);
    window.onAck(4);
    assertThat(window.packets(MTU)).isEqualTo(SendWindow.SMALLEST);
    window.onAck(200);
    assertThat(window.packets(MTU)).isEqualTo(WINDOW);
  }

  @Test
  void the_timeout_follows_round_trips_and_doubles_with_each_expiry() {
    SendWindow window = new SendWindow(new BoundedWire(), MTU, FIRST_RETRY);
    long timeout = 1_000 * FIRST_RETRY;
    assertThat(window.ackTimeoutNanos(timeout)).isEqualTo(FIRST_RETRY);
    window.measure(5, 0);
    assertThat(window.isMeasuredBy(4)).isFalse();
    assertThat(window.isMeasuredBy(7)).isTrue();
    window.measured(2 * FIRST_RETRY);
    // The first measurement's deviation is half of it.
    assertThat(window.ackTimeoutNanos(timeout)).isEqualTo(6 * FIRST_RETRY);
    window.onTimeout(3);
    assertThat(window.ackTimeoutNanos(timeout)).isEqualTo(12 * FIRST_RETRY);
    for (int i = 0; i < 40; i++) {
      window.onTimeout(3);
    }
    assertThat(window.ackTimeoutNanos(timeout)).isEqualTo(timeout);
    assertThat(window.clearTimeouts()).isTrue();
    assertThat(window.ackTimeoutNanos(timeout)).isEqualTo(6 * FIRST_RETRY);
  }
}
