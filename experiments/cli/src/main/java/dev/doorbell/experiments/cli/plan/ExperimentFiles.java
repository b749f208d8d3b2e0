package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.document.DocumentKind;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Finds experiments: those that Doorbell brings, by name, and the user's own, by file. */
public final class ExperimentFiles {
  private static final String FOLDER = "/dev/doorbell/experiments/configs";
  private static final String ENDING = ".yaml";
  private static final DocumentKind KIND = new DocumentKind("experiment", "a mapping", 'C');

  private ExperimentFiles() {}

  record Source(String name, String text) {}

  /** Names of the experiments that Doorbell brings, sorted. */
  public static List<String> names() {
    URL url = ExperimentFiles.class.getResource(FOLDER);
    if (url == null) {
      throw new IllegalStateException("the build left out " + FOLDER);
    }
    try {
      URI uri = url.toURI();
      if (!uri.getScheme().equals("jar")) {
        return namesIn(Path.of(uri));
      }
      try (FileSystem jar = FileSystems.newFileSystem(uri, Map.of())) {
        return namesIn(jar.getPath(FOLDER));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> namesIn(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> name.endsWith(ENDING))
          .map(name -> name.substring(0, name.length() - ENDING.length()))
          .sorted()
          .toList();
    }
  }

  static Source find(String argument) throws ProblemException {
    if (isFile(argument)) {
      return new Source(argument, readFile(argument));
    }
    try (InputStream in =
        ExperimentFiles.class.getResourceAsStream(FOLDER + "/" + argument + ENDING)) {
      if (in == null) {
        throw UsageException.of(
            "DB-U004",
            null,
            "unknown experiment '%s'%s".formatted(argument, Nearest.suggestion(argument, names())),
            "doorbell list experiments, or give a file: " + argument + ENDING);
      }
      return new Source(argument + ENDING, new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns whether an experiment and a folder have this name, and refuses a file that has it. */
  private static boolean isShadow(String argument) throws ConfigException {
    if (!names().contains(argument)) {
      return false;
    }
    if (Files.isRegularFile(Path.of(argument))) {
      throw new ConfigException(
          Problem.of(
                  "DB-C001",
                  argument,
                  "there is a file here that has the name of one of Doorbell's experiments")
              .fix("./%s for the file; or rename it".formatted(argument)));
    }
    return true;
  }

  private static boolean isFile(String argument) throws ConfigException {
    try {
      return argument.endsWith(ENDING)
          || argument.endsWith(".yml")
          || argument.indexOf('/') >= 0
          || (Files.exists(Path.of(argument)) && !isShadow(argument));
    } catch (InvalidPathException _) {
      throw unreadable(argument, "this cannot be the name of a file");
    }
  }

  private static String readFile(String file) throws ConfigException {
    Path path;
    try {
      path = Path.of(file);
    } catch (InvalidPathException _) {
      throw unreadable(file, "this cannot be the name of a file");
    }
    if (Files.isDirectory(path)) {
      throw unreadable(file, "this is a folder");
    }
    return KIND.text(path);
  }

  private static ConfigException unreadable(String file, String what) {
    return new ConfigException(Problem.of("DB-C001", file, what));
  }

  /** Reads an experiment and checks it against the runtime's kernels and topologies. */
  public static ExperimentConfig read(
      CommandContext context, String argument, List<String> overrides) throws ProblemException {
    Source source = find(argument);
    return reader(context).read(source.name, source.text, overrides);
  }

  static ConfigReader reader(CommandContext context) {
    ExperimentRuntime runtime = context.runtime().get();
    return new ConfigReader(runtime.names(), runtime.extensions());
  }
}
