package dev.doorbell.experiments.cli.paper;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.calibrate.CalibrateCommand;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.CommandRunner;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.command.Version;
import dev.doorbell.experiments.cli.plan.ExperimentFiles;
import dev.doorbell.experiments.cli.run.RunCommand;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.results.paper.Paper;
import dev.doorbell.experiments.results.paper.PaperBuild;
import dev.doorbell.experiments.run.Manifest;
import dev.doorbell.experiments.run.RunException;
import dev.doorbell.experiments.run.StoredRun;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * The runs that a paper rests on, made by the very commands that a user would type, and kept under
 * the names that the paper gives them: names appear in figures, and times must not.
 */
final class PaperRuns {
  /** Folder of what is built, in the paper's. */
  static final String GENERATED = "generated";

  /** Folder of the runs, in the paper's; not kept in repositories. */
  static final String RUNS = "runs";

  private final CommandContext context;
  private final Path folder;
  private final Path kept;
  private final boolean quiet;
  private final Map<String, StoredRun> runs = new LinkedHashMap<>();
  private final Map<String, Path> calibrations = new LinkedHashMap<>();

  private PaperRuns(CommandContext context, Path folder, Path kept, boolean quiet) {
    this.context = context;
    this.folder = folder;
    this.kept = kept;
    this.quiet = quiet;
  }

  /**
   * Builds a paper, after its runs.
   *
   * @param kept folder of the runs
   * @return files by their paths below {@link #GENERATED}
   */
  static SequencedMap<String, byte[]> build(
      CommandContext context, Path folder, Path kept, boolean quiet) throws ProblemException {
    Paper paper = Paper.read(folder);
    PaperRuns made = new PaperRuns(context, folder, kept, quiet);
    made.ensure(paper);
    return PaperBuild.of(folder, paper, made.runs, made.calibrations, context.runtime().get());
  }

  /**
   * Makes what is missing, or was made of another config, by another version, or before Doorbell
   * was built: the kernels are part of the build, and a run does not say which ones it had.
   */
  private void ensure(Paper paper) throws ProblemException {
    for (Map.Entry<String, Paper.Run> run : paper.runs().entrySet()) {
      if (!run.getValue().stored().isEmpty()) {
        runs.put(run.getKey(), StoredRun.read(folder.resolve(run.getValue().stored()).normalize()));
      } else if (run.getValue().calibrate().isEmpty()) {
        experiment(run.getKey(), run.getValue());
      } else {
        calibration(run.getKey(), run.getValue());
      }
    }
  }

  private void experiment(String name, Paper.Run run) throws ProblemException {
    String experiment = experimentOf(run);
    List<String> overrides = new ArrayList<>(run.set());
    ExperimentConfig config = ExperimentFiles.read(context, experiment, overrides);
    Path directory = kept.resolve(name);
    if (!fresh(directory, config)) {
      delete(directory);
      List<String> words = new ArrayList<>(List.of(experiment, "-q"));
      run.set().forEach(set -> words.addAll(List.of("-s", set)));
      if (!run.only().isEmpty()) {
        words.addAll(List.of("--only", run.only()));
      }
      words.addAll(List.of("--out", kept.toString()));
      String path = type(name, "run", new RunCommand(), words).strip();
      move(Path.of(path), directory);
    }
    runs.put(name, StoredRun.read(directory));
  }

  private String experimentOf(Paper.Run run) {
    return run.experiment().endsWith(".yaml")
        ? folder.resolve(run.experiment()).toString()
        : run.experiment();
  }

  /** Compared by what it says in full too: what is drawn and expected is kept with the run. */
  private static boolean fresh(Path directory, ExperimentConfig config) {
    if (!Files.isDirectory(directory)) {
      return false;
    }
    try {
      StoredRun stored = StoredRun.read(directory);
      return stored.manifest().state() == Manifest.State.COMPLETE
          && stored.plan().config().hash().equals(config.hash())
          && stored.plan().config().resolved().equals(config.resolved())
          && stored.manifest().doorbell().equals(Version.NUMBER)
          && BuildTime.isBefore(directory.resolve("manifest.json"));
    } catch (RunException _) {
      return false;
    }
  }

  private void calibration(String name, Paper.Run run) throws UsageException {
    Path file = kept.resolve(name + ".json");
    if (!Files.isRegularFile(file) || !BuildTime.isBefore(file)) {
      make(kept);
      String topology = folder.resolve(run.calibrate()).normalize().toString();
      type(
          name,
          "calibrate",
          new CalibrateCommand(),
          List.of("--gpu", "vm", "--topology", topology, "-o", file.toString()));
    }
    calibrations.put(name, file);
  }

  private String type(String name, String word, CliCommand command, List<String> words)
      throws UsageException {
    List<String> line = new ArrayList<>(words);
    line.addFirst(word);
    String typed = "doorbell " + String.join(" ", line);
    if (!quiet) {
      context.printf("run   %s  %s%n", name, typed);
    }
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    ExitCode code = new CommandRunner(context.printingTo(printed, line)).run(word, command, words);
    if (code != ExitCode.OK) {
      throw new UsageException(
          Problem.of("DB-U070", name, "this run of the paper ended with exit code " + code.status())
              .effect("the paper is not built")
              .fix(typed));
    }
    return printed.toString(StandardCharsets.UTF_8);
  }

  private static void make(Path folder) throws UsageException {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw unwritable(folder, e);
    }
  }

  static void move(Path from, Path to) throws UsageException {
    try {
      Files.move(from, to);
    } catch (IOException e) {
      throw unwritable(to, e);
    }
  }

  static void delete(Path folder) throws UsageException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw unwritable(folder, e);
    } catch (UncheckedIOException e) {
      throw unwritable(folder, new IOException(e.getMessage(), e));
    }
  }

  static UsageException unwritable(Path path, IOException e) {
    return UsageException.of(
        "DB-U071",
        path.toString(),
        "cannot write: " + e.getMessage(),
        "make room or fix the permission");
  }

  /** When the classes and kernels that run now were built. */
  static final class BuildTime {
    private BuildTime() {}

    /** Returns true if no class or jar is newer than {@code result}, the last file of a run. */
    static boolean isBefore(Path result) {
      return isBefore(result, System.getProperty("java.class.path", ""));
    }

    static boolean isBefore(Path result, String classPath) {
      try {
        FileTime newest = FileTime.fromMillis(0);
        for (Path file : files(classPath)) {
          FileTime time = Files.getLastModifiedTime(file);
          newest = time.compareTo(newest) > 0 ? time : newest;
        }
        return newest.compareTo(Files.getLastModifiedTime(result)) <= 0;
      } catch (IOException _) {
        return false;
      }
    }

    private static List<Path> files(String classPath) throws IOException {
      List<Path> files = new ArrayList<>();
      for (String entry : classPath.split(File.pathSeparator, -1)) {
        Path path = Path.of(entry);
        if (Files.isDirectory(path)) {
          try (Stream<Path> tree = Files.walk(path)) {
            tree.filter(Files::isRegularFile).forEach(files::add);
          }
        } else if (Files.isRegularFile(path)) {
          files.add(path);
        }
      }
      return files;
    }
  }
}
