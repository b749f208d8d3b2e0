package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.run.RunFinder;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Lists experiments, kernels, paths, topologies, metrics, axes, codes, runs or tags.",
      "",
      "  doorbell list",
      "  doorbell list paths",
      "  doorbell list runs",
      ""
    })
public final class ListCommand extends CliCommand {
  private static final String RUNS = "runs";
  private static final String TAGS = "tags";

  @Mixin private UserKernels kernels = new UserKernels();

  @Parameters(
      paramLabel = "WHAT",
      arity = "0..1",
      description = "Everything but codes, runs and tags when left out.")
  private @Nullable String what;

  @Option(
      names = "--runs",
      paramLabel = "DIR",
      description = "Folder of the runs and tags that are listed (default: runs).")
  private Path runs = Path.of("runs");

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    if (RUNS.equals(what) || TAGS.equals(what)) {
      return listRuns(context, TAGS.equals(what));
    }
    List<String> kinds =
        what == null
            ? Glossary.KINDS.stream().filter(kind -> !kind.equals(Glossary.CODES)).toList()
            : List.of(kind(what));
    Glossary glossary = new Glossary(kernels.join(context, null));
    Map<String, List<Glossary.Entry>> found = new LinkedHashMap<>();
    kinds.forEach(kind -> found.put(kind, glossary.entries(kind)));
    if (kinds.contains("kernels")) {
      kernels.problems().forEach(context::problem);
      kernels.misfits().forEach(context::problem);
    }
    if (common().json()) {
      Map<String, List<SequencedMap<String, String>>> tree = new LinkedHashMap<>();
      found.forEach(
          (kind, entries) -> tree.put(kind, entries.stream().map(Glossary.Entry::tree).toList()));
      Json.print(context, tree);
      return ExitCode.OK;
    }
    found.forEach(
        (kind, entries) -> {
          int width = entries.stream().mapToInt(entry -> entry.name().length()).max().orElse(0);
          String margin = what == null ? "  " : "";
          if (what == null) {
            context.println(kind);
          }
          for (Glossary.Entry entry : entries) {
            context.println(
                Screen.folded(
                    ("%s%-" + Math.max(1, width) + "s  %s")
                        .formatted(margin, entry.name(), entry.summary())
                        .stripTrailing(),
                    context.width(),
                    margin.length() + width + 2));
          }
        });
    return ExitCode.OK;
  }

  private ExitCode listRuns(CommandContext context, boolean byTag) {
    List<RunFinder.Known> known = new RunFinder(runs).known();
    SequencedMap<String, RunFinder.Known> tags = new LinkedHashMap<>();
    known.forEach(run -> run.manifest().tags().forEach(tag -> tags.put(tag, run)));
    if (common().json()) {
      Map<String, Object> tree = new LinkedHashMap<>();
      if (byTag) {
        tags.forEach((tag, run) -> tree.put(tag, run.path().toString()));
        Json.print(context, Map.of(TAGS, tree));
      } else {
        Json.print(context, Map.of(RUNS, known.stream().map(ListCommand::tree).toList()));
      }
      return ExitCode.OK;
    }
    TextTable table = new TextTable();
    if (byTag) {
      table.left("tag").left("run");
      tags.forEach((tag, run) -> table.row(List.of(tag, name(run))));
    } else {
      table.left("run").left("state").left("basis").right("points").left("tags");
      known.forEach(
          run ->
              table.row(
                  List.of(
                      name(run),
                      run.manifest().state().name().toLowerCase(Locale.ROOT),
                      run.manifest().basis().word(),
                      "%d/%d".formatted(run.manifest().recorded(), run.manifest().points()),
                      String.join(", ", run.manifest().tags()))));
    }
    boolean none = byTag ? tags.isEmpty() : known.isEmpty();
    context.out().print(none ? "no %s in %s%n".formatted(what, runs) : table.text());
    return ExitCode.OK;
  }

  private static String name(RunFinder.Known run) {
    return String.valueOf(run.path().getFileName());
  }

  private static SequencedMap<String, Object> tree(RunFinder.Known run) {
    SequencedMap<String, Object> tree = new LinkedHashMap<>();
    tree.put("run", run.path().toString());
    tree.put("experiment", run.manifest().experiment());
    tree.put("config_hash", run.manifest().configHash());
    tree.put("started", run.manifest().started().toString());
    tree.put("state", run.manifest().state().name().toLowerCase(Locale.ROOT));
    tree.put("basis", run.manifest().basis().word());
    tree.put("points", run.manifest().points());
    tree.put("recorded", run.manifest().recorded());
    tree.put(TAGS, run.manifest().tags());
    return tree;
  }

  private static String kind(String word) throws UsageException {
    for (String kind : Glossary.KINDS) {
      if (kind.equals(word) || kind.equals(word + "s") || (word + "ies").equals(kind)) {
        return kind;
      }
    }
    throw UsageException.of(
        "DB-U004",
        null,
        "cannot list '%s'%s".formatted(word, Nearest.suggestion(word, Glossary.KINDS)),
        "one of %s, %s, %s".formatted(String.join(", ", Glossary.KINDS), RUNS, TAGS));
  }
}
