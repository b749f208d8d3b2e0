package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.explore.ExploreCommand;
import dev.doorbell.experiments.cli.explore.ExploredKernel;
import dev.doorbell.experiments.cli.plan.UserKernels;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.workbench.diff.KernelComparer;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Runs kernels on two GPUs with random parameters, and compares what they leave.",
      "",
      "  doorbell kernel diff-run put_latency                 the PTX VM against cuda:0",
      "  doorbell kernel diff-run kernels/my_put/my_put.kernel.yaml    a kernel of your own",
      "  doorbell kernel diff-run all --runs 50 --seed 7",
      "  doorbell kernel diff-run all --gpu vm                the VM's interpreter against its"
          + " compiler",
      "  doorbell kernel diff-run put_rate --seed 7 --first 31 --runs 1     run 31 again",
      "",
      "Either runs beside the same software HCA. Compared is all memory of both ranks: payload,"
          + " inbox,",
      "send ring, completion ring, doorbell records, counters, signals, status and error records;",
      "addresses count as places in what they point to; samples and stamps, which are times, are"
          + " left",
      "out. Every thread has to end with DOORBELL_OK, and what was sent to have arrived. WQEs",
      "of several threads are compared in any order; chance by the descriptor (compare:) is named",
      "with the result. Exit code 1 when something differs.",
      ""
    })
final class KernelDiffRunCommand extends CliCommand {
  private static final String ALL = "all";
  private static final int MOST_RUNS = 1_000_000;

  @Mixin private UserKernels userKernels = new UserKernels();

  @Parameters(
      paramLabel = "KERNEL",
      arity = "1..*",
      description =
          "put_latency, put_bandwidth, put_rate, post_once, operations, restartable, or all of"
              + " these; or one of your own: its name, its descriptor, or PTX beside a descriptor.")
  private List<String> kernels = new ArrayList<>();

  @Option(
      names = "-s",
      paramLabel = "SETTING=VALUE",
      description = "A setting of the kernel's own descriptor; repeat for more.")
  private List<String> settings = new ArrayList<>();

  @Option(
      names = "--gpu",
      paramLabel = "GPU",
      description =
          "cuda:N against the PTX VM; or vm, the VM's compiler against its interpreter; vm:order,"
              + " the interpreter with its threads in another order (default: cuda:0).")
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

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description =
          "Give a kernel up then; half of it is the deadline of its own waits (default: 20s).")
  private String timeout = "20s";

  private record Chosen(String said, String name, Optional<UserKernel> own) {}

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    KernelComparer comparer = KernelComparer.find();
    List<Chosen> chosen = chosen(comparer);
    if (!gpu.matches("vm|vm:order|cuda:[0-9]{1,3}")) {
      throw UsageException.wrong(
          "--gpu", "'%s' is no GPU".formatted(gpu), "cuda:0, vm or vm:order");
    }
    if (runs < 1 || first < 0 || runs > MOST_RUNS || first > MOST_RUNS) {
      throw UsageException.wrong(
          "--runs",
          "%d from %d".formatted(runs, first),
          "at least 1 run, and numbers from 0 to " + MOST_RUNS);
    }
    long nanos = ExploreCommand.nanos("--timeout", timeout);
    Map<String, Object> json = new LinkedHashMap<>();
    boolean differs = false;
    for (Chosen kernel : chosen) {
      List<KernelComparer.Run> heard = new ArrayList<>();
      KernelComparer.Comparison comparison =
          comparer.compare(
              new KernelComparer.Request(
                  kernel.name(),
                  kernel.own(),
                  gpu,
                  seed,
                  first,
                  runs,
                  nanos,
                  context.interruption()::requested,
                  run -> {
                    heard.add(run);
                    if (!common().json()) {
                      tell(context.out(), kernel, run);
                    }
                  }));
      differs |= heard.stream().anyMatch(run -> !run.differences().isEmpty());
      if (common().json()) {
        json.put(
            kernel.name(),
            Map.of(
                "compared",
                comparison.between(),
                "not_compared",
                comparison.chance(),
                "runs",
                heard));
      } else {
        summary(context.out(), kernel, heard, comparison);
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

  private void summary(
      PrintStream out,
      Chosen kernel,
      List<KernelComparer.Run> heard,
      KernelComparer.Comparison comparison) {
    long wrong = heard.stream().filter(run -> !run.differences().isEmpty()).count();
    out.printf(
        "%-14s %d of %d runs agree, %,d bytes compared: %s%n",
        kernel.name(),
        heard.size() - wrong,
        heard.size(),
        heard.stream().mapToLong(KernelComparer.Run::compared).sum(),
        comparison.between());
    boolean failed = heard.stream().anyMatch(KernelComparer.Run::failed);
    if (failed && heard.size() < runs) {
      out.printf(
          "%-14s stopped there: %d runs were not made%n", kernel.name(), runs - heard.size());
    }
    if (!common().quiet()) {
      comparison.chance().forEach(what -> out.println("    not compared: " + what));
    }
  }

  private List<Chosen> chosen(KernelComparer comparer) throws UsageException {
    List<String> known = comparer.kernels();
    List<Chosen> chosen = new ArrayList<>();
    for (String kernel : kernels) {
      if (kernel.equals(ALL)) {
        known.forEach(name -> chosen.add(new Chosen(name, name, Optional.empty())));
      } else if (known.contains(kernel)) {
        chosen.add(new Chosen(kernel, kernel, Optional.empty()));
      } else {
        UserKernel own = userKernels.find(kernel, settings);
        if (own == null) {
          throw unknown(kernel, known);
        }
        chosen.add(new Chosen(own.file(), own.name(), Optional.of(ExploredKernel.fitting(own))));
      }
    }
    return chosen;
  }

  private UsageException unknown(String kernel, List<String> known) throws UsageException {
    if (kernel.endsWith(".ptx")) {
      return new UsageException(
          Problem.of("DB-U003", "KERNEL", "no descriptor lies beside " + kernel)
              .effect("what its parameters get, and what it should leave, cannot be told")
              .fix("write one: docs/kernel-descriptor.md; or doorbell kernel new"));
    }
    List<String> names = new ArrayList<>(known);
    userKernels.scan().kernels().forEach(found -> names.add(found.name()));
    if (KernelWorkbench.find().takenNames().contains(kernel)) {
      return UsageException.wrong(
          "KERNEL",
          "'%s' is driven by an experiment of its own, and cannot be compared".formatted(kernel),
          "one of %s, all".formatted(String.join(", ", names)));
    }
    return UsageException.wrong(
        "KERNEL",
        "there is no kernel '%s'".formatted(kernel),
        "one of %s, all; or the descriptor of your own%s"
            .formatted(String.join(", ", names), Nearest.suggestion(kernel, names)));
  }

  private void tell(PrintStream out, Chosen kernel, KernelComparer.Run run) {
    if (run.differences().isEmpty()) {
      if (common().verbose()) {
        out.printf("%-14s run %d agrees: %s%n", kernel.name(), run.number(), run.parameters());
      }
      return;
    }
    out.printf(
        "%-14s run %d %s: %s%n    again: %s kernel diff-run %s%s --gpu %s --seed %d --first %d"
            + " --runs 1 --timeout %s%n",
        kernel.name(),
        run.number(),
        run.failed() ? "fails" : "differs",
        run.parameters(),
        Typed.program(),
        kernel.said(),
        settings.stream().map(setting -> " -s " + setting).collect(Collectors.joining()),
        gpu,
        seed,
        run.number(),
        timeout);
    run.differences().forEach(difference -> out.println("    " + difference));
  }
}
