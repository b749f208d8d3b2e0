package dev.doorbell.core.problem;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NearestTest {
  private static final List<String> PATHS =
      List.of("pull", "pull.bf", "push.inline", "push.bf", "push.memic", "staged", "proxy");

  @Test
  void swapped_letters_in_one_part_of_a_name_are_near() {
    assertThat(Nearest.to("puhs", PATHS)).containsExactly("push.inline", "push.bf", "push.memic");
  }

  @Test
  void a_missing_letter_is_near() {
    assertThat(Nearest.to("stagd", PATHS)).containsExactly("staged");
  }

  @Test
  void the_start_of_a_name_is_near() {
    assertThat(Nearest.to("pro", PATHS)).contains("proxy");
  }

  @Test
  void a_name_with_a_part_left_out_is_near() {
    List<String> machines = List.of("h200-cx7", "h200-cx7-rc", "h200nvl-cx7-far", "same-switch");
    assertThat(Nearest.to("h200-far", machines)).startsWith("h200nvl-cx7-far");
    assertThat(Nearest.to("far-h200", machines)).isEmpty();
  }

  @Test
  void something_else_altogether_is_not_near() {
    assertThat(Nearest.to("bandwidth", PATHS)).isEmpty();
    assertThat(Nearest.suggestion("bandwidth", PATHS)).isEmpty();
  }

  @Test
  void distances_are_those_of_optimal_string_alignment() {
    assertThat(Nearest.distance("", "abc")).isEqualTo(3);
    assertThat(Nearest.distance("ca", "abc")).isEqualTo(3);
    assertThat(Nearest.distance("kitten", "sitting")).isEqualTo(3);
    assertThat(Nearest.distance("puhs", "push")).isEqualTo(1);
  }
}
