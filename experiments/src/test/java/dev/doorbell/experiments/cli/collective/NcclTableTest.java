package dev.doorbell.experiments.cli.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.collective.DataType;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** Columns are what nccl-tests defines. */
class NcclTableTest {
  @Test
  void bandwidths_are_those_of_nccl_tests_formulas() {
    // doc/PERFORMANCE.md: of all_gather, size is the whole buffer and the factor (n - 1) / n.
    NcclTable gather = new NcclTable(Collective.ALL_GATHER, 4, DataType.HALF, "sum", 0);
    gather.row(4096, OptionalDouble.of(1024), OptionalDouble.empty());
    assertThat(gather.end(0))
        .contains(
            "        4096           512      half    none      -1"
                + "     1.02    4.00    3.00      0      N/A     N/A     N/A    N/A")
        .contains("# Avg bus bandwidth    : 3.00000");
    NcclTable broadcast = new NcclTable(Collective.BROADCAST, 4, DataType.FLOAT, "sum", 2);
    broadcast.row(4096, OptionalDouble.of(102_400), OptionalDouble.of(2048));
    assertThat(broadcast.end(1))
        .contains(
            "        4096          1024     float    none       2"
                + "    102.4    0.04    0.04      0     2.05    2.00    2.00      0")
        .contains("# Out of bounds values : 1 FAILED");
  }
}
