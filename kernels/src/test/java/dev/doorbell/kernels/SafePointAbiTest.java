package dev.doorbell.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.queue.SafePointView;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The host's view of a safe point is what safe_point_abi.h says. */
class SafePointAbiTest {
  private static AbiHeader header;

  @BeforeAll
  static void read() throws IOException {
    header = AbiHeader.read("safe_point_abi.h");
  }

  @Test
  void structures_have_the_size_that_the_host_allocates() {
    assertThat(header.structs.keySet())
        .containsExactlyInAnyOrder("doorbell_safe_point", "doorbell_poster");
    assertThat(header.struct("doorbell_safe_point").bytes()).isEqualTo(SafePointView.BYTES);
    assertThat(header.struct("doorbell_poster").bytes()).isEqualTo(SafePointView.POSTER_BYTES);
  }

  @Test
  void constants_have_the_values_that_the_host_uses() {
    assertThat(header.constants)
        .containsOnly(
            Map.entry("DOORBELL_POSTER_SHIFT", (long) SafePointView.STATE_SHIFT),
            Map.entry("DOORBELL_POSTER_POSTING", (long) SafePointView.POSTING),
            Map.entry("DOORBELL_POSTER_WAITING", (long) SafePointView.WAITING),
            Map.entry("DOORBELL_POSTER_FAILED", (long) SafePointView.FAILED),
            Map.entry("DOORBELL_POSTER_ENDED", (long) SafePointView.ENDED),
            Map.entry("DOORBELL_SAFE_POINT_CLOSED", SafePointView.CLOSED));
  }

  @Test
  void fields_lie_where_the_host_looks_for_them() {
    AbiHeader.Struct point = header.struct("doorbell_safe_point");
    assertThat(point.offset("wanted")).isEqualTo(SafePointView.WANTED);
    assertThat(point.offset("granted")).isEqualTo(SafePointView.GRANTED);
    assertThat(point.offset("posters")).isEqualTo(SafePointView.POSTERS);
    AbiHeader.Struct poster = header.struct("doorbell_poster");
    assertThat(poster.offset("state")).isEqualTo(SafePointView.POSTER_STATE);
    assertThat(poster.offset("posted")).isEqualTo(SafePointView.POSTER_POSTED);
  }

  @Test
  void a_state_is_told_from_its_epoch() {
    long word = 5L << SafePointView.STATE_SHIFT | SafePointView.FAILED;
    assertThat(SafePointView.state(word)).isEqualTo(SafePointView.FAILED);
    assertThat(SafePointView.epoch(word)).isEqualTo(5);
  }
}
