package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.explore.ExploreCommand;
import dev.doorbell.experiments.cli.kernel.KernelFiles.LinkedFiles;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.run.RunDirectory.RunFiles;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelOutcome;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelReport;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelRun;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Runs a kernel on its own: no HCA, no experiment.",
      "",
      "  doorbell kernel run sum.ptx --entry sum --block 32 --arg in:x.bin --arg out:y.bin:128 \\",
      "      --arg u32:32 --dump f32",
      "  doorbell kernel run sum.ptx --arg zero:4K --arg u32:9 --profile",
      "  doorbell kernel run sum.ptx --arg zero:4K --arg u32:9 --trace=0,33",
      "",
      "Arguments, one --arg for each parameter in order:",
      "  in:FILE          a buffer with what the file holds",
      "  out:FILE:BYTES   a buffer of zeros that is written to the file",
      "  inout:FILE       both",
      "  zero:BYTES       a buffer of zeros",
      "  multicast:4x64K  a multicast object for multimem over 4 buffers of zeros, or over one of",
      "                   each file: multicast:FILE,FILE; shown one behind the other",
      "  u32:5 f64:0.5    a value: u8 u16 u32 u64, s8 to s64, b8 to b64, f16 f32 f64; 0x for"
          + " hexadecimal",
      "  hex:BYTES        a structure by value; value:FILE takes it from a file",
      ""
    })
final class KernelRunCommand extends CliCommand {
  @Parameters(paramLabel = "FILE", description = "PTX.")
  private String file = "";

  @Mixin private LinkedFiles linked = new LinkedFiles();

  @Option(
      names = "--entry",
      paramLabel = "NAME",
      description = "Which kernel (default: the only one).")
  private @Nullable String entry;

  @Option(names = "--grid", paramLabel = "X[,Y[,Z]]", description = "Blocks (default: 1).")
  private String grid = "1";

  @Option(
      names = "--block",
      paramLabel = "X[,Y[,Z]]",
      description = "Threads of a block (default: 1).")
  private String block = "1";

  @Option(names = "--arg", paramLabel = "ARG", description = "What a parameter gets; see above.")
  private List<String> arguments = new ArrayList<>();

  @Option(
      names = "--shared",
      paramLabel = "BYTES",
      description = "Dynamic shared memory of a block (default: 0).")
  private int shared;

