package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.experiments.cli.command.Command;
import dev.doorbell.experiments.cli.command.Context;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.config.Nearest;
import dev.doorbell.experiments.config.Problem;
import dev.doorbell.experiments.diff.KernelComparer;
import dev.doorbell.experiments.plan.EnvironmentException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code doorbell kernel diff-run KERNEL...}. */
@CommandLine.Command(
    header = {
      "Runs kernels of the project on two GPUs with random parameters, and compares what they leave.",
      "",
      "  doorbell kernel diff-run put_latency                 the PTX VM against cuda:0",
      "  doorbell kernel diff-run all --runs 50 --seed 7",
      "  doorbell kernel diff-run all --gpu vm                the VM's interpreter against its compiler",
      "  doorbell kernel diff-run put_rate --seed 7 --first 31 --runs 1     run 31 again",
      "",
      "Either runs beside the same software HCA. Compared is all memory of both ranks: payload, send",
      "ring, completion ring, doorbell records, counters, status and error records; addresses count as",
      "places in what they point to. Where several threads post, WQEs and CQEs are compared in any",
      "order. Of the push kernels the ring in on-chip memory is compared, too, where one block fills it.",
      "Exit code 1 when something differs.",
      ""
    })
final class KernelDiffRunCommand extends Command {
  private static final String ALL = "all";
  private static final int MOST_RUNS = 1_000_000;

  @Parameters(
      paramLabel = "KERNEL",
      arity = "1..*",
      description =
          "put_latency, put_bandwidth, put_rate, post_once, operations, restartable, push_ring,"
              + " push_shared, or all.")
  private List<String> kernels = new ArrayList<>();

  @Option(names = "--gpu", paramLabel = "GPU", description = "cuda:N, or vm (default: cuda:0).")
  private String gpu = "cuda:0";

  @Option(names = "--runs", paramLabel = "N", description = "Of each kernel (default: 20).")
  private int runs = 20;

  @Option(names = "--seed", paramLabel = "N", description = "Picks the parameters (default: 1).")
  private long seed = 1;

  @Option(
      names = "--first",
      paramLabel = "N",
      description = "The number of the first run (default: 0).")
  private int first;

  @Override
  public ExitCode run(Context context) throws UsageException, EnvironmentException {
    KernelComparer comparer = KernelComparer.find();
    List<String> chosen = chosen(comparer);
    if (!gpu.matches("vm|cuda:[0-9]{1,3}")) {
      throw new UsageException(
          Problem.of("DB-U003", "--gpu", "'%s' is no GPU".formatted(gpu)).fix("cuda:0, or vm"));
    }
    if (runs < 1 || first < 0 || runs > MOST_RUNS || first > MOST_RUNS) {
      throw new UsageException(
          Problem.of("DB-U003", "--runs", "%d from %d".formatted(runs, first))
              .fix("at least 1 run, and numbers from 0 to " + MOST_RUNS));
    }
    Map<String, Object> json = new LinkedHashMap<>();
    boolean differs = false;
    for (String kernel : chosen) {
      List<KernelComparer.Run> heard = new ArrayList<>();
      String who =
          comparer.compare(
              new KernelComparer.Request(
                  kernel,
                  gpu,
                  seed,
                  first,
                  runs,
                  context.interruption()::requested,
                  run -> {
                    heard.add(run);
                    if (!common().json()) {
                      tell(context.terminal().out(), kernel, run);
                    }
                  }));
      long wrong = heard.stream().filter(run -> !run.differences().isEmpty()).count();
      differs |= wrong > 0;
      if (common().json()) {
        json.put(kernel, Map.of("compared", who, "runs", heard));
      } else {
        context
            .terminal()
            .out()
            .printf(
                "%-14s %d of %d runs agree, %,d bytes compared: %s%n",
                kernel,
                heard.size() - wrong,
                heard.size(),
                heard.stream().mapToLong(KernelComparer.Run::compared).sum(),
                who);
      }
      if (context.interruption().requested()) {
        return ExitCode.INTERRUPTED;
      }
    }
    if (common().json()) {
      Json.print(context, json);
    }
    return differs ? ExitCode.FAILED : ExitCode.OK;
  }

  private List<String> chosen(KernelComparer comparer) throws UsageException {
    List<String> known = comparer.kernels();
    if (kernels.contains(ALL)) {
      return known;
    }
    for (String kernel : kernels) {
      if (!known.contains(kernel)) {
        throw new UsageException(
            Problem.of("DB-U003", "KERNEL", "'%s' cannot be compared".formatted(kernel))
                .fix(
                    "one of %s, all%s"
                        .formatted(String.join(", ", known), Nearest.suggestion(kernel, known))));
      }
    }
    return kernels;
  }

  private void tell(PrintStream out, String kernel, KernelComparer.Run run) {
    if (run.differences().isEmpty()) {
      if (common().verbose()) {
        out.printf("%-14s run %d agrees: %s%n", kernel, run.number(), run.parameters());
      }
      return;
    }
    out.printf(
        "%-14s run %d differs: %s%n    again: doorbell kernel diff-run %s --gpu %s --seed %d --first %d --runs 1%n",
        kernel, run.number(), run.parameters(), kernel, gpu, seed, run.number());
    run.differences().forEach(difference -> out.println("    " + difference));
  }
}
