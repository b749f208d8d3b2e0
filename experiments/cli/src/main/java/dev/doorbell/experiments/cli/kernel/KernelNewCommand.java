package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.kernel.KernelBuildCommand.KernelCompiler;
import dev.doorbell.experiments.kernels.KernelFolders;
import dev.doorbell.kernels.KernelCatalogue;
import dev.doorbell.kernels.KernelTemplates;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SequencedMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Makes a folder with a kernel to start from: CUDA source, PTX, descriptor, experiment,"
          + " README.",
      "",
      "  doorbell kernel new my_put",
      "  doorbell kernel new credit_ring --template ring",
      "",
      "It works at once and needs no compiler. Templates:",
      "  put       a ping-pong of puts; measures latency",
      "  ring      a stream through a ring of slots with credits; measures goodput",
      "  signal    the same by put-with-signal, credits by atomics; measures goodput",
      "  exchange  threads of both ranks swap messages, with a barrier; measures latency",
      "  proxy     a stream of puts that the CPU posts; measures goodput",
      "  alltoall  every rank sends every other one a message; up to 16 ranks; measures latency",
      "  reduce    a ring all-reduce, with a setting, metrics and buffers of its own",
      "  dispatch  top-k dispatch with uneven counts, verified by an entry of its own",
      ""
    })
final class KernelNewCommand extends CliCommand {
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,63}");

  @Parameters(paramLabel = "NAME", description = "Of the kernel: lower-case letters, digits, _.")
  private String name = "";

  @Option(
      names = "--template",
      paramLabel = "TEMPLATE",
      description = "What to start from (default: put).")
  private String template = "put";

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "The folder to make (default: kernels/NAME).")
  private @Nullable Path folder;

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    check();
    Path chosen = folder == null ? KernelFolders.STANDARD.resolve(name) : folder;
    if (Files.exists(chosen)) {
      throw new UsageException(
          Problem.of("DB-K009", chosen.toString(), "this exists already")
              .effect("nothing was written")
              .fix("choose another name, or --dir DIR"));
    }
    String compile =
        KernelCompiler.text(
            KernelCompiler.command(
                List.of(), chosen.resolve(name + ".cu"), chosen.resolve(name + ".ptx")));
    SequencedMap<String, String> files =
        KernelTemplates.load().instantiate(template, name, chosen.toString(), compile);
    try {
      Files.createDirectories(chosen);
      for (var file : files.entrySet()) {
        Files.write(
            chosen.resolve(file.getKey()), file.getValue().getBytes(StandardCharsets.UTF_8));
      }
    } catch (IOException e) {
      throw UsageException.of(
          "DB-K009",
          chosen.toString(),
          "cannot write: " + e.getMessage(),
          "choose another folder with --dir DIR");
    }
    if (common().json()) {
      Json.print(context, files.keySet().stream().map(file -> chosen.resolve(file).toString()));
    } else {
      tell(context.out(), chosen, List.copyOf(files.keySet()), compile);
    }
    return ExitCode.OK;
  }

  private void check() throws UsageException {
    if (!NAME.matcher(name).matches()) {
      throw UsageException.of(
          "DB-K008",
          null,
          "'%s' cannot be the name of a kernel".formatted(name),
          "a lower-case letter, then letters, digits and underscores, up to 64");
    }
    if (KernelCatalogue.load().names().contains(name)) {
      throw UsageException.of(
          "DB-K008",
          null,
          "'%s' is one of Doorbell's own kernels".formatted(name),
          "choose another name");
    }
    List<String> templates = KernelTemplates.load().names();
    if (!templates.contains(template)) {
      throw UsageException.of(
          "DB-U004",
          "--template",
          "there is no template '%s'%s"
              .formatted(template, Nearest.suggestion(template, templates)),
          "one of " + String.join(", ", templates));
    }
  }

  private void tell(PrintStream out, Path chosen, List<String> files, String compile) {
    if (common().quiet()) {
      return;
    }
    out.printf("%s   from template %s%n", chosen, template);
    files.forEach(file -> out.println("  " + file));
    out.println();
    out.println("next");
    out.printf("  %s kernel check %s%n", Typed.program(), chosen.resolve(name + ".kernel.yaml"));
    out.printf("  %s run %s%n", Typed.program(), chosen.resolve(name + ".experiment.yaml"));
    out.println();
    out.printf(
        "after a change of %s.cu: %s kernel build %s, which runs%n", name, Typed.program(), chosen);
    out.println("  " + compile);
  }
}
