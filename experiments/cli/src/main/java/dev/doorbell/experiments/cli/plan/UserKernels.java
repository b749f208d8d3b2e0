package dev.doorbell.experiments.cli.plan;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.kernels.KernelFolders;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.run.RunDirectory;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import dev.doorbell.kernels.KernelCatalogue;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Brings the kernels of the user's folders into a command. */
public final class UserKernels {
  @Option(
      names = "--kernels",
      paramLabel = "DIR",
      description =
          "Folder with kernels of your own; repeat for more. Looked into "
              + "anyway: kernels, and the folder of the experiment.")
  private List<Path> folders = new ArrayList<>();

  private KernelFolders.Found found = new KernelFolders.Found(List.of(), List.of());

  /** The context with the user's kernels. */
  public CommandContext join(CommandContext context, @Nullable String experiment)
      throws UsageException {
    List<Path> all = new ArrayList<>(checkedFolders());
    Path own = experiment == null ? null : parent(experiment);
    if (own != null) {
      all.add(own);
    }
    all.add(KernelFolders.STANDARD);
    return joinFolders(context, all);
  }

  /** The context with the kernels that runs have kept, where they ran any of the user's. */
  public static CommandContext ofRuns(CommandContext context, List<Path> runs) {
    List<Path> kept = runs.stream().map(RunDirectory::kernels).filter(Files::isDirectory).toList();
    return kept.isEmpty() ? context : new UserKernels().joinFolders(context, kept);
  }

  /** The context with the kernels of these folders and no others. */
  public CommandContext joinFolders(CommandContext context, List<Path> all) {
    ExperimentRuntime runtime = context.runtime().get();
    found = KernelFolders.scan(all, runtime.names().kernelNames());
    if (found.kernels().isEmpty()) {
      return context;
    }
    return context.with(runtime.with(found.kernels()));
  }

  /**
   * The kernel of the user's that an argument means: a descriptor, PTX that one lies beside, or a
   * name in the folders, or the folder of one kernel; null when it is something else.
   */
  public @Nullable UserKernel find(String argument) throws UsageException {
    try {
      if (argument.endsWith(KernelDescriptor.ENDING)) {
        return KernelFolders.read(Path.of(argument));
      }
      if (argument.endsWith(".ptx")) {
        Path file = Path.of(argument);
        Path name = Objects.requireNonNullElse(file.getFileName(), file);
        Path descriptor =
            file.resolveSibling(name.toString().replaceFirst("[.]ptx$", KernelDescriptor.ENDING));
        return Files.isRegularFile(descriptor) ? KernelFolders.read(descriptor) : null;
      }
      UserKernel named =
          scan().kernels().stream()
              .filter(kernel -> kernel.name().equals(argument))
              .findFirst()
              .orElse(null);
      boolean other = named != null || KernelCatalogue.load().names().contains(argument);
      return other || !Files.isDirectory(Path.of(argument)) ? named : inFolder(argument);
    } catch (ConfigException e) {
      throw new UsageException(e.problems().getFirst());
    } catch (InvalidPathException _) {
      return null;
    }
  }

  private static UserKernel inFolder(String folder) throws UsageException {
    KernelFolders.Found found = KernelFolders.scan(List.of(Path.of(folder)), List.of());
    if (found.kernels().size() == 1) {
      return found.kernels().getFirst();
    }
    List<String> files = found.kernels().stream().map(UserKernel::file).toList();
    throw found.problems().isEmpty() || !files.isEmpty()
        ? UsageException.of(
            "DB-U022",
            folder,
            "the folder has %d kernels".formatted(files.size()),
            "give "
                + (files.isEmpty() ? "NAME.kernel.yaml or NAME.ptx" : String.join(" or ", files)))
        : new UsageException(found.problems().getFirst());
  }

  /** Finds a kernel and changes defaults of its own settings, each {@code name=value}. */
  public @Nullable UserKernel find(String argument, List<String> settings) throws UsageException {
    UserKernel kernel = find(argument);
    if (settings.isEmpty()) {
      return kernel;
    }
    if (kernel == null) {
      throw UsageException.wrong(
          "-s",
          "'%s' has no settings of its own".formatted(argument),
          "name a kernel of yours, whose descriptor has settings");
    }
    try {
      return KernelFolders.read(Path.of(kernel.file()), settings);
    } catch (ConfigException e) {
      throw new UsageException(e.problems().getFirst());
    }
  }

  public KernelFolders.Found scan() throws UsageException {
    List<Path> all = new ArrayList<>(checkedFolders());
    all.add(KernelFolders.STANDARD);
    return KernelFolders.scan(all, List.of());
  }

  private List<Path> checkedFolders() throws UsageException {
    for (Path folder : folders) {
      if (!Files.isDirectory(folder)) {
        throw UsageException.wrong("--kernels " + folder, "there is no such folder");
      }
    }
    return folders;
  }

  private static @Nullable Path parent(String experiment) {
    try {
      return experiment.endsWith(".yaml") || experiment.endsWith(".yml")
          ? Path.of(experiment).toAbsolutePath().getParent()
          : null;
    } catch (InvalidPathException _) {
      return null;
    }
  }

  List<Problem> problems() {
    return found.problems();
  }

  /** Reads an experiment; what is wrong with the user's kernels may be why one is unknown. */
  public ExperimentConfig read(CommandContext context, String experiment, List<String> overrides)
      throws ProblemException {
    try {
      return demand(ExperimentFiles.read(context, experiment, overrides));
    } catch (ConfigException e) {
      if (e.problems().stream().noneMatch(problem -> problem.what().contains("unknown kernel"))) {
        throw e;
      }
      List<Problem> all = new ArrayList<>(e.problems());
      all.addAll(found.problems());
      throw new ConfigException(all);
    }
  }

  /** Stops when a kernel of the experiment does not fit its PTX. */
  public ExperimentConfig demand(ExperimentConfig config) throws ConfigException {
    List<Problem> problems = new ArrayList<>();
    for (UserKernel kernel : of(config)) {
      problems.addAll(KernelWorkbench.checkAbi(kernel));
    }
    ConfigException.throwIfAny(problems);
    return config;
  }

  public List<UserKernel> of(ExperimentConfig config) {
    return found.kernels().stream()
        .filter(kernel -> config.kernels().contains(kernel.name()))
        .toList();
  }

  List<Problem> misfits() {
    List<Problem> problems = new ArrayList<>();
    for (UserKernel kernel : found.kernels()) {
      problems.addAll(KernelWorkbench.checkAbi(kernel));
    }
    return problems;
  }
}
