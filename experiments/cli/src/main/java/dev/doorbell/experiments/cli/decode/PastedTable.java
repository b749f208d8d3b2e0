package dev.doorbell.experiments.cli.decode;

import dev.doorbell.experiments.collective.Collective;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A table of nccl-tests, perftest or OSU's benchmarks.
 *
 * @param tool which of them
 * @param title what was measured
 * @param ranks of a collective; 2 elsewhere
 * @param gpu the device's name in the table's head, or empty
 * @param rows by size
 */
public record PastedTable(Tool tool, String title, int ranks, String gpu, List<Row> rows) {
  private static final Pattern NCCL =
      Pattern.compile(
          "^.{0,80}?\\s(\\d+)\\s+(\\d+)\\s+(float|half|double|bfloat16|u?int\\d+|f8\\w*|fp8\\w*)\\s+(?:[a-z]\\w*\\s+)?(?:-?\\d+\\s+)?([\\d.]+)\\s+([\\d.]+)\\s+([\\d.]+)\\b.*");
  private static final Pattern PERFTEST =
      Pattern.compile(
          "^\\s*(\\d+)\\s+(\\d+)\\s+(\\d+\\.\\d+)\\s+(\\d+\\.\\d+)\\s+(\\d+\\.\\d+)(?:\\s+[\\d.]+)*\\s*$");
  private static final Pattern OSU =
      Pattern.compile("^(\\d+)\\s{2,}(\\d+\\.\\d+)(?:\\s+[\\d.]+)*\\s*$");
  private static final Pattern HEAD =
      Pattern.compile(
          "^\\s*#.*|^-{20,}\\s*$|^\\s*$|.*#bytes +#iterations.*|.*\\b(RDMA_\\w+|Send|Atomic\\w*)"
              + " (BW|Latency|Bidirectional BW) Test.*|.*NCCL INFO #.*|^ (Dual-port|Number of"
              + " qps|Connection type|CQ Moderation|TX depth|Mtu|Link type|Max inline|rdma_cm"
              + " QPs|Data ex|GID index|Gid index|PCIe relax\\w*|ibv_wr\\* API|Transport"
              + " type|Device|Using SRQ|local address|remote address|GID|Use ROCm"
              + " memory|CUDA)\\b.*");
  private static final Pattern DEVICE =
      Pattern.compile("#\\s+Rank\\s+\\d+ .*\\[[0-9a-fx:.]+\\] (.*)");
  private static final Pattern BENCHMARK =
      Pattern.compile(
          "(all_reduce|all_gather|reduce_scatter|alltoall|broadcast|reduce|sendrecv|scatter|gather)_perf");
  private static final double MANY = 1.5;

  /** Programs that print tables. */
  public enum Tool {
    NCCL_TESTS("nccl-tests"),
    PERFTEST("perftest"),
    OSU("OSU micro-benchmarks");

    private final String words;

    Tool(String words) {
      this.words = words;
    }

    public String words() {
      return words;
    }
  }

  /** A size in bytes, and nanoseconds of one operation. */
  public record Row(long bytes, double nanos) {}

  static boolean isRow(String line) {
    return NCCL.matcher(line).matches()
        || PERFTEST.matcher(line).matches()
        || OSU.matcher(line).matches();
  }

  static boolean isHead(String line) {
    return HEAD.matcher(line).matches();
  }

  /** Reads the lines of a table, its head among them. */
  public static PastedTable of(List<String> lines) {
    String text = String.join("\n", lines);
    List<Row> rows = new ArrayList<>();
    Tool tool = Tool.OSU;
    String bus = "";
    boolean latency = text.contains("t_min") || text.toLowerCase(Locale.ROOT).contains("latency");
    boolean gigabits = text.contains("Gb/sec");
    for (String line : lines) {
      Matcher nccl = NCCL.matcher(line);
      Matcher perftest = PERFTEST.matcher(line);
      Matcher osu = OSU.matcher(line);
      if (nccl.matches()) {
        tool = Tool.NCCL_TESTS;
        rows.add(new Row(Long.parseLong(nccl.group(1)), Double.parseDouble(nccl.group(4)) * 1e3));
        double algorithm = Double.parseDouble(nccl.group(5));
        bus = algorithm > 1 ? "" + Double.parseDouble(nccl.group(6)) / algorithm : bus;
      } else if (perftest.matches()) {
        tool = Tool.PERFTEST;
        long bytes = Long.parseLong(perftest.group(1));
        double value = Double.parseDouble(perftest.group(latency ? 5 : 4));
        double perByte = gigabits ? 8 / value : 1e9 / (value * 1048576);
        rows.add(new Row(bytes, latency ? value * 1e3 : bytes * perByte));
      } else if (osu.matches()) {
        long bytes = Long.parseLong(osu.group(1));
        double value = Double.parseDouble(osu.group(2));
        boolean bandwidth = text.contains("Bandwidth") || text.contains("MB/s");
        rows.add(new Row(bytes, bandwidth ? bytes * 1e3 / value : value * 1e3));
      }
    }
    List<String> devices = new ArrayList<>();
    DEVICE.matcher(text).results().forEach(found -> devices.add(found.group(1).strip()));
    Matcher benchmark = BENCHMARK.matcher(text);
    double factor = bus.isEmpty() ? 1 : Double.parseDouble(bus);
    String title =
        benchmark.find()
            ? benchmark.group(1)
            : tool == Tool.NCCL_TESTS
                ? (factor > 1 || text.contains(" sum ") ? "all_reduce" : "all_gather")
                : latency ? "latency" : "bandwidth";
    int ranks = devices.isEmpty() ? ranks(factor) : devices.size();
    return new PastedTable(tool, title, ranks, devices.isEmpty() ? "" : devices.getFirst(), rows);
  }