  @Option(names = "--cooperative", description = "All blocks must be resident at once.")
  private boolean cooperative;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description = "Stop it then, and say what its threads wait for (default: 10s).")
  private String timeout = "10s";

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Picks the order in which threads take turns (default: 0).")
  private long seed;

  @Option(
      names = "--dump",
      paramLabel = "[N:]TYPE",
      description =
          "Show buffers, or that of argument N, as hex, u8 ... s64, f32 or f64 "
              + "(default: hex).")
  private List<String> dumps = new ArrayList<>();

  @Option(
      names = "--dump-bytes",
      paramLabel = "N",
      description = "Show at most that many bytes of a buffer (default: 128).")
  private int dumpBytes = 128;

  @Option(names = "--profile", description = "Count instructions by opcode and by line.")
  private boolean profile;

  @Option(
      names = "--trace",
      paramLabel = "THREADS",
      arity = "1",
      preprocessor = KernelRunOptions.FirstThread.class,
      description =
          "Print every instruction of threads with what it read -> wrote: --trace for "
              + "thread 0, --trace=0,32-35, --trace=all. Threads are numbered over the grid.")
  private @Nullable String trace;

  @Option(
      names = "--trace-lines",
      paramLabel = "N",
      description = "Print at most that many of them (default: 10000).")
  private long traceLines = 10_000;

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    if (file.endsWith(KernelDescriptor.ENDING)) {
      throw UsageException.wrong(
          file,
          "a descriptor's kernel needs queue pairs, and there is no HCA",
          "doorbell run NAME.experiment.yaml runs it");
    }
    String ptx = linked.ptx(file);
    KernelWorkbench workbench = KernelWorkbench.find();
    KernelReport report = workbench.check(file, ptx);
    if (!KernelFiles.isLoadable(context, report)) {
      return ExitCode.FAILED;
    }
    KernelReport.Entry chosen = KernelFiles.entry(report, entry);
    List<KernelArguments.Parsed> parsed = new ArrayList<>();
    for (String argument : arguments) {
      parsed.add(KernelArguments.parse(argument));
    }
    KernelArguments.check(chosen, parsed);
    List<KernelDump> dump = new ArrayList<>();
    for (String text : dumps) {
      dump.add(KernelDump.parse(text, parsed.size()));
    }
    Tracer tracer = new Tracer(context.out(), traceLines);
    KernelRun run =
        new KernelRun(
            file,
            ptx,
            chosen.name(),
            KernelRunOptions.shape("--grid", grid),
            KernelRunOptions.shape("--block", block),
            shared,
            cooperative,
            ExploreCommand.nanos("--timeout", timeout),
            seed,
            parsed.stream().map(KernelArguments.Parsed::argument).toList(),
            profile,
            trace == null ? Optional.empty() : Optional.of(KernelRunOptions.threads(trace)),
            tracer::line);
    if (!common().quiet() && !common().json()) {
      context.printf(
          "gpu ptx-vm   kernel %s   grid %s   block %s   seed %d%n",
          chosen.name(), run.grid(), run.block(), seed);
    }
    KernelOutcome outcome = workbench.run(run, context.interruption()::requested);
    tracer.end();
    if (outcome.failure().isEmpty()) {
      write(context, parsed, outcome);
    }
    if (common().json()) {
      json(context, chosen.name(), parsed, outcome);
    } else {
      tell(context.out(), parsed, dump, outcome);
    }
    outcome
        .failure()
        .ifPresent(
            what ->
                context
                    .err()
                    .println(
                        Problem.of("DB-K007", file, what)
                            .effect("what it wrote so far is shown; no file was written")
                            .text()));
    return outcome.interrupted()
        ? ExitCode.INTERRUPTED
        : outcome.failure().isPresent() ? ExitCode.FAILED : ExitCode.OK;
  }

  private static final class Tracer {
    private final PrintStream out;
    private final long most;
    private long lines;

    Tracer(PrintStream out, long most) {
      this.out = out;
      this.most = most;
    }

    void line(String text) {
      if (lines++ < most) {
        out.println(text);
      }
    }

    void end() {
      if (lines > most) {
        out.printf("...   %,d more instructions (--trace-lines)%n", lines - most);
      }
    }
  }

  private static void write(
      CommandContext context, List<KernelArguments.Parsed> parsed, KernelOutcome outcome)
      throws RunException {
    for (int i = 0; i < parsed.size(); i++) {
      Optional<Path> target = parsed.get(i).output();
      Optional<byte[]> bytes = outcome.buffers().get(i);
      if (target.isPresent() && bytes.isPresent()) {
        RunFiles.write(context.disk(), target.get(), bytes.get());
      }
    }
  }

  private void tell(
      PrintStream out,
      List<KernelArguments.Parsed> parsed,
      List<KernelDump> dump,
      KernelOutcome outcome) {
    for (int i = 0; i < outcome.buffers().size(); i++) {
      Optional<byte[]> bytes = outcome.buffers().get(i);
      Optional<KernelDump> asked = dumpOf(dump, i + 1);
      boolean shown = parsed.get(i).isResult() || asked.filter(d -> d.argument() > 0).isPresent();
      if (bytes.isPresent() && shown && !common().quiet()) {
        out.printf("argument %d  %s%n", i + 1, parsed.get(i).argument().text());
        asked
            .orElse(KernelDump.HEX)
            .rows(bytes.get(), dumpBytes)
            .forEach(row -> out.println("  " + row));
      }
    }
    if (!outcome.output().isEmpty()) {
      if (!common().quiet()) {
        out.println("printf");
      }
      out.print(outcome.output().endsWith("\n") ? outcome.output() : outcome.output() + "\n");
    }
    if (profile) {
      KernelProfile.print(out, outcome);
    }
    if (!common().quiet()) {
      out.printf(
          "%,d instructions in %.3g ms%s%n",
          outcome.instructions(),
          outcome.nanos() / 1e6,
          outcome.failure().isPresent() ? ", then it was stopped" : "");
    }
  }

  /** The word for an argument's own number wins over the one for all. */
  private static Optional<KernelDump> dumpOf(List<KernelDump> dump, int argument) {
    return dump.stream()
        .filter(d -> d.argument() == argument)
        .reduce((_, last) -> last)
        .or(() -> dump.stream().filter(d -> d.argument() == 0).reduce((_, last) -> last));
  }

  private static void json(
      CommandContext context,
      String entry,
      List<KernelArguments.Parsed> parsed,
      KernelOutcome outcome) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("entry", entry);
    json.put("failure", outcome.failure().orElse(""));
    json.put("instructions", outcome.instructions());
    json.put("nanos", outcome.nanos());
    json.put("printf", outcome.output());
    Map<String, String> buffers = new LinkedHashMap<>();
    for (int i = 0; i < outcome.buffers().size(); i++) {
      String name = (i + 1) + " " + parsed.get(i).argument().text();
      outcome
          .buffers()
          .get(i)
          .ifPresent(bytes -> buffers.put(name, java.util.HexFormat.of().formatHex(bytes)));
    }
    json.put("buffers", buffers);
    json.put("opcodes", outcome.opcodes());
    json.put("lines", outcome.lines());
    Json.print(context, json);
  }

  private static final class KernelProfile {
    private static final int OPCODES = 30;
    private static final int LINES = 12;

    private KernelProfile() {}

    static void print(PrintStream out, KernelOutcome outcome) {
      long all = outcome.opcodes().stream().mapToLong(KernelOutcome.Count::executed).sum();
      TextTable opcodes =
          new TextTable().left("opcode").right("executed").right("share").right("skipped");
      rows(outcome.opcodes(), OPCODES)
          .forEach(
              count ->
                  opcodes.row(
                      List.of(
                          count.what(),
                          "%,d".formatted(count.executed()),
                          share(count.executed(), all),
                          count.skipped() == 0 ? "" : "%,d".formatted(count.skipped()))));
      out.print(opcodes.text());
      more(out, outcome.opcodes().size(), OPCODES, "opcodes");
      out.println();
      TextTable lines =
          new TextTable()
              .right("line")
              .right("executed")
              .right("share")
              .left("instruction")
              .left("source");
      rows(outcome.lines(), LINES)
          .forEach(
              count ->
                  lines.row(
                      List.of(
                          Integer.toString(count.line()),
                          "%,d".formatted(count.executed()),
                          share(count.executed(), all),
                          count.what(),
                          count.source())));
      out.print(lines.text());
      more(out, outcome.lines().size(), LINES, "lines");
      out.println();
    }

    private static List<KernelOutcome.Count> rows(List<KernelOutcome.Count> counts, int most) {
      return counts.subList(0, Math.min(most, counts.size()));
    }

    private static String share(long part, long all) {
      return "%.1f %%".formatted(100.0 * part / Math.max(1, all));
    }

    private static void more(PrintStream out, int found, int shown, String what) {
      if (found > shown) {
        out.printf("... and %d more %s%n", found - shown, what);
      }
    }
  }
}
