package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code doorbell list WHAT}. */
@CommandLine.Command(
    header = {
      "Lists what there is: experiments, kernels, paths, topologies, metrics or axes.",
      "",
      "  doorbell list",
      "  doorbell list paths",
      ""
    })
public final class ListCommand extends CliCommand {
  @Mixin private UserKernels kernels = new UserKernels();

  @Parameters(paramLabel = "WHAT", arity = "0..1", description = "Everything when left out.")
  private @Nullable String what;

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    List<String> kinds = what == null ? Glossary.KINDS : List.of(kind(what));
    Glossary glossary = new Glossary(kernels.join(context, null));
    Map<String, List<Glossary.Entry>> found = new LinkedHashMap<>();
    kinds.forEach(kind -> found.put(kind, glossary.entries(kind)));
    if (kinds.contains("kernels")) {
      kernels.problems().forEach(problem -> context.terminal().err().println(problem.text()));
      kernels.misfits().forEach(problem -> context.terminal().err().println(problem.text()));
    }
    if (common().json()) {
      Json.print(context, found);
      return ExitCode.OK;
    }
    found.forEach(
        (kind, entries) -> {
          int width = entries.stream().mapToInt(entry -> entry.name().length()).max().orElse(0);
          if (what == null) {
            context.terminal().out().println(kind);
          }
          for (Glossary.Entry entry : entries) {
            context
                .terminal()
                .out()
                .println(
                    ("%s%-" + Math.max(1, width) + "s  %s")
                        .formatted(what == null ? "  " : "", entry.name(), entry.summary())
                        .stripTrailing());
          }
        });
    return ExitCode.OK;
  }

  private static String kind(String word) throws UsageException {
    for (String kind : Glossary.KINDS) {
      if (kind.equals(word) || kind.equals(word + "s") || (word + "ies").equals(kind)) {
        return kind;
      }
    }
    throw new UsageException(
        Problem.of(
                "DB-U004",
                null,
                "cannot list '%s'%s".formatted(word, Nearest.suggestion(word, Glossary.KINDS)))
            .fix("one of " + String.join(", ", Glossary.KINDS)));
  }
}
