package dev.doorbell.interop.shim;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Compiles shared libraries of this project's C sources with gcc, where they are used. */
final class NativeBuild {
  private static final List<String> FLAGS =
      List.of(
          "-O2",
          "-g",
          "-Wall",
          "-Wextra",
          "-Werror",
          "-fPIC",
          "-fvisibility=hidden",
          "-shared",
          "-pthread");
  private static final int COMPILE_SECONDS = 120;

  private final Path sources;
  private final Path target;
  private final String effect;

  /**
   * @param sources the folder of the sources
   * @param target the folder for the libraries; created if it does not exist
   * @param effect of a failure, for the user
   */
  NativeBuild(Path sources, Path target, String effect) {
    this.sources = sources;
    this.target = target;
    this.effect = effect;
  }

  /**
   * Compiles a library unless it exists and is newer than its sources.
   *
   * @param files sources and headers
   * @param options more options of gcc, after the files
   * @throws EnvironmentException when there is no compiler, no source or no kernel header
   */
  Path library(String name, List<String> files, List<String> options) throws EnvironmentException {
    Path library = target.toAbsolutePath().resolve(name);
    try {
      if (isFresh(files, library)) {
        return library;
      }
      if (!Files.exists(sources.resolve(files.getFirst()))) {
        throw failure(
            "the source of %s is not in %s; use a checkout of Doorbell".formatted(name, sources));
      }
      Files.createDirectories(target);
      Path fresh = Files.createTempFile(target, name, ".tmp");
      try {
        compile(files, options, fresh);
        // A program may change its user before the loader reads it.
        Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.move(
            fresh, library, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(fresh);
      }
      return library;
    } catch (IOException e) {
      throw failure("cannot compile %s in %s: %s".formatted(name, target, e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failure("interrupted while %s was being compiled".formatted(name));
    }
  }

  private boolean isFresh(List<String> files, Path library) {
    long built = library.toFile().lastModified();
    return built > 0
        && files.stream().allMatch(file -> sources.resolve(file).toFile().lastModified() <= built);
  }

  private void compile(List<String> files, List<String> options, Path library)
      throws IOException, InterruptedException, EnvironmentException {
    List<String> command = new ArrayList<>();
    command.add("gcc");
    command.addAll(FLAGS);
    command.addAll(List.of("-o", library.toString()));
    files.stream().filter(source -> source.endsWith(".c")).forEach(command::add);
    command.addAll(options);
    Path log = Files.createTempFile("doorbell-gcc", ".log");
    try {
      Process gcc;
      try {
        gcc =
            new ProcessBuilder(command)
                .directory(sources.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
      } catch (IOException e) {
        throw failure(
            "no gcc on PATH to compile %s; install it ('apt-get install gcc libc6-dev')"
                .formatted(library.getFileName()));
      }
      boolean ended = gcc.waitFor(COMPILE_SECONDS, TimeUnit.SECONDS);
      if (!ended) {
        gcc.destroyForcibly();
      }
      if (!ended || gcc.exitValue() != 0) {
        String output = Files.readString(log, StandardCharsets.UTF_8);
        throw failure(
            output.contains("rdma/rdma_user_ioctl_cmds.h")
                ? "the kernel's RDMA headers are missing; install them ('apt-get install"
                    + " linux-libc-dev')"
                : "gcc does not compile %s: ".formatted(library.getFileName())
                    + output
                        .lines()
                        .filter(line -> line.contains("error") || line.contains("ld: "))
                        .findFirst()
                        .orElse(output));
      }
    } finally {
      Files.deleteIfExists(log);
    }
  }

  private EnvironmentException failure(String what) {
    return new EnvironmentException(Problem.of("DB-E048", null, what).effect(effect));
  }
}
