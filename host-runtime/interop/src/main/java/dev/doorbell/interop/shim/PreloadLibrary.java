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
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Compiles the library that programs preload. */
public final class PreloadLibrary {
  private static final String NAME = "libdoorbell-uverbs.so";
  private static final List<String> SOURCES =
      List.of("shim.c", "paths.c", "verbs.c", "gpu.c", "netlink.c", "shim.h", "protocol.h");
  private static final List<String> FLAGS =
      List.of(
          "-std=c11",
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

  private PreloadLibrary() {}

  /**
   * Compiles the library unless it exists and is newer than its sources.
   *
   * @param sources {@code host-runtime/uverbs-shim} of a checkout
   * @param target the folder for the library; created if it does not exist
   * @return the library
   * @throws EnvironmentException when there is no compiler, no source or no kernel header
   */
  public static Path build(Path sources, Path target) throws EnvironmentException {
    Path library = target.toAbsolutePath().resolve(NAME);
    try {
      if (isFresh(sources, library)) {
        return library;
      }
      if (!Files.exists(sources.resolve(SOURCES.getFirst()))) {
        throw failure(
            "the preload library's source is not in %s; use a checkout of Doorbell"
                .formatted(sources));
      }
      Files.createDirectories(target);
      Path fresh = Files.createTempFile(target, NAME, ".tmp");
      try {
        compile(sources, fresh);
        // A program may change its user before the loader reads it.
        Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.move(
            fresh, library, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } finally {
        Files.deleteIfExists(fresh);
      }
      return library;
    } catch (IOException e) {
      throw failure(
          "cannot compile the preload library in %s: %s".formatted(target, e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failure("interrupted while the preload library was being compiled");
    }
  }

  private static boolean isFresh(Path sources, Path library) throws IOException {
    if (!Files.exists(library)) {
      return false;
    }
    for (String source : SOURCES) {
      Path file = sources.resolve(source);
      if (Files.exists(file)
          && Files.getLastModifiedTime(file).compareTo(Files.getLastModifiedTime(library)) > 0) {
        return false;
      }
    }
    return true;
  }

  private static void compile(Path sources, Path library)
      throws IOException, InterruptedException, EnvironmentException {
    List<String> command = new ArrayList<>();
    command.add("gcc");
    command.addAll(FLAGS);
    command.addAll(List.of("-o", library.toString()));
    SOURCES.stream().filter(source -> source.endsWith(".c")).forEach(command::add);
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
            "no gcc on PATH to compile the preload library; install it ('apt-get install gcc"
                + " libc6-dev')");
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
                : "gcc does not compile the preload library: "
                    + output
                        .lines()
                        .filter(line -> line.contains("error"))
                        .findFirst()
                        .orElse(output));
      }
    } finally {
      Files.deleteIfExists(log);
    }
  }

  /**
   * The environment variables by which a program sees a server's devices.
   *
   * @param folder of the {@link ShimServer}
   * @param preloaded the current value of {@code LD_PRELOAD}, or the empty string
   */
  public static Map<String, String> environment(Path library, Path folder, String preloaded) {
    return Map.of(
        "DOORBELL_HCA",
        folder.toAbsolutePath().toString(),
        "LD_PRELOAD",
        preloaded.isEmpty() ? library.toString() : library + ":" + preloaded);
  }

  private static EnvironmentException failure(String what) {
    return new EnvironmentException(
        Problem.of("DB-E048", null, what).effect("programs see no software HCA"));
  }
}
