package dev.doorbell.experiments.run;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The machine and the software that a run used. Wall-clock facts and names of people or hosts are
 * not among them.
 *
 * @param cpu model name as the operating system gives it
 * @param memoryBytes physical memory, or 0 where unknown
 * @param git commit of the checkout that Doorbell runs from, with {@code -dirty} when files differ
 */
public record Machine(
    String os,
    String kernel,
    String architecture,
    String cpu,
    int cores,
    long memoryBytes,
    String jvm,
    List<String> jvmArguments,
    @Nullable String git) {

  /** Lies beside the launcher of a bundle. */
  private static final String BUNDLED_COMMIT = "commit";

  /** Reads the facts in another thread: some of them wait for other programs. */
  public static CompletableFuture<Machine> read() {
    return CompletableFuture.supplyAsync(Machine::here);
  }

  static Machine here() {
    return new Machine(
        property("os.name"),
        property("os.version"),
        property("os.arch"),
        procLine("/proc/cpuinfo", "model name").orElse("unknown"),
        Runtime.getRuntime().availableProcessors(),
        procLine("/proc/meminfo", "MemTotal").map(Machine::kibibytes).orElse(0L),
        "%s %s".formatted(property("java.vm.name"), property("java.vm.version")),
        ManagementFactory.getRuntimeMXBean().getInputArguments(),
        commit(Path.of(System.getProperty("doorbell.home", "."))).orElse(null));
  }

  /** The machine alone; what ran on it is what a comparison is about. */
  Machine withoutCommit() {
    return new Machine(os, kernel, architecture, cpu, cores, memoryBytes, jvm, jvmArguments, null);
  }

  private static String property(String name) {
    return System.getProperty(name, "unknown");
  }

  private static Optional<String> procLine(String file, String key) {
    try {
      return Files.readAllLines(Path.of(file)).stream()
          .filter(line -> line.startsWith(key))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst();
    } catch (IOException _) {
      return Optional.empty();
    }
  }

  private static long kibibytes(String text) {
    String digits = text.replaceAll("\\D", "");
    return digits.isEmpty() ? 0 : Long.parseLong(digits) * 1024;
  }

  /** The commit that a bundle names, or git's for the folder that this class was loaded from. */
  static Optional<String> commit(Path home) {
    Path bundled = home.resolve(BUNDLED_COMMIT);
    if (Files.isRegularFile(bundled)) {
      try {
        return Optional.of(Files.readString(bundled).strip());
      } catch (IOException _) {
        return Optional.empty();
      }
    }
    try {
      Path code =
          Path.of(Machine.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      Path folder = Files.isDirectory(code) ? code : code.resolveSibling(".");
      Optional<String> id = run(folder, "git", "rev-parse", "HEAD");
      if (id.isEmpty()) {
        return Optional.empty();
      }
      boolean dirty =
          run(folder, "git", "status", "--porcelain", "--untracked-files=no")
              .filter(text -> !text.isEmpty())
              .isPresent();
      return id.map(commit -> dirty ? commit + "-dirty" : commit);
    } catch (URISyntaxException | RuntimeException _) {
      return Optional.empty();
    }
  }

  private static Optional<String> run(Path folder, String... command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      process.getOutputStream().close();
      String text =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroy();
        return Optional.empty();
      }
      return process.exitValue() == 0 ? Optional.of(text) : Optional.empty();
    } catch (IOException _) {
      return Optional.empty();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
