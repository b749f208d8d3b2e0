package dev.doorbell.experiments.cli.collective;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.plan.ExperimentFiles;
import dev.doorbell.experiments.cli.plan.PlanChecks;
import dev.doorbell.experiments.cli.run.RunCommand;
import dev.doorbell.experiments.collective.Algorithm;
import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.collective.DataType;
import dev.doorbell.experiments.collective.NcclTable;
import dev.doorbell.experiments.collective.NcclTimes;
import dev.doorbell.experiments.config.value.Sizes;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.run.JournalEntry;
import dev.doorbell.experiments.run.JournalEntry.Status;
import dev.doorbell.experiments.run.StoredRun;
import dev.doorbell.experiments.run.SummaryRow;
import dev.doorbell.experiments.topology.TopologyFile;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Runs a collective among many ranks, with nccl-tests' flags and table.",
      "",
      "  doorbell coll all_reduce -b 8 -e 64K -f 8 -g 8",
      "  doorbell coll all_reduce -b 8 -e 1M -f 2 -g 16 --algo ring,tree,auto",
      "  doorbell coll reduce_scatter -b 4K -e 64K -f 4 -g 8 -d bfloat16 -o max",
      "  doorbell coll all_reduce -b 8 -e 1G -f 2 -g 8              large sizes are predicted",
      "  doorbell coll all_reduce -b 8 -e 64M -f 8 -g 64 --explain",
      "  doorbell coll --trace traces/all_gather              a Chakra execution trace",
      ""
    },
    description = {
      "",
      "Ranks are emulated, times are virtual: of the topology that --placement names. Each time is"
          + " that of one operation, from the first rank's beginning to the last one's result."
    })
public final class CollCommand extends CliCommand {
  private static final String EXPERIMENT = "collectives";
  private static final String METRIC = "collective";
  private static final String AUTO = "auto";
  private static final int MOST_SIZES = 64;

  /** From so many bytes on, blocks are large and so are the messages of a ring. */
  private static final long LARGE = 4L << 20;

  /** Bytes of a chunk of a large collective. */
  private static final long CHUNK = 256L << 10;

  /** Bytes of a collective from which on chunks grow with it in a prediction. */
  private static final long MANY_CHUNKS = 32L << 20;

  @Parameters(
      arity = "0..1",
      paramLabel = "COLLECTIVE",
      description =
          "all_reduce, reduce_scatter, all_gather, broadcast, reduce, all_to_all, all_to_all_v or"
              + " barrier.")
  private String collective = "";

  @Option(
      names = {"-b", "--minbytes"},
      paramLabel = "SIZE",
      description = "Smallest size (default: 8).")
  private String least = "8";

  @Option(
      names = {"-e", "--maxbytes"},
      paramLabel = "SIZE",
      description = "Largest size (default: 64K).")
  private String most = "64K";

  @Option(
      names = {"-f", "--stepfactor"},
      paramLabel = "N",
      description = "Each size is N times the one before (default: 8).")
  private int factor = 8;

