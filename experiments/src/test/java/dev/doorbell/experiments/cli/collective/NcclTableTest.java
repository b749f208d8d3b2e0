package dev.doorbell.experiments.cli.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.collective.DataType;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
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

  /**
   * How public tools read the output of nccl-tests: rows follow the third line of the head and end
   * at the count of values out of bounds; columns are counted from the end of a row; of the average
   * they take the last word.
   */
  @Test
  void what_tools_read_of_a_table_are_its_numbers() {
    NcclTable table = new NcclTable(Collective.ALL_REDUCE, 4, DataType.FLOAT, "sum", 0);
    table.row(4096, OptionalDouble.of(1024), OptionalDouble.of(2048));
    table.row(8192, OptionalDouble.of(1024), OptionalDouble.of(4096));
    List<String> lines = table.end(0).lines().toList();
    int head = first(lines, "out-of-place");
    int bounds = first(lines, "Out of bounds values");
    assertThat(lines.subList(head, head + 3)).allMatch(line -> line.startsWith("#"));
    List<List<String>> rows =
        lines.subList(head + 3, bounds).stream().map(NcclTableTest::words).toList();
    assertThat(rows).hasSize(2).allSatisfy(row -> assertThat(row).hasSize(13));
    assertThat(rows).allMatch(row -> row.getFirst().matches("[0-9]+"));
    // all_reduce: size over time, times 2 (n - 1) / n.
    assertThat(rows).extracting(row -> fromEnd(row, 6)).containsExactly(6.0, 12.0);
    assertThat(rows).extracting(row -> fromEnd(row, 7)).containsExactly(4.0, 8.0);
    assertThat(rows).extracting(row -> fromEnd(row, 8)).containsExactly(1.02, 1.02);
    assertThat(rows).extracting(row -> fromEnd(row, 2)).containsExactly(3.0, 3.0);
    List<String> average = words(lines.get(first(lines, "# Avg bus bandwidth")));
    assertThat(fromEnd(average, 1)).isEqualTo(6.0);
  }

  private static int first(List<String> lines, String part) {
    return IntStream.range(0, lines.size())
        .filter(at -> lines.get(at).contains(part))
        .findFirst()
        .orElseThrow();
  }

  private static List<String> words(String line) {
    return List.of(line.strip().split(" +"));
  }

  private static double fromEnd(List<String> words, int place) {
    return Double.parseDouble(words.get(words.size() - place));
  }
}
