package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A program that a test starts. It does not outlive the test, and neither do those it starts. */
final class TestProgram implements AutoCloseable {
  /** Ten times what the longest takes on two quiet cores: this ends what hangs, and is no limit. */
  private static final long PATIENCE_MINUTES = 12;

  private final String words;
  private final Path output;
  private final Process process;

  private TestProgram(String words, Path output, Process process) {
    this.words = words;
    this.output = output;
    this.process = process;
  }

  /** Starts it; {@code folder} is where its output goes, in a file. */
  static TestProgram start(Path folder, ProcessBuilder builder) throws IOException {
    Path output = Files.createTempFile(folder, "output", ".txt");
    Process process =
        builder
            .redirectInput(new File("/dev/null"))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    return new TestProgram(String.join(" ", builder.command()), output, process);
  }

  static TestProgram start(Path folder, List<String> command) throws IOException {
    return start(folder, new ProcessBuilder(command));
  }

  /** What starts a JVM like this one's, with its class path. */
  static List<String> java(String... options) {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.add("--enable-native-access=ALL-UNNAMED");
    words.add("--sun-misc-unsafe-memory-access=allow");
    words.addAll(List.of(options));
    words.add("-cp");
    words.add(classPath());
    return words;
  }

  /** This JVM's class path, good in any folder. */
  static String classPath() {
    String path =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return Arrays.stream(path.split(File.pathSeparator))
        .map(part -> Path.of(part).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  Process process() {
    return process;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** What it has said so far. */
  String said() throws IOException {
    return Files.readString(output, StandardCharsets.UTF_8);
  }

  /** Waits for its end; its exit status. */
  int await() throws IOException, InterruptedException {
    assertThat(process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES))
        .as("%s%nends; so far it has said%n%s", words, said())
        .isTrue();
    return process.exitValue();
  }

  /** Waits for its end with status 0; what it has said. */
  String succeed() throws IOException, InterruptedException {
    int status = await();
    assertThat(status).as("%s%n%s", words, said()).isZero();
    return said();
  }

  /** By SIGKILL: nothing of it runs any more when this returns. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
