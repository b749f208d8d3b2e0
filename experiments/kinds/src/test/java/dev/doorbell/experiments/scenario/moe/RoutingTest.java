package dev.doorbell.experiments.scenario.moe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class RoutingTest {
  private static int[] loads(Routing routing) {
    int[] loads = new int[routing.experts()];
    for (int[] row : routing.counts()) {
      for (int expert = 0; expert < row.length; expert++) {
        loads[expert] += row[expert];
      }
    }
    return loads;
  }

  @Test
  void uniform_routing_loads_all_experts_about_equally_and_zipf_does_not() {
    int[] uniform = loads(Routing.uniform(8, 128, 4, 32, 1));
    int[] zipf = loads(Routing.zipf(8, 128, 4, 32, 1));
    assertThat(Arrays.stream(uniform).sum()).isEqualTo(8 * 128 * 4);
    assertThat(Arrays.stream(uniform).min().orElseThrow()).isGreaterThan(90);
    assertThat(Arrays.stream(uniform).max().orElseThrow()).isLessThan(170);
    assertThat(Arrays.stream(zipf).max().orElseThrow())
        .isGreaterThan(8 * Arrays.stream(zipf).min().orElseThrow());
  }

  @Test
  void the_experts_of_a_token_are_all_different() {
    Routing routing = Routing.zipf(2, 64, 8, 8, 3);
    for (int rank = 0; rank < 2; rank++) {
      int[] chosen = routing.chosen(rank);
      for (int token = 0; token < 64; token++) {
        int[] of = Arrays.copyOfRange(chosen, token * 8, token * 8 + 8);
        assertThat(Arrays.stream(of).distinct().count()).isEqualTo(8);
      }
    }
  }

  @Test
  void fp8_is_the_nearest_number_and_ties_go_to_the_even_one() {
    assertThat(Quantiser.fromFp8(Quantiser.toFp8(448))).isEqualTo(448);
    assertThat(Quantiser.fromFp8(Quantiser.toFp8(1000))).isEqualTo(448);
    assertThat(Quantiser.fromFp8(Quantiser.toFp8(17))).isEqualTo(16);
    assertThat(Quantiser.fromFp8(Quantiser.toFp8(19))).isEqualTo(20);
    assertThat(Quantiser.fromFp8(Quantiser.toFp8(-0x1p-9f))).isEqualTo(-0x1p-9f);
    assertThat(Quantiser.fromFp8(Quantiser.toFp8(0x1p-10f))).isZero();
  }
}
