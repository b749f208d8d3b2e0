package dev.doorbell.experiments.cli.command;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another process of this Doorbell, which ends with the command that started it. */
public final class ChildProcess implements AutoCloseable {
  /** The exit status of a process that has none yet. */
  public static final int RUNNING = 124;

  private static final int END_SECONDS = 5;

  private final Process process;
  private final BufferedReader out;
  private final Thread reaper;

  private ChildProcess(Process process) {
    this.process = process;
    this.out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    this.reaper = new Thread(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(reaper);
  }

  /** Starts {@code doorbell} with these arguments; its errors go where this process's go. */
  public static ChildProcess start(List<String> arguments) throws EnvironmentException {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.add("--enable-native-access=ALL-UNNAMED");
    words.add("-XX:+UseSerialGC");
    words.add("-Djava.awt.headless=true");
    words.add("-cp");
    words.add(System.getProperty("java.class.path"));
    words.add("dev.doorbell.experiments.Main");
    words.addAll(arguments);
    try {
      return new ChildProcess(
          new ProcessBuilder(words)
              .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start());
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-E047", null, "cannot start another process: " + e.getMessage()));
    }
  }

  /** The next line that it prints; an empty one when it has ended. */
  public String line() throws EnvironmentException {
    try {
      String line = out.readLine();
      return line == null ? "" : line;
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-E047", null, "the other process cannot be heard: " + e.getMessage()));
    }
  }

  /** Waits for its end, and returns its exit status; {@link #RUNNING} when it took too long. */
  public int await(long seconds) {
    try {
      return process.waitFor(seconds, TimeUnit.SECONDS) ? process.exitValue() : RUNNING;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return RUNNING;
    }
  }

  @Override
  public void close() {
    process.destroy();
    if (await(END_SECONDS) != 0) {
      process.destroyForcibly();
    }
    try {
      Runtime.getRuntime().removeShutdownHook(reaper);
    } catch (IllegalStateException e) {
      // This process ends, too, and the hook does its work.
    }
  }
}
