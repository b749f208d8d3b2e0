package dev.doorbell.experiments.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Columns are what nccl-tests defines. */
class NcclTableTest {
  @Test
  void bandwidths_are_those_of_nccl_tests_formulas() {
    // doc/PERFORMANCE.md: of all_gather, size is the whole buffer and the factor (n - 1) / n.
    NcclTable gather = new NcclTable(Collective.ALL_GATHER, 4, DataType.HALF, "sum", 0);
    gather.row(4096, OptionalDouble.of(1024), OptionalDouble.empty(), "");
    assertThat(gather.end(0))
        .contains(
            "        4096           512      half    none      -1"
                + "     1.02    4.00    3.00      0      N/A     N/A     N/A    N/A")
        .contains("# Avg bus bandwidth    : 3.00000");
    NcclTable broadcast = new NcclTable(Collective.BROADCAST, 4, DataType.FLOAT, "sum", 2);
    broadcast.row(4096, OptionalDouble.of(102_400), OptionalDouble.of(2048), "");
    assertThat(broadcast.end(1))
        .contains(
            "        4096          1024     float    none       2"
                + "    102.4    0.04    0.04      0     2.05    2.00    2.00      0")
        .contains("# Out of bounds values : 1 FAILED");
  }

  @Test
  void nothing_is_said_of_wrong_elements_where_none_was_compared() {
    NcclTable table = new NcclTable(Collective.ALL_REDUCE, 4, DataType.FLOAT, "sum", 0);
    OptionalDouble time = OptionalDouble.of(1024);
    table.row(4096, time, time, NcclTable.PREDICTED);
    assertThat(table.end(0))
        .contains("6.00    N/A     1.02    4.00    6.00    N/A  predicted")
        .contains("# Out of bounds values : N/A");
  }

  /**
   * How public tools read the output of nccl-tests: rows follow the third line of the head and end
   * at the count of values out of bounds; columns are counted from the end of a row; of the average
   * they take the last word.
   */
  @Test
  void what_tools_read_of_a_table_are_its_numbers() {
    NcclTable table = new NcclTable(Collective.ALL_REDUCE, 4, DataType.FLOAT, "sum", 0);
    table.row(4096, OptionalDouble.of(1024), OptionalDouble.of(2048), "");
    table.row(8192, OptionalDouble.of(1024), OptionalDouble.of(4096), "");
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

  /**
   * Benchmark suites take the words of the line that names time and busbw, without its #, as the
   * columns of each row that begins with a digit; the first column of a name is out of place.
   */
  @Test
  void columns_are_where_the_words_of_the_head_say() {
    NcclTable table = new NcclTable(Collective.ALL_REDUCE, 4, DataType.BFLOAT16, "max", 0);
    table.row(4096, OptionalDouble.of(1024), OptionalDouble.of(2048), "");
    table.row(1 << 30, OptionalDouble.of(123_456_789), OptionalDouble.of(223_456_789), "");
    List<String> lines = table.end(0).lines().toList();
    List<String> head =
        lines.stream()
            .filter(line -> line.contains("time") && line.contains("busbw"))
            .map(line -> words(line.substring(1)))
            .findFirst()
            .orElseThrow();
    List<List<String>> rows =
        lines.stream()
            .map(NcclTableTest::words)
            .filter(row -> row.getFirst().matches("[0-9].*"))
            .toList();
    assertThat(rows).hasSize(2).allSatisfy(row -> assertThat(row).hasSameSizeAs(head));
    assertThat(rows)
        .extracting(row -> row.get(head.indexOf("size")))
        .containsExactly("4096", "1073741824");
    assertThat(rows).extracting(row -> row.get(head.indexOf("type"))).containsOnly("bfloat16");
    assertThat(rows).extracting(row -> row.get(head.indexOf("redop"))).containsOnly("max");
    assertThat(rows)
        .extracting(row -> row.get(head.indexOf("time")))
        .containsExactly("1.02", "123457");
    assertThat(rows)
        .extracting(row -> row.get(head.indexOf("algbw")))
        .containsExactly("4.00", "8.70");
    assertThat(rows)
        .extracting(row -> row.get(head.indexOf("busbw")))
        .containsExactly("6.00", "13.05");
    assertThat(rows)
        .extracting(row -> row.get(head.lastIndexOf("time")))
        .containsExactly("2.05", "223457");
    assertThat(rows).extracting(row -> row.get(head.indexOf("#wrong"))).containsOnly("0");
  }

  /** Others match a row as a whole, and the average as a number behind a colon. */
  @Test
  void a_row_is_two_counts_two_words_a_root_and_twice_three_numbers_and_a_count() {
    String number = "\\s+([0-9.]+)";
    String half = number.repeat(3) + "\\s+(\\S+)";
    Pattern row =
        Pattern.compile(
            "^\\s*(\\d+)\\s+(\\d+)\\s+(\\w+)\\s+(\\w+)\\s+(-?\\d+)" + half + half,
            Pattern.MULTILINE);
    Pattern average = Pattern.compile("Avg bus bandwidth\\s*:\\s*([0-9.]+)");
    for (Collective collective :
        List.of(Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.BROADCAST)) {
      NcclTable table = new NcclTable(collective, 8, DataType.FLOAT, "sum", 3);
      table.row(1 << 20, OptionalDouble.of(50_000), OptionalDouble.of(12_345_678), "");
      String text = table.end(0);
      Matcher found = row.matcher(text);
      assertThat(found.find()).isTrue();
      assertThat(found.group(1)).isEqualTo("1048576");
      assertThat(found.group(6)).isEqualTo("50.00");
      assertThat(found.group(10)).isEqualTo("12346");
      assertThat(List.of(found.group(9), found.group(13))).containsOnly("0");
      assertThat(found.find()).isFalse();
      Matcher mean = average.matcher(text);
      assertThat(mean.find()).isTrue();
      assertThat(Double.parseDouble(mean.group(1))).isPositive();
    }
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
