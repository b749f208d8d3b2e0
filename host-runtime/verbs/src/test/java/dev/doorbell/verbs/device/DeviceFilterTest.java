package dev.doorbell.verbs.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** NCCL_IB_HCA's syntax, with the pitfalls that its users know. */
class DeviceFilterTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          mlx5            | mlx5_0  | 1 | true
          mlx5            | rxe0    | 1 | false
          mlx5_1          | mlx5_1  | 2 | true
          mlx5_1          | mlx5_10 | 1 | true
          =mlx5_1         | mlx5_10 | 1 | false
          =mlx5_1         | mlx5_1  | 1 | true
          mlx5_0:1,mlx5_2 | mlx5_0  | 1 | true
          mlx5_0:1,mlx5_2 | mlx5_0  | 2 | false
          mlx5_0:1,mlx5_2 | mlx5_2  | 2 | true
          mlx5_0:1,mlx5_2 | mlx5_1  | 1 | false
          ^mlx5_3         | mlx5_3  | 1 | false
          ^mlx5_3         | mlx5_30 | 1 | false
          ^=mlx5_3        | mlx5_30 | 1 | true
          ^=mlx5_3:2      | mlx5_3  | 1 | true
          ^=mlx5_3:2      | mlx5_3  | 2 | false
          """)
  void a_port_is_let_through_or_not(String filter, String device, int port, boolean passes) {
    assertThat(DeviceFilter.parse(filter).matches(device, port)).isEqualTo(passes);
  }

  @Test
  void no_filter_lets_everything_through() {
    assertThat(DeviceFilter.parse("").matches("rxe0", 1)).isTrue();
    assertThat(DeviceFilter.ALL).hasToString("any");
  }

  @ParameterizedTest
  @ValueSource(strings = {"^", "=", "^=", "=^mlx5_0", "mlx5_0,,mlx5_1", "mlx5_0,^mlx5_1", "mlx5 0"})
  void what_is_no_device_is_refused_with_how_to_write_it(String filter) {
    assertThatThrownBy(() -> DeviceFilter.parse(filter))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + filter + "'")
        .hasMessageContaining("write ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"mlx5_0:", "mlx5_0:0", "mlx5_0:256", "mlx5_0:a", "mlx5_0:1:1"})
  void what_is_no_port_is_refused_with_the_range(String filter) {
    assertThatThrownBy(() -> DeviceFilter.parse(filter))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 to 255");
  }
}
