package dev.doorbell.experiments.results.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.run.MetricRow;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.Runs;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryFiles;
import dev.doorbell.experiments.run.SummaryRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Other tools' formats, read by what their users read them with. */
class ToolFormatTest {
  /** The lines of docs/running.md. */
  private static final Pattern DOCUMENTED =
      Pattern.compile("--format (perftest|nccl|osu) \\| awk '(.*)'");

  private static final String PERFTEST_LATENCY =
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]   "
          + " t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n";
  private static final String PERFTEST_BANDWIDTH =
      " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n";
  private static final String NCCL_COLUMNS =
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong    "
          + " time   algbw   busbw  #wrong\n";

  private static final String EXCHANGE =
      """
      experiment: exchange
      question: How long does it take?
      kernel: put_bandwidth
      axes:
        ranks: [8]
        size: [64, 7K]
      fixed:
        path: pull
        messages: 8
      measure:
        metrics: [dispatch, goodput]
        samples: 1
        timeout: 10s
      """;

  @TempDir private Path folder;
  private int made;

  @Test
  void the_headers_are_those_of_the_tools_to_the_character() throws RunException {
    StoredRun run = run();
    assertThat(ToolFormat.PERFTEST.text(run)).contains(PERFTEST_LATENCY, PERFTEST_BANDWIDTH);
    assertThat(ToolFormat.NCCL.text(run))
        .contains(
            NCCL_COLUMNS,
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)        "
                + "     (us)  (GB/s)  (GB/s)\n",
            "# Out of bounds values : 0 OK\n",
            "# Avg bus bandwidth    : ",
            "# Collective test concluded: small\n");
    assertThat(ToolFormat.OSU.text(run))
        .contains(
            """
            # OSU MPI-CUDA Latency Test v7.2
            # Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)
            # Size          Latency (us)
            # Datatype: MPI_CHAR.
            """,
            "# Size      Bandwidth (MB/s)\n");
  }

  @Test
  void every_table_says_what_its_numbers_are_called() throws RunException {
    for (ToolFormat format : ToolFormat.values()) {
      String text = format.text(run());
      assertThat(text).as(format.name()).contains("small path=pull modelled");
    }
  }

  @Test
  void the_documented_readers_find_the_numbers_of_the_summary()
      throws IOException, RunException, InterruptedException {
    assumeThat(hasAwk()).as("no awk on PATH; install it ('apt-get install mawk')").isTrue();
    StoredRun run = run("-s", "path=pull,push.memic", "-s", "samples=41");
    Matcher line = DOCUMENTED.matcher(Files.readString(Path.of("../docs/running.md")));
    List<String> read = new ArrayList<>();
    while (line.find()) {
      ToolFormat format = ToolFormat.valueOf(line.group(1).toUpperCase(java.util.Locale.ROOT));
      List<double[]> rows = awk(line.group(2), format.text(run));
      assertThat(rows).as(line.group()).hasSameSizeAs(run.data().rows());
      for (int i = 0; i < rows.size(); i++) {
        SummaryRow row = run.data().rows().get(i);
        double size = rows.get(i)[0];
        assertThat(row.pointId()).as(line.group()).endsWith("_" + (long) size);
        double latency = median(row, "latency") / 1e3;
        if (line.group(2).contains("BW average")) {
          double bandwidth = median(row, "goodput") * 1e9 / (1 << 20);
          assertThat(rows.get(i)[1]).as(line.group()).isCloseTo(bandwidth, within(bandwidth / 50));
        } else {
          assertThat(rows.get(i)[1]).as(line.group()).isCloseTo(latency, within(latency / 100));
        }
        if (format == ToolFormat.NCCL) {
          assertThat(rows.get(i)[2]).isCloseTo(size / latency / 1e3, within(0.01));
          assertThat(rows.get(i)[3]).isZero();
        }
      }
      read.add(line.group(1));
    }
    assertThat(read).containsExactly("perftest", "perftest", "nccl", "osu");
  }

  /**
   * What {@code all-to-all} found among 8 ranks: 22.78 us for 8 messages of 7 KiB to each other.
   */
  @Test
  void an_all_to_all_has_the_time_and_the_bandwidths_that_nccl_tests_define() throws RunException {
    List<String> rows =
        ToolFormat.NCCL.text(exchange()).lines().filter(line -> !line.startsWith("#")).toList();
    assertThat(rows).hasSize(2);
    assertThat(columns(rows.get(0)))
        .startsWith("4096", "512", "int8", "none", "-1", "18.53", "0.22", "0.19", "0");
    assertThat(columns(rows.get(1)))
        .startsWith("458752", "57344", "int8", "none", "-1", "22.78", "20.14", "17.62", "0");
    assertThat(ToolFormat.NCCL.text(exchange()))
        .contains("# Avg bus bandwidth    : 8.90724", "ranks=8", NCCL_COLUMNS);
  }

  @Test
  void tools_that_measure_two_ends_print_nothing_of_an_all_to_all() throws RunException {
    assertThat(ToolFormat.PERFTEST.text(exchange())).isEmpty();
    assertThat(ToolFormat.OSU.text(exchange())).isEmpty();
  }

  private static String[] columns(String row) {
    return row.strip().split(" +", -1);
  }

  private StoredRun exchange() throws RunException {
    PointRunner runner =
        (point, _) -> {
          double nanos = point.whole("size") == 64 ? 18_530 : 22_780;
          double goodput = 8 * 7 * 8 * point.whole("size") / nanos;
          return new PointResult(
              Basis.MODELLED,
              List.of(
                  Samples.of("dispatch", "ns", new double[] {nanos}),
                  Samples.of("goodput", "GB/s", new double[] {goodput})),
              new LinkedHashMap<>(),
              point.whole("size"),
              List.of());
        };
    return Runs.make(folder.resolve("exchange" + made++), Configs.read(EXCHANGE), runner);
  }

  private static double median(SummaryRow row, String metric) {
    MetricRow samples = Objects.requireNonNull(row.metrics().get(metric), metric);
    return SummaryFiles.summary(row, samples).median();
  }

  private StoredRun run(String... overrides) throws RunException {
    List<String> settings = Arrays.stream(overrides).filter(word -> !word.equals("-s")).toList();
    return Runs.make(folder, Configs.read(Configs.SMALL, settings.toArray(String[]::new)));
  }

  private static boolean hasAwk() {
    return Arrays.stream(String.valueOf(System.getenv("PATH")).split(":", -1))
        .anyMatch(place -> Files.isExecutable(Path.of(place, "awk")));
  }

  private static List<double[]> awk(String program, String input)
      throws IOException, InterruptedException {
    Process process = new ProcessBuilder("awk", program).redirectErrorStream(true).start();
    try (var in = process.getOutputStream()) {
      in.write(input.getBytes(StandardCharsets.UTF_8));
    }
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output
        .lines()
        .map(line -> Arrays.stream(line.split(" ", -1)).mapToDouble(Double::parseDouble).toArray())
        .toList();
  }
}