  @Option(
      names = {"-i", "--stepbytes"},
      paramLabel = "SIZE",
      description = "Each size is SIZE more than the one before, instead of -f.")
  private String step = "";

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "N",
      description = "Operations at each size (default: 1; virtual time repeats itself).")
  private int iterations = 1;

  @Option(
      names = {"-g", "--ngpus"},
      paramLabel = "N",
      description = "GPUs of a thread (default: 2). There are as many ranks as -t times -g.")
  private int gpus = 2;

  @Option(
      names = {"-t", "--nthreads"},
      paramLabel = "N",
      description = "Threads, each with -g ranks (default: 1).")
  private int threads = 1;

  @Option(
      names = {"-d", "--datatype"},
      paramLabel = "TYPE",
      description = "float (the default), half, bfloat16 or int32.")
  private String type = "float";

  @Option(
      names = {"-o", "--op"},
      paramLabel = "OP",
      description = "sum (the default), max or min.")
  private String reduction = "sum";

  @Option(
      names = {"-r", "--root"},
      paramLabel = "RANK",
      description = "Of a broadcast or a reduce (default: 0).")
  private int root;

  @Option(
      names = "--algo",
      split = ",",
      paramLabel = "NAME",
      description =
          "ring, tree, halving, direct, hierarchical, nvls, or auto, the one whose predicted time is the least (the"
              + " default). A table for each.")
  private List<String> algorithms = new ArrayList<>(List.of(AUTO));

  @Option(
      names = "--explain",
      description = "Print the predicted time of each algorithm; run nothing.")
  private boolean explain;

  @Option(
      names = "--nccl",
      description =
          "Print what NCCL takes by each algorithm and protocol: latencies that it publishes, rates"
              + " of the topology, 5.9 us at least for each GPU of a thread; run nothing.")
  private boolean nccl;

  @Option(
      names = "--budget",
      paramLabel = "SECONDS",
      description =
          "Sizes are simulated, smallest first, while the estimated time of all stays below it"
              + " (default: 5 seconds of one core); the others are predicted. 0 simulates all.")
  private int budget = 5;

  @Option(
      names = "--trace",
      paramLabel = "PATH",
      description =
          "Executes a Chakra execution trace, files PATH.RANK.et or a folder with one trace, and"
              + " prints what ASTRA-sim prints of each rank, a cycle being a nanosecond.")
  private String trace = "";

  @Option(
      names = "--placement",
      paramLabel = "NAME",
      description = "Topology of every rank, a name or a file (default: h200-cx7).")
  private String placement = "h200-cx7";

  @Option(
      names = {"-s", "--set"},
      paramLabel = "KEY=VALUE",
      description = "Any other setting of the experiment, as 'doorbell run' takes it.")
  private List<String> settings = new ArrayList<>();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Folder for run directories (default: runs).")
  private Path out = Path.of("runs");

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    if (!trace.isEmpty()) {
      return replay(context);
    }
    Collective kind = constant(Collective.class, "COLLECTIVE", collective);
    DataType elements = constant(DataType.class, "--datatype", type);
    List<Long> sizes = sizes(kind, elements);
    if (explain || nccl) {
      context.out().print(explained(context, kind, sizes));
      String basis = nccl ? "NCCL's latencies, rates of the topology" : "LogGP of the schedules";
      context.println("# MODELLED (%s) - nothing was run".formatted(basis));
      if (nccl && gpus > 1) {
        String process = "-t %d -g 1".formatted(ranks());
        context.println("# a thread issues to its GPUs in turn; a process a GPU: " + process);
      }
      return ExitCode.OK;
    }
    List<Long> simulated = withinBudget(context, kind, sizes);
    Map<String, Map<Long, Double>> predicted =
        simulated.size() == sizes.size() ? Map.of() : forms(context, kind, sizes);
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    List<String> overrides =
        overrides(kind, String.join(",", algorithms), simulated, chunk(simulated));
    ExitCode code = runExperiment(context, overrides, printed);
    report(context.out(), stored(printed), kind, elements, sizes, predicted, simulated);
    return code;
  }

  private static StoredRun stored(ByteArrayOutputStream printed) throws ProblemException {
    return StoredRun.read(Path.of(printed.toString(StandardCharsets.UTF_8).strip()));
  }

  private static double[] values(SummaryRow row, String metric) {
    return Objects.requireNonNull(row.metrics().get(metric)).samples().values();
  }

  private ExitCode replay(CommandContext context) throws ProblemException {
    List<String> overrides =
        new ArrayList<>(
            List.of(
                "trace=" + trace,
                "algorithm=" + String.join(",", algorithms),
                "ranks=2",
                "size=64",
                "channels=0",
                "metrics=finish,compute,exposed",
                "placement=" + placement,
                "timeout=60min"));
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    ExitCode code = runExperiment(context, withSettings(overrides), printed);
    StoredRun run = stored(printed);
    for (SummaryRow row : run.data().rows()) {
      double[] finish = values(row, "finish");
      double[] exposed = values(row, "exposed");
      for (int rank = 0; rank < finish.length; rank++) {
        double compute = finish[rank] - exposed[rank];
        context
            .out()
            .printf(
                Locale.ROOT,
                "sys[%d] finished, %.0f cycles, exposed communication %.0f cycles. compute %.0f cycles.%n",
                rank,
                finish[rank],
                exposed[rank],
                compute);
      }
    }
    conclude(context.out(), run);
    return code;
  }

  /** Returns the sizes, from the smallest on, that are simulated in the time that there is. */
  private List<Long> withinBudget(CommandContext context, Collective kind, List<Long> sizes)
      throws ProblemException {
    if (budget == 0 || sizes.size() == 1) {
      return sizes;
    }
    Map<Long, Long> nanos = new HashMap<>();
    String all = String.join(",", algorithms);
    for (Point point : plan(context, kind, sizes, all, chunk(sizes)).points()) {
      nanos.merge(point.whole("size"), context.runtime().get().estimateNanos(point), Long::sum);
    }
    long left = budget * 1_000_000_000L;
    int count = 0;
    while (count < sizes.size() && left > 0) {
      left -= nanos.getOrDefault(sizes.get(count), 0L);
      count += left > 0 ? 1 : 0;
    }
    return sizes.subList(0, Math.max(1, count));
  }

  private int ranks() {
    return Math.multiplyExact(gpus, threads);
  }

  private ExitCode runExperiment(
      CommandContext context, List<String> overrides, ByteArrayOutputStream printed)
      throws ProblemException {
    List<String> arguments =
        new ArrayList<>(List.of(EXPERIMENT, "--quiet", "--out", out.toString()));
    overrides.forEach(each -> arguments.addAll(List.of("-s", each)));
    RunCommand command = new RunCommand();
    new CommandLine(command).parseArgs(arguments.toArray(String[]::new));
    return command.run(context.printingTo(printed, context.arguments()));
  }

  /**
   * Returns the least predicted time of a collective by size, in nanoseconds.
   *
   * @param machine topology of every rank, a name or a file
   */
  public static Map<Long, Double> predicted(
      CommandContext context, Collective kind, List<Long> sizes, int ranks, String machine)
      throws ProblemException {
    CollCommand command = new CollCommand();
    command.gpus = ranks;
    command.placement = machine;
    return command.forms(context, kind, sizes).getOrDefault(AUTO, Map.of());
  }

  /** Returns predicted nanoseconds by algorithm, as the user names it, and size. */
  private Map<String, Map<Long, Double>> forms(
      CommandContext context, Collective kind, List<Long> sizes) throws ProblemException {
    Map<String, Map<Long, Double>> forms = new LinkedHashMap<>();
    for (String algorithm : algorithms) {
      forms.put(algorithm, form(context, kind, sizes, algorithm));
    }
    return forms;
  }

  /** Returns the predicted time of one algorithm by size, in nanoseconds. */
  private Map<Long, Double> form(
      CommandContext context, Collective kind, List<Long> sizes, String algorithm)
      throws ProblemException {
    // Memory is no matter for what is not run: the smallest size stands for all.
    Plan smallest = plan(context, kind, sizes.subList(0, 1), algorithm, 0);
    PlanChecks.demand(EXPERIMENT, smallest, context.runtime().get());
    Map<Long, Double> form = new LinkedHashMap<>();
    // Schedules have a step for each chunk. Large chunks keep them short, and ports as busy.
    for (long size : sizes) {
      long chunk = chunk(sizes) * Math.max(1, size / MANY_CHUNKS);
      for (Point point : plan(context, kind, List.of(size), algorithm, chunk).points()) {
        if (point.text("buffers").equals("out-of-place")) {
          context
              .runtime()
              .get()
              .predict(point)
              .of(METRIC)
              .map(Prediction.Term::value)
              .filter(Double::isFinite)
              .ifPresent(nanos -> form.put(size, nanos));
        }
      }
    }
    return form;
  }

  private Plan plan(
      CommandContext context, Collective kind, List<Long> sizes, String algorithm, long chunk)
      throws ProblemException {
    return Plan.of(
        ExperimentFiles.read(context, EXPERIMENT, overrides(kind, algorithm, sizes, chunk)));
  }

  /** Returns the bytes of a chunk where the largest size is large, else 0 for the config's. */
  private static long chunk(List<Long> sizes) {
    return sizes.getLast() >= LARGE ? CHUNK : 0;
  }

  private List<String> overrides(Collective kind, String algorithm, List<Long> sizes, long chunk) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "collective=" + NcclTable.word(kind),
                "algorithm=" + algorithm,
                "size=" + sizes.stream().map(String::valueOf).collect(Collectors.joining(",")),
                "ranks=" + ranks(),
                "datatype=" + type,
                "redop=" + (kind.reduces() ? reduction : "sum"),
                "root=" + (kind.rooted() ? root : 0),
                "buffers=out-of-place" + (kind.inPlace() ? ",in-place" : ""),
                "placement=" + placement,
                "samples=" + iterations,
                "timeout=15min"));
    all.add("channels=0");
    if (chunk > 0) {
      all.addAll(List.of("threads=256", "chunk=" + chunk));
    }
    return withSettings(all);
  }

  /** Adds the user's settings, in place of ours of the same key. */
  private List<String> withSettings(List<String> ours) {
    ours.removeIf(each -> settings.stream().anyMatch(set -> isSame(each, set)));
    ours.addAll(settings);
    return ours;
  }

  private static boolean isSame(String one, String other) {
    return one.substring(0, one.indexOf('=')).equals(other.split("=", 2)[0]);
  }

  private void report(
      PrintStream print,
      StoredRun run,
      Collective kind,
      DataType elements,
      List<Long> sizes,
      Map<String, Map<Long, Double>> predicted,
      List<Long> simulated) {
    print.printf(
        "# doorbell coll %s   ranks %d   sizes %s to %s   iterations %d   validation 1%n",
        NcclTable.word(kind), ranks(), sizes.getFirst(), sizes.getLast(), iterations);
    print.printf("# placement %s   basis %s%n", placement, run.data().basis().word());
    int wrong =
        (int) run.entries().stream().filter(each -> each.status() == Status.MISMATCH).count();
    for (String algorithm : algorithms) {
      print.printf("# algorithm %s%n", algorithm);
      NcclTable table = new NcclTable(kind, ranks(), elements, reduction, root);
      List<String> choices = new ArrayList<>();
      String last = "";
      double least = Double.MAX_VALUE;
      double most = 0;
      for (long size : sizes) {
        Double nanos = predicted.getOrDefault(algorithm, Map.of()).get(size);
        OptionalDouble form = nanos == null ? OptionalDouble.empty() : OptionalDouble.of(nanos);
        if (simulated.contains(size)) {
          Optional<SummaryRow> row = row(run, algorithm, size, "out-of-place");
          OptionalDouble time = time(row);
          String label = predicted.isEmpty() ? "" : "simulated";
          OptionalDouble inPlace = time(row(run, algorithm, size, "in-place"));
          table.row(size, time, inPlace, label);
          String by = chosen(run, row);
          if (!by.isEmpty() && !by.equals(last)) {
            choices.add("%s from %d B".formatted(by, size));
            last = by;
          }
          if (form.isPresent() && time.isPresent()) {
            least = Math.min(least, form.getAsDouble() / time.getAsDouble());
            most = Math.max(most, form.getAsDouble() / time.getAsDouble());
          }
        } else {
          OptionalDouble inPlace = kind.inPlace() ? form : OptionalDouble.empty();
          table.row(size, form, inPlace, NcclTable.PREDICTED);
        }
      }
      print.print(table.end(wrong));
      if (!choices.isEmpty()) {
        print.printf("# the model chose %s%n", String.join(",\n#   ", choices));
      }
      if (!predicted.isEmpty()) {
        print.printf(
            Locale.ROOT,
            "# predicted: LogGP of the schedules; nothing was run. At"
                + " the simulated sizes it gives %.2f to %.2f of the simulated time%n",
            most == 0 ? Double.NaN : least,
            most == 0 ? Double.NaN : most);
      }
    }
    conclude(print, run);
  }

  private static void conclude(PrintStream print, StoredRun run) {
    for (JournalEntry entry : run.entries()) {
      Problem problem = entry.problem();
      if (problem != null) {
        print.printf("# without a result: %s%n", problem.text());
      }
    }
    print.printf("# %s%n# run %s%n", Screen.basis(run.data().basis()), run.path());
  }

  /** Returns what the point chose by itself, such as "direct in 8 channels". */
  private static String chosen(StoredRun run, Optional<SummaryRow> row) {
    return run.entries().stream()
        .filter(entry -> row.isPresent() && entry.point().equals(row.get().pointId()))
        .flatMap(entry -> entry.notes().stream())
        .filter(note -> note.startsWith("auto: "))
        .map(note -> note.substring("auto: ".length()))
        .findFirst()
        .orElse("");
  }

  private static OptionalDouble time(Optional<SummaryRow> row) {
    return row.map(found -> Arrays.stream(values(found, METRIC)).average())
        .orElse(OptionalDouble.empty());
  }

  private static Optional<SummaryRow> row(
      StoredRun run, String algorithm, long size, String buffers) {
    return run.data().rows().stream()
        .filter(row -> row.metrics().containsKey(METRIC))
        .filter(row -> has(row, "algorithm", algorithm))
        .filter(row -> has(row, "size", Long.toString(size)))
        // A collective that is not made in place has no axis of that name.
        .filter(row -> has(row, "buffers", buffers) || !row.axes().containsKey("buffers"))
        .filter(row -> row.axes().containsKey("buffers") || buffers.equals("out-of-place"))
        .findFirst();
  }

  private static boolean has(SummaryRow row, String axis, String value) {
    return row.axes().containsKey(axis) && row.axes().get(axis).text().equals(value);
  }

  private String explained(CommandContext context, Collective kind, List<Long> sizes)
      throws ProblemException {
    Map<Long, Map<String, Double>> predicted = new LinkedHashMap<>();
    sizes.forEach(size -> predicted.put(size, new LinkedHashMap<>()));
    if (nccl) {
      try {
        NcclTimes times = new NcclTimes(kind, ranks(), gpus, TopologyFile.load(placement));
        predicted.replaceAll((size, none) -> times.of(size));
        if (predicted.values().stream().allMatch(Map::isEmpty)) {
          throw usage("--nccl", "all_reduce, all_gather, reduce_scatter; all_to_all in a node");
        }
        return NcclTable.explain(predicted);
      } catch (ConfigException e) {
        throw usage("--placement " + placement, String.valueOf(e.getMessage()));
      }
    }
    // Whether ranks share nodes is the topology's to say: what it does not make is not predicted.
    List<Algorithm> possible = new ArrayList<>(Algorithm.of(kind, ranks(), 1));
    possible.addAll(List.of(Algorithm.HIERARCHICAL, Algorithm.NVLS));
    for (Algorithm algorithm : possible) {
      String word = NcclTable.word(algorithm);
      form(context, kind, sizes, word)
          .forEach((size, nanos) -> predicted.getOrDefault(size, Map.of()).put(word, nanos));
    }
    return NcclTable.explain(predicted);
  }

  /** Sizes from -b to -e; of a barrier, which has none, one. */
  private List<Long> sizes(Collective kind, DataType elements) throws UsageException {
    if (kind == Collective.BARRIER) {
      return List.of((long) elements.bytes());
    }
    long from = bytes("-b", least);
    long to = bytes("-e", most);
    long more = step.isEmpty() ? 0 : bytes("-i", step);
    if (from < 1 || to < from || (more == 0 && factor < 2) || to > Integer.MAX_VALUE) {
      throw usage(
          "sizes from %s to %s by %s".formatted(least, most, step.isEmpty() ? "x" + factor : step),
          "use -b 8 -e 64K -f 2, or -i 4K; at most 2 GiB");
    }
    List<Long> sizes = new ArrayList<>();
    for (long size = from; size <= to; size = more > 0 ? size + more : size * factor) {
      sizes.add(size);
      if (sizes.size() > MOST_SIZES) {
        throw usage("more than %d sizes".formatted(MOST_SIZES), "use a larger -f or -i");
      }
    }
    return sizes;
  }

  private static long bytes(String option, String text) throws UsageException {
    return Sizes.parse(text).stream()
        .boxed()
        .findFirst()
        .orElseThrow(() -> usage("%s %s".formatted(option, text), "use bytes, or 4K, or 1M"));
  }

  private static <E extends Enum<E>> E constant(Class<E> of, String option, String word)
      throws UsageException {
    for (E each : of.getEnumConstants()) {
      if (NcclTable.word(each).equals(word.toLowerCase(Locale.ROOT))) {
        return each;
      }
    }
    throw usage(
        "%s %s".formatted(option, word),
        "use one of "
            + Arrays.stream(of.getEnumConstants())
                .map(NcclTable::word)
                .collect(Collectors.joining(", ")));
  }

  private static UsageException usage(String what, String fix) {
    return UsageException.wrong(null, what, fix);
  }
}
