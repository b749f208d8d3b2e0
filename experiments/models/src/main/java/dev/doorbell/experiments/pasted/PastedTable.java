package dev.doorbell.experiments.pasted;

import dev.doorbell.experiments.collective.Collective;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A table of nccl-tests, perftest or OSU's benchmarks.
 *
 * @param tool which of them
 * @param title what was measured
 * @param latency whether a row is the time of one operation, not of one among many in flight
 * @param machine where it ran, as far as the table says
 * @param rows by size
 */
public record PastedTable(
    Tool tool, String title, boolean latency, Machine machine, List<Row> rows) {
  private static final Pattern NCCL =
      Pattern.compile(
          "^.{0,80}?\\s(\\d{1,15})\\s+(\\d+)\\s+(float|half|double|bfloat16|u?int\\d+|f8\\w*|fp8\\w*)\\s+(?:[a-z]\\w*\\s+)?(?:-?\\d+\\s+)?(\\d+\\.?\\d*)\\s+(\\d+\\.?\\d*)\\s+(\\d+\\.?\\d*)\\b(?:\\s+(\\d+(?:e[-+]\\d+)?)(?=\\s|$)(?:(?:\\s+[\\d.]+){3}\\s+(\\d+(?:e[-+]\\d+)?)(?=\\s|$))?)?.*");
  private static final Pattern PERFTEST =
      Pattern.compile(
          "^\\s*(\\d{1,15})\\s+(\\d+)\\s+(\\d+\\.\\d+)\\s+(\\d+\\.\\d+)(?:\\s+(\\d+\\.\\d+))?(?:\\s+[\\d.]+)*\\s*$");
  private static final Pattern OSU =
      Pattern.compile("^(\\d{1,15})\\s{2,}(\\d+\\.\\d+)(?:\\s+[\\d.]+)*\\s*$");

  /** Mean, least and most of all ranks, and repetitions: one collective, in microseconds. */
  private static final Pattern OSU_COLLECTIVE =
      Pattern.compile("^\\d+(?:\\s+\\d+\\.\\d+){3}\\s+\\d+\\s*$");

  private static final Pattern HEAD =
      Pattern.compile(
          "^\\s*#.*|^-{20,}\\s*$|^\\s*$|^\\*.*|(rccl|nccl)-tests: .*|.*#bytes"
              + " +#iterations.*|.*\\b(RDMA_\\w+|Send|Atomic\\w*) (Post List"
              + " )?(BW|Latency|Bidirectional BW) Test.*|.*NCCL INFO #.*|^ (Dual-port|Number of"
              + " qps|Connection type|CQ Moderation|TX depth|Post List|Mtu|Link type|Max"
              + " inline|rdma_cm QPs|Data ex|GID index|Gid index|PCIe relax\\w*|ibv_wr\\*"
              + " API|Transport type|Device|Using SRQ|local address|remote address|GID|Use ROCm"
              + " memory|CUDA)\\b.*|^(Collective|Memory"
              + " type|Datatype|Reduction|Inplace|Warmup|Iterations):.*|^ +(small|large)"
              + " +\\d+\\s*$|^ +Count +Size .*|^( +(avg|min|max))+\\s*$");
  private static final Pattern DEVICE =
      Pattern.compile("#\\s+Rank\\s+\\d+ .*? on\\s+(\\S+) device .*\\[[0-9a-fx:.]+\\] (.*)");
  private static final Pattern BENCHMARK =
      Pattern.compile(
          "(all_reduce|all_gather|reduce_scatter|alltoall|broadcast|reduce|sendrecv|scatter|gather|hypercube)_perf");
  private static final Pattern OSU_NAME =
      Pattern.compile("# OSU (?:MPI|NCCL|OpenSHMEM)?\\S*\\s*(.*?) ?(?:Latency|Bandwidth|Test)\\b");
  private static final Pattern QPS = Pattern.compile("Number of qps\\s*: (\\d{1,6})\\b");

  /** Rates of links in gigabits a second. */
  private static final List<Integer> RATES = List.of(1, 10, 25, 40, 50, 56, 100, 200, 400, 800);

  private static final double MANY = 1.5;

  /** Share of a link's bits that is payload at best. */
  private static final double PAYLOAD = 0.985;

  private static final long LARGE = 64 << 10;

  /** Programs that print tables. */
  public enum Tool {
    NCCL_TESTS("nccl-tests"),
    PERFTEST("perftest"),
    OSU("OSU micro-benchmarks"),
    UCC("ucc_perftest");

    private final String words;

    Tool(String words) {
      this.words = words;
    }

    public String words() {
      return words;
    }
  }

  /** A size in bytes, nanoseconds of one operation, and whether its results were wrong. */
  public record Row(long bytes, double nanos, boolean wrong) {}

  /**
   * The machine of a table.
   *
   * @param ranks of a collective; 2 elsewhere
   * @param hosts that ranks ran on; 0 where the table does not say
   * @param gpu its name in the table's head, or empty
   * @param queues number of queue pairs; 1 where the table does not say
   * @param gigabits rate of the link that large rows come near to; 0 where nothing says so
   */
  public record Machine(int ranks, int hosts, String gpu, int queues, int gigabits) {
    /** Returns the topology whose GPU, else whose link, is nearest to this one's. */
    public String topology() {
      if (gpu.contains("H800") || gigabits >= 400) {
        return "h800-cx7";
      }
      return gpu.contains("H100") ? "h100-cx7" : "h200-cx7";
    }

    String text() {
      List<String> words = new ArrayList<>();
      if (hosts > 0) {
        words.add(hosts == 1 ? "one host" : hosts + " hosts");
      }
      words.add(gpu.isEmpty() ? "GPUs that the table does not name" : gpu);
      if (gigabits > 0) {
        words.add("a link of %d Gb/s".formatted(gigabits));
      }
      return String.join(", ", words);
    }
  }

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
    boolean ucc = text.contains("Time, us");
    boolean shared = ucc || lines.stream().anyMatch(line -> OSU_COLLECTIVE.matcher(line).matches());
    boolean bandwidth = !shared && (text.contains("Bandwidth") || text.contains("MB/s"));
    boolean latency =
        shared
            || (!bandwidth
                && (text.contains("t_min") || text.contains("t_avg") || text.contains("Latency")));
    double perUnit = text.contains("Gb/sec") ? 8 : 1e9 / 1048576;
    List<Row> rows = new ArrayList<>();
    Tool tool = Tool.OSU;
    double factor = 1;
    for (String line : lines) {
      Matcher nccl = NCCL.matcher(line);
      Matcher perftest = PERFTEST.matcher(line);
      Matcher osu = OSU.matcher(line);
      if (nccl.matches()) {
        tool = Tool.NCCL_TESTS;
        boolean wrong = isWrong(nccl.group(7)) || isWrong(nccl.group(8));
        rows.add(new Row(Long.parseLong(nccl.group(1)), number(nccl, 4) * 1e3, wrong));
        double algorithm = number(nccl, 5);
        factor = algorithm > 1 ? number(nccl, 6) / algorithm : factor;
      } else if (perftest.matches()) {
        tool = ucc ? Tool.UCC : Tool.PERFTEST;
        long bytes = Long.parseLong(perftest.group(ucc ? 2 : 1));
        boolean typical = text.contains("t_typical") && perftest.group(5) != null;
        rows.add(
            new Row(
                bytes,
                latency
                    ? number(perftest, typical ? 5 : 3) * 1e3
                    : bytes * perUnit / number(perftest, 4),
                false));
      } else if (osu.matches()) {
        long bytes = Long.parseLong(osu.group(1));
        rows.add(
            new Row(bytes, bandwidth ? bytes * 1e3 / number(osu, 2) : number(osu, 2) * 1e3, false));
      }
    }
    List<MatchResult> devices = DEVICE.matcher(text).results().toList();
    int ranks = devices.isEmpty() ? ranks(factor) : devices.size();
    String title =
        switch (tool) {
          case NCCL_TESTS ->
              first(BENCHMARK, text)
                  .orElse(
                      !text.contains(" sum ")
                          ? "collective"
                          : factor >= 1 ? "all_reduce" : "reduce_scatter");
          case PERFTEST -> latency ? "latency" : "bandwidth";
          case OSU ->
              first(OSU_NAME, text)
                      .filter(name -> !name.isEmpty())
                      .map(name -> name + " ")
                      .orElse(shared ? "collective " : "")
                  + (latency ? "latency" : "bandwidth");
          case UCC -> first(Pattern.compile("Collective:\\s+(\\w+)"), text).orElse("collective");
        };
    Machine machine =
        new Machine(
            ranks,
            (int) devices.stream().map(device -> device.group(1)).distinct().count(),
            devices.isEmpty() ? "" : devices.getFirst().group(2).strip(),
            first(QPS, text).map(Integer::parseInt).orElse(1),
            tool == Tool.PERFTEST && !latency ? gigabits(rows) : 0);
    return new PastedTable(tool, title, latency, machine, rows);
  }

  /**
   * Counts of wrong results, or the largest error in older versions, where rounding stays small.
   */
  private static boolean isWrong(@Nullable String error) {
    return error != null && Double.parseDouble(error) >= 1;
  }

  private static double number(Matcher matcher, int group) {
    return Double.parseDouble(matcher.group(group));
  }

  private static Optional<String> first(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
  }

  /** Returns the ranks from the bus factor, which is 2(n-1)/n for all_reduce and (n-1)/n else. */
  private static int ranks(double factor) {
    double share = factor > 1 ? factor / 2 : factor;
    return share >= 1 || share < 0.5 ? 2 : (int) Math.round(1 / (1 - share));
  }

  /** Returns the slowest link that carries the largest rows; 0 without large rows. */
  private static int gigabits(List<Row> rows) {
    double best =
        rows.stream()
            .filter(row -> row.bytes >= LARGE)
            .mapToDouble(row -> row.bytes * 8 / row.nanos)
            .max()
            .orElse(0);
    return best == 0 ? 0 : RATES.stream().filter(rate -> rate >= best).findFirst().orElse(0);
  }

  /** Returns the collective of Doorbell that this one is, where it has it and ranks are known. */
  public Optional<Collective> collective() {
    return tool != Tool.NCCL_TESTS
        ? Optional.empty()
        : switch (title) {
          case "all_reduce" -> Optional.of(Collective.ALL_REDUCE);
          case "all_gather" -> Optional.of(Collective.ALL_GATHER);
          case "reduce_scatter" -> Optional.of(Collective.REDUCE_SCATTER);
          case "alltoall" -> Optional.of(Collective.ALL_TO_ALL);
          case "broadcast" -> Optional.of(Collective.BROADCAST);
          case "reduce" -> Optional.of(Collective.REDUCE);
          default -> Optional.empty();
        };
  }

  /** Returns true for one message between two ends, which a put is held against. */
  public boolean isPointToPoint() {
    return tool == Tool.PERFTEST || title.equals("latency") || title.equals("bandwidth");
  }

  /**
   * Returns the model's time as this machine's link and queue pairs allow it.
   *
   * @param nanos of the model's own machine
   * @param queueNanos between two work requests of one queue pair there
   */
  private double bounded(long bytes, double nanos, double queueNanos) {
    if (latency || !isPointToPoint()) {
      return nanos;
    }
    double wire = machine.gigabits == 0 ? 0 : bytes * 8 / (machine.gigabits * PAYLOAD);
    return Math.max(nanos, Math.max(wire, queueNanos / machine.queues));
  }

  /**
   * Prints each row beside the model's, and why what is far off usually is.
   *
   * @param topology of the model
   * @param model nanoseconds by size
   * @param queueNanos between two work requests of one queue pair of the model's HCA
   */
  public String text(String topology, Map<Long, Double> model, double queueNanos) {
    StringBuilder text = new StringBuilder();
    boolean shared = collective().isPresent();
    String ranks = machine.hosts > 0 ? ", %d ranks" : ", by its bus bandwidth about %d ranks";
    String how =
        shared
            ? ", each rank with an HCA of its own"
            : latency ? "" : ", queue pairs: %d".formatted(machine.queues);
    text.append(
        "%s, %s%s%nit seems to be  %s%nmodelled on     %s by closed forms%s%n"
            .formatted(
                tool.words(),
                title,
                shared ? ranks.formatted(machine.ranks) : "",
                machine.text(),
                topology,
                how));
    text.append(
        String.format(
            Locale.ROOT, "%12s  %12s  %12s  %8s%n", "bytes", "table us", "model us", "ratio"));
    double small = 0;
    double large = 0;
    for (Row row : rows) {
      Double value = model.get(row.bytes);
      double nanos = value == null ? Double.NaN : bounded(row.bytes, value, queueNanos);
      double ratio = row.nanos / nanos;
      if (value != null) {
        small = small == 0 ? ratio : small;
        large = ratio;
      }
      text.append(
          String.format(
              Locale.ROOT,
              "%12d  %12.2f  %12s  %8s%s%n",
              row.bytes,
              row.nanos / 1e3,
              value == null ? "-" : String.format(Locale.ROOT, "%.2f", nanos / 1e3),
              value == null ? "-" : String.format(Locale.ROOT, "%.2fx", ratio),
              (ratio > MANY ? "  slower" : ratio < 1 / MANY ? "  faster" : "")
                  + (row.wrong ? "  WRONG RESULTS" : "")));
    }
    if (large == 0) {
      return text.append("the model has no value for these sizes\n").toString();
    }
    reasons(small, large).forEach(reason -> text.append("  ").append(reason).append('\n'));
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
          isPointToPoint()
              ? "small sizes are slow: one CPU thread posts them, the CPU sleeps (cpupower), or it"
                  + " is on the other socket (numactl); more queue pairs (-q) tell which"
              : "small sizes are slow: launch and proxy threads; a CPU that sleeps, NUMA, or a"
                  + " container without the GPU's cores");
    }
    if (large < 1 / MANY) {
      reasons.add(
          machine.hosts == 1
              ? "large sizes are faster than one NIC a rank: within one host NVLink or PCIe carries"
                  + " them, and no NIC takes part"
              : "large sizes are faster than one NIC a rank: NVLink carries them, or more NICs than"
                  + " the model's machine has");
    }
    if (small < 1 / MANY) {
      reasons.add("small sizes are faster: they do not leave the host, or the CPU posts them");
    }
    return reasons.isEmpty() ? List.of("nothing is far off") : reasons;
  }

  public List<Long> sizes() {
    return rows.stream().map(Row::bytes).filter(bytes -> bytes > 0).distinct().toList();
  }
}
