package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.Show;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.explore.ExploreReport;
import dev.doorbell.experiments.cli.kernel.KernelFiles.LinkedFiles;
import dev.doorbell.experiments.workbench.experts.Experts;
import dev.doorbell.experiments.workbench.experts.Experts.ExpertKernels;
import dev.doorbell.experiments.workbench.experts.Experts.ExpertOutcome;
import dev.doorbell.experiments.workbench.experts.Experts.ExpertRun;
import java.io.PrintStream;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Runs DeepEP's dispatch and combine, and checks what they leave.",
      "",
      "  doorbell kernel experts ll.ptx                   2 ranks, 16 tokens, hidden 7168, top 4 of"
          + " 8",
      "  doorbell kernel experts ll.ptx --ranks 8 --tokens 128 --top 8 --experts 64",
      "  doorbell kernel experts ll.ptx --fp8 --rounds 3  tokens travel as 8-bit floats",
      "  doorbell kernel experts ll.ptx --machine h200    in virtual time",
      "  doorbell kernel experts intra.ptx --kernels intranode --ranks 4   over peer memory",
      "",
      "FILE is the PTX of internode_ll.cu, or of layout.cu and intranode.cu, from a checkout of"
          + " your",
      "own, compiled by kernel build --api deepep (docs/foreign-kernels.md). Routing, tokens and",
      "weights are drawn by the seed; every row that a rank gets, every count and every sum is",
      "compared with a plain computation. Exit code 1 when one is wrong.",
      ""
    })
final class KernelExpertsCommand extends CliCommand {
  @Parameters(paramLabel = "FILE", description = "PTX.")
  private String file = "";

  @Mixin private LinkedFiles linked = new LinkedFiles();

  @Option(
      names = "--kernels",
      paramLabel = "WHICH",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private ExpertKernels kernels = ExpertKernels.LOW_LATENCY;

  @Option(names = "--ranks", paramLabel = "N", description = "Ranks (default: 2).")
  private int ranks = 2;

  @Option(names = "--tokens", paramLabel = "N", description = "Tokens of each rank (default: 16).")
  private int tokens = 16;

  @Option(
      names = "--hidden",
      paramLabel = "N",
      description = "Elements of a token, as the PTX was compiled for (default: 7168).")
  private int hidden = 7168;

  @Option(names = "--top", paramLabel = "N", description = "Experts of a token (default: 4).")
  private int top = 4;

  @Option(
      names = "--experts",
      paramLabel = "N",
      description = "Experts of all ranks together (default: 8).")
  private int experts = 8;

  @Option(
      names = "--multiprocessors",
      paramLabel = "N",
      description =
          "The GPU that launches are laid out for: a kernel has at most that many "
              + "blocks (default: 8).")
  private int multiprocessors = 8;

  @Option(names = "--fp8", description = "Dispatch tokens as 8-bit floats.")
  private boolean fp8;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Dispatch and combine as often (default: 1).")
  private int rounds = 1;

  @Option(
      names = "--machine",
      paramLabel = "TOPOLOGY",
      description = "Run in virtual time, with the prices of this machine.")
  private @Nullable String machine;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      description = "Explore N schedules, as explore does (default: 0).")
  private int seeds;

  @Option(
      names = "--policy",
      description = "Of explored runs: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Policy policy = Policy.VENDOR;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description = "Stop a kernel then, on its own clock (default: 2min).")
  private String timeout = "2min";

  @Option(names = "--seed", paramLabel = "N", description = "Draws the tokens (default: 1).")
  private long seed = 1;

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    if (rounds < 1) {
      throw UsageException.of("DB-U003", "--rounds", "%d rounds".formatted(rounds));
    }
    if (seeds > 0 && machine != null) {
      throw UsageException.of(
          "DB-U003", "--seeds", "explored runs have no virtual time", "leave out --machine");
    }
    ExpertRun run =
        new ExpertRun(
            kernels,
            file,
            linked.ptx(file),
            ranks,
            tokens,
            hidden,
            top,
            experts,
            multiprocessors,
            fp8,
            rounds,
            Optional.ofNullable(machine),
            seeds > 0
                ? Optional.of(
                    new ExpertRun.Exploration(seeds, policy, KernelRunOptions.nanos(timeout)))
                : Optional.empty(),
            seed,
            KernelRunOptions.nanos(timeout));
    ExpertOutcome outcome = Experts.find().run(run, context.interruption()::requested);
    if (common().json()) {
      Json.print(context, outcome);
    } else {
      print(context.out(), run, outcome);
    }
    return context.interruption().requested()
        ? ExitCode.INTERRUPTED
        : outcome.failure().isPresent() || outcome.found() > 0 ? ExitCode.FAILED : ExitCode.OK;
  }

  private static void print(PrintStream out, ExpertRun run, ExpertOutcome outcome) {
    out.printf(
        "%d ranks, %d tokens each, hidden %d, top %d of %d experts, %s%n",
        run.ranks(),
        run.tokens(),
        run.hidden(),
        run.top(),
        run.experts(),
        run.fp8() ? "dispatched as fp8" : "bfloat16");
    for (ExpertOutcome.Phase phase : outcome.phases()) {
      out.printf(
          "%-22s right   %,d instructions, %.1f s%s%n",
          phase.name(),
          phase.instructions(),
          phase.wallNanos() / 1e9,
          run.machine().isEmpty()
              ? ""
              : ", %.1f us of virtual time (modelled)".formatted(phase.nanos() / 1e3));
    }
    if (run.exploration().isPresent()) {
      StringBuilder text = new StringBuilder();
      for (ExpertOutcome.Found found : outcome.races()) {
        text.append(
            "%n%s   in %s%n"
                .formatted(found.race().kind().what(), Show.count(found.runs(), "explored run")));
        ExploreReport.race(text, found.race());
      }
      out.printf(
          "%s%n%s to the end, races in %d%n",
          text, Show.count(outcome.explored(), "explored run"), outcome.found());
    }
    outcome.failure().ifPresent(out::println);
  }
}
