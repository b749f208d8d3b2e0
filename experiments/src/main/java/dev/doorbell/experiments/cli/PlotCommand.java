package dev.doorbell.experiments.cli;

import dev.doorbell.experiments.figures.Figures;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.RunFiles;
import dev.doorbell.experiments.run.StoredRun;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code doorbell plot RUN...}. */
@CommandLine.Command(
    header = {
      "Draws the figures of runs again, from their samples alone: the same bytes every time.",
      "",
      "  doorbell plot runs/20260101T120000Z-pull-vs-push-7f3a91c2",
      "  doorbell plot runs/20260101T120000Z-pull-vs-push-7f3a91c2 --out paper/figures",
      ""
    })
final class PlotCommand implements Command {
  @Mixin private CommonOptions common = new CommonOptions();

  @Parameters(paramLabel = "RUN", arity = "1..*", description = "Run directories.")
  private List<Path> runs = new ArrayList<>();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Folder for the figures (default: figures in the run directory).")
  private @Nullable Path out;

  @Override
  public ExitCode run(Context context) throws RunException {
    Map<String, List<String>> written = new LinkedHashMap<>();
    for (Path run : runs) {
      StoredRun stored = StoredRun.read(run);
      Path folder = out == null ? run.resolve(RunDirectory.FIGURES) : out;
      List<String> files =
          RunFiles.writeAll(context.disk(), folder, Figures.render(stored.data())).stream()
              .map(file -> folder.resolve(file).toString())
              .toList();
      written.put(run.toString(), files);
      if (!common.json) {
        files.forEach(context.terminal().out()::println);
      }
    }
    if (common.json) {
      Json.print(context, written);
    }
    return ExitCode.OK;
  }

  @Override
  public boolean verbose() {
    return common.verbose;
  }
}