  /** Returns the ranks from the bus factor, which is 2(n-1)/n for all_reduce and (n-1)/n else. */
  private static int ranks(double factor) {
    double share = factor > 1 ? factor / 2 : factor;
    return share >= 1 || share < 0.5 ? 2 : (int) Math.round(1 / (1 - share));
  }

  /** Returns the collective of Doorbell that this one is. */
  public Collective collective() {
    return switch (title) {
      case "all_gather" -> Collective.ALL_GATHER;
      case "reduce_scatter" -> Collective.REDUCE_SCATTER;
      case "alltoall" -> Collective.ALL_TO_ALL;
      case "broadcast" -> Collective.BROADCAST;
      case "reduce" -> Collective.REDUCE;
      default -> Collective.ALL_REDUCE;
    };
  }

  /** Prints each row beside the model's, and why what is far off usually is. */
  public String text(String machine, Map<Long, Double> model) {
    StringBuilder text = new StringBuilder();
    text.append(
        "%s, %s%s%s%n"
            .formatted(
                tool.words(),
                title,
                tool == Tool.NCCL_TESTS ? ", %d ranks".formatted(ranks) : "",
                gpu.isEmpty() ? "" : ", " + gpu));
    text.append("modelled on %s: times are those of the closed forms%n".formatted(machine));
    text.append(
        String.format(
            Locale.ROOT, "%12s  %12s  %12s  %8s%n", "bytes", "table us", "model us", "ratio"));
    double least = Double.MAX_VALUE;
    double most = 0;
    double lastRatio = 0;
    double firstRatio = 0;
    for (Row row : rows) {
      Double nanos = model.get(row.bytes);
      double ratio = nanos == null || nanos == 0 ? Double.NaN : row.nanos / nanos;
      if (nanos != null) {
        least = Math.min(least, ratio);
        most = Math.max(most, ratio);
        firstRatio = firstRatio == 0 ? ratio : firstRatio;
        lastRatio = ratio;
      }
      text.append(
          String.format(
              Locale.ROOT,
              "%12d  %12.2f  %12s  %8s%s%n",
              row.bytes,
              row.nanos / 1e3,
              nanos == null ? "-" : String.format(Locale.ROOT, "%.2f", nanos / 1e3),
              nanos == null ? "-" : String.format(Locale.ROOT, "%.2fx", ratio),
              ratio > MANY ? "  slower" : ratio < 1 / MANY ? "  faster" : ""));
    }
    if (most == 0) {
      return text.append("the model has no value for these sizes\n").toString();
    }
    for (String reason : reasons(firstRatio, lastRatio)) {
      text.append("  ").append(reason).append('\n');
    }
    return text.toString();
  }

  private List<String> reasons(double small, double large) {
    List<String> reasons = new ArrayList<>();
    if (large > MANY) {
      reasons.add(
          "large sizes are slow: GPUDirect RDMA off (payload goes through the host), fewer NICs"
              + " than GPUs, a link trained low, or TCP; see doctor, and the log for GDRDMA");
    }
    if (small > MANY) {
      reasons.add(
          "small sizes are slow: launch and proxy threads; a CPU that sleeps, NUMA, or a container"
              + " without the GPU's cores");
    }
    if (large < 1 / MANY) {
      reasons.add(
          "large sizes are faster than one NIC a rank: NVLink carries them, or more NICs than the"
              + " model's machine has");
    }
    if (small < 1 / MANY && !reasons.isEmpty() && large >= 1 / MANY) {
      reasons.add("small sizes are faster: they do not leave the host");
    }
    return reasons.isEmpty() && small >= 1 / MANY
        ? List.of("nothing is far off")
        : reasons.isEmpty() ? List.of("small sizes are faster than the model's machine") : reasons;
  }

  /** Returns the sizes of the rows. */
  public List<Long> sizes() {
    return rows.stream().map(Row::bytes).filter(bytes -> bytes > 0).distinct().toList();
  }
}
