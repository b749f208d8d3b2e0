package dev.doorbell.experiments.kernels;

import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Finds a user's kernels: descriptors {@code NAME.kernel.yaml} in folders and in the folders right
 * below them.
 */
public final class KernelFolders {
  /** The folder that is searched by default. */
  public static final Path STANDARD = Path.of("kernels");

  private static final int DEPTH = 2;

  private KernelFolders() {}

  /**
   * The result of a scan.
   *
   * @param kernels those that can be used, by name
   * @param problems of the others
   */
  public record Found(List<UserKernel> kernels, List<Problem> problems) {
    public Found {
      kernels = List.copyOf(kernels);
      problems = List.copyOf(problems);
    }
  }

  /**
   * Reads every descriptor in {@code folders}, each once; folders that do not exist hold nothing.
   */
  public static Found scan(List<Path> folders, List<String> taken) {
    List<Path> files = descriptors(folders);
    if (files.isEmpty()) {
      return new Found(List.of(), List.of()); // most runs, which need no reader then
    }
    KernelDescriptorReader reader = new KernelDescriptorReader();
    Map<String, UserKernel> kernels = new LinkedHashMap<>();
    List<Problem> problems = new ArrayList<>();
    for (Path file : files) {
      try {
        UserKernel kernel = read(reader, file, List.of());
        UserKernel other = kernels.get(kernel.name());
        String where = kernel.descriptor().place("/kernel");
        if (taken.contains(kernel.name())) {
          problems.add(
              Problem.of("DB-K013", where, "'%s' is one of Doorbell's own".formatted(kernel.name()))
                  .effect("this descriptor is ignored")
                  .fix("choose another name"));
        } else if (other != null) {
          problems.add(
              Problem.of(
                      "DB-K013",
                      where,
                      "'%s' is also the name of the kernel in %s"
                          .formatted(kernel.name(), other.file()))
                  .effect("this descriptor is ignored")
                  .fix("choose another name"));
        } else {
          kernels.put(kernel.name(), kernel);
        }
      } catch (ConfigException e) {
        problems.addAll(e.problems());
      }
    }
    return new Found(
        kernels.values().stream().sorted((a, b) -> a.name().compareTo(b.name())).toList(),
        problems);
  }

  /**
   * Reads what the kernels that a run kept bring of their own, by kernel; descriptors alone are
   * read.
   */
  public static Map<String, KernelExtension> extensions(Path folder) {
    Map<String, KernelExtension> extensions = new LinkedHashMap<>();
    KernelDescriptorReader reader = KernelDescriptorReader.ofRuns();
    for (Path file : descriptors(List.of(folder))) {
      try {
        KernelDescriptor descriptor = reader.read(file.toString(), text(file, file.toString()));
        extensions.put(descriptor.name(), descriptor.extension());
      } catch (ConfigException _) {
        // A descriptor that cannot be read brings nothing; who needs it says what is missing.
      }
    }
    return extensions;
  }

  /** Reads one descriptor and its PTX. */
  public static UserKernel read(Path file) throws ConfigException {
    return read(file, List.of());
  }

  /** The same with other defaults of the kernel's own settings, each {@code name=value}. */
  public static UserKernel read(Path file, List<String> settings) throws ConfigException {
    return read(new KernelDescriptorReader(), file, settings);
  }

  private static UserKernel read(KernelDescriptorReader reader, Path file, List<String> settings)
      throws ConfigException {
    KernelDescriptor descriptor =
        reader.read(file.toString(), text(file, file.toString()), settings);
    List<PtxFiles.Part> parts = new ArrayList<>();
    parts.add(part(descriptor, file, descriptor.ptx(), "/ptx"));
    for (int i = 0; i < descriptor.linked().size(); i++) {
      parts.add(part(descriptor, file, descriptor.linked().get(i), "/ptx/" + (i + 1)));
    }
    return new UserKernel(
        descriptor, file.toString(), parts.getFirst().name(), PtxFiles.join(parts));
  }

  private static PtxFiles.Part part(
      KernelDescriptor descriptor, Path file, String name, String pointer) throws ConfigException {
    Path ptx = file.resolveSibling(name);
    String where = descriptor.place(pointer);
    if (!Files.isRegularFile(ptx)) {
      throw new ConfigException(
          Problem.of("DB-K014", where, "there is no file " + ptx)
              .effect("kernel '%s' cannot be used".formatted(descriptor.name()))
              .fix("compile it: doorbell kernel build " + parent(file)));
    }
    return new PtxFiles.Part(ptx.toString(), text(ptx, where), 0);
  }

  private static Path parent(Path file) {
    Path parent = file.getParent();
    return parent == null ? Path.of(".") : parent;
  }

  private static String text(Path file, String where) throws ConfigException {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException _) {
      throw unreadable(where, "there is no file " + file);
    } catch (CharacterCodingException _) {
      throw unreadable(where, file + " is not UTF-8 text");
    } catch (IOException _) {
      throw unreadable(where, file + " cannot be read");
    }
  }

  private static ConfigException unreadable(String where, String what) {
    return new ConfigException(Problem.of("DB-K001", where, what));
  }

  private static List<Path> descriptors(List<Path> folders) {
    Set<Path> seen = new LinkedHashSet<>();
    List<Path> files = new ArrayList<>();
    for (Path folder : folders) {
      if (!Files.isDirectory(folder)) {
        continue;
      }
      try (Stream<Path> below = Files.find(folder, DEPTH, (path, _) -> isDescriptor(path))) {
        for (Path file : below.sorted().toList()) {
          if (seen.add(file.toAbsolutePath().normalize())) {
            files.add(file);
          }
        }
      } catch (IOException | UncheckedIOException _) {
        // A folder that cannot be listed holds no kernel that could be read.
      }
    }
    return files;
  }

  private static boolean isDescriptor(Path path) {
    return String.valueOf(path.getFileName()).endsWith(KernelDescriptor.ENDING);
  }
}
