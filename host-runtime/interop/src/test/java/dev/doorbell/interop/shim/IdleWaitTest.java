package dev.doorbell.interop.shim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests the time for which the serving thread sleeps. */
final class IdleWaitTest {
  private static final long LONG_IDLE_NANOS = 2_000_000;
  private static final long LOOK_NANOS = LONG_IDLE_NANOS / 16;

  @Test
  void right_after_work_it_goes_on_where_a_core_is_free_and_else_sleeps_shortly() throws Exception {
    try (IdleWait wait = new IdleWait()) {
      assertThat(wait.nanos(0, true)).isIn(0L, 4_000L);
      assertThat(wait.nanos(LONG_IDLE_NANOS, false)).isEqualTo(10_000_000);
    }
  }

  @Test
  void it_sleeps_long_only_while_every_doorbell_wakes_it() throws Exception {
    try (IdleWait wait = new IdleWait()) {
      for (int message = 0; message < 16; message++) {
        assertThat(wait.nanos(LONG_IDLE_NANOS, true)).isEqualTo(LOOK_NANOS);
        wait.onMessage();
      }
      assertThat(wait.nanos(LONG_IDLE_NANOS, true)).isEqualTo(10_000_000);
      wait.onDoorbellWithoutMessage();
      assertThat(wait.nanos(LONG_IDLE_NANOS, true)).isEqualTo(LOOK_NANOS);
    }
  }
}
