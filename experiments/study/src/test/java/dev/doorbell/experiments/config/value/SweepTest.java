package dev.doorbell.experiments.config.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SweepTest {
  @Test
  void pow2_doubles_from_the_first_to_the_last() {
    assertThat(numbers("pow2(8,64)")).containsExactly(8L, 16L, 32L, 64L);
    assertThat(numbers("pow2(8, 1M)")).hasSize(18).startsWith(8L).endsWith(1L << 20);
  }

  @Test
  void pow2_stops_below_a_last_that_it_does_not_meet() {
    assertThat(numbers("pow2(3,20)")).containsExactly(3L, 6L, 12L);
  }

  @Test
  void range_counts_by_its_step() {
    assertThat(numbers("range(1,4)")).containsExactly(1L, 2L, 3L, 4L);
    assertThat(numbers("range(0,1K,512)")).containsExactly(0L, 512L, 1024L);
  }

  @Test
  void a_sweep_near_the_largest_number_ends() {
    assertThat(numbers("pow2(4611686018427387904,9223372036854775807)")).containsExactly(1L << 62);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "pow2(8)",
        "pow2(8,1,2)",
        "pow2(0,8)",
        "pow2(64,8)",
        "pow2(a,8)",
        "range(1,2,0)",
        "range(,)",
        "range(0,1G)",
        "range()",
        "4KB",
        "-1",
        "K",
        "99999999999999999999",
        ""
      })
  void what_cannot_be_expanded_is_explained(String text) {
    assertThat(Sweep.parse(text)).isInstanceOf(Sweep.Result.Wrong.class);
  }

  @ParameterizedTest
  @CsvSource({"0,0", "64,64", "4K,4096", "1M,1048576", "1G,1073741824"})
  void suffixes_are_powers_of_two(String text, long bytes) {
    assertThat(Sizes.parse(text)).hasValue(bytes);
  }

  @ParameterizedTest
  @CsvSource({"0,0 B", "8,8 B", "1023,1023 B", "1024,1 KiB", "1536,1536 B", "1048576,1 MiB"})
  void bytes_are_shown_in_the_largest_whole_unit(long bytes, String text) {
    assertThat(Sizes.bytes(bytes)).isEqualTo(text);
  }

  private static List<Long> numbers(String text) {
    return switch (Sweep.parse(text)) {
      case Sweep.Result.Numbers(List<Long> numbers) -> numbers;
      case Sweep.Result.Wrong(String reason) -> throw new AssertionError(reason);
    };
  }
}
