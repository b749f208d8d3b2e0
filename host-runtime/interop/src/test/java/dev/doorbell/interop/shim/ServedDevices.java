package dev.doorbell.interop.shim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.problem.EnvironmentException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A server on a thread of its own, and programs that run on its devices. */
final class ServedDevices implements AutoCloseable {
  private static final int PROGRAM_SECONDS = 600;
  private static final String LOOPBACK = "127.0.0.1";
  private static final AtomicInteger NEXT_PORT =
      new AtomicInteger(12_000 + (int) (ProcessHandle.current().pid() % 500) * 16);

  private final Path folder;
  private final Path library;
  private final ShimServer server;
  private final Thread thread;
  private final List<Process> programs = new ArrayList<>();
  private Map<String, String> more = Map.of();
  private volatile boolean stop;
  private volatile @Nullable Throwable failure;

  private ServedDevices(Path folder, Path library, ShimOptions options) throws IOException {
    this.folder = folder;
    this.library = library;
    this.server = new ShimServer(folder.resolve("hca"), options);
    this.thread = new Thread(this::serve, "served devices");
    thread.start();
  }

  /** Sets environment variables of programs that start from now on. */
  void set(Map<String, String> variables) {
    more = variables;
  }

  /** Starts a server in {@code folder}, or skips the test where there is no compiler. */
  static ServedDevices start(Path folder, int devices) throws IOException {
    return start(folder, ShimOptions.of(devices));
  }

  static ServedDevices start(Path folder, ShimOptions options) throws IOException {
    return new ServedDevices(folder, library(), options);
  }

  /** The preload library, or a skipped test. */
  static Path library() {
    assumeTrue(System.getProperty("os.name").equals("Linux"), "the preload library is for Linux");
    Path module = Path.of("").toAbsolutePath();
    Path sources = module.resolveSibling("uverbs-shim");
    try {
      return PreloadLibrary.build(sources, module.resolve("target/uverbs-shim"));
    } catch (EnvironmentException e) {
      String what = e.problem().what();
      assumeTrue(!what.contains("install"), what);
      throw new IllegalStateException(what, e);
    }
  }

  /** Skips the test where a program is missing. */
  static void requireProgram(String program) {
    boolean there =
        Arrays.stream(System.getenv("PATH").split(":"))
            .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    assumeTrue(
        there,
        "no %s; install it ('apt-get install ibverbs-utils ibverbs-providers perftest rdmacm-utils')"
            .formatted(program));
  }

  /** Waits until no program has a device open. */
  void awaitNobody() throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PROGRAM_SECONDS);
    while (server.connections() > 0) {
      assertThat(System.nanoTime()).as("connections end").isLessThan(deadline);
      Thread.sleep(1);
    }
  }

  /** Compiles a program of {@code src/test/c}, or skips the test where headers are missing. */
  Path compile(String source, String... libraries) throws IOException, InterruptedException {
    return compile(folder, source, libraries);
  }

  /** Compiles it into {@code folder}. */
  static Path compile(Path folder, String source, String... libraries)
      throws IOException, InterruptedException {
    assumeTrue(
        Files.exists(Path.of("/usr/include/infiniband/mlx5dv.h")),
        "no libibverbs headers; install them ('apt-get install libibverbs-dev')");
    Path program = folder.resolve(source.replace(".c", ""));
    List<String> words =
        new ArrayList<>(
            List.of("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", program.toString()));
    words.add(Path.of("src/test/c", source).toString());
    words.addAll(List.of(libraries));
    Path log = folder.resolve("gcc.txt");
    Process gcc =
        new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    assertThat(gcc.waitFor()).as(Files.readString(log)).isZero();
    return program;
  }

  private void serve() {
    try {
      server.run(() -> stop);
    } catch (RuntimeException | Error e) {
      failure = e;
    }
  }

  ShimServer server() {
    return server;
  }

  /** A program that runs. */
  final class Program {
    final Process process;
    private final Path output;
    private final String words;

    private Program(List<String> command) throws IOException {
      this.words = String.join(" ", command);
      this.output = Files.createTempFile(folder, "program", ".txt");
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
      builder.environment().putAll(PreloadLibrary.environment(library, server.folder(), ""));
      builder.environment().putAll(more);
      this.process = builder.start();
      programs.add(process);
    }

    /** Waits for its end, and returns what it has printed. Any other status than 0 is an error. */
    String succeed() throws IOException, InterruptedException {
      assertThat(process.waitFor(PROGRAM_SECONDS, TimeUnit.SECONDS))
          .as("%s ends; so far it has said%n%s", words, said())
          .isTrue();
      assertThat(process.exitValue()).as("%s%n%s", words, said()).isZero();
      return said();
    }

    /** Waits until it has printed a line, or has ended. */
    void awaitLine() throws IOException, InterruptedException {
      while (!said().contains("\n") && !process.waitFor(1, TimeUnit.MILLISECONDS)) {
        // The output is a file: it says nothing of new lines.
      }
    }

    String said() throws IOException {
      return Files.readString(output, StandardCharsets.UTF_8);
    }
  }

  Program start(String... command) throws IOException {
    if (!command[0].startsWith("/")) {
      requireProgram(command[0]);
    }
    return new Program(List.of(command));
  }

  /** Runs a program that waits for a connection, and then the same as its client. */
  void pair(String... command) throws IOException, InterruptedException {
    int port = freePort();
    List<String> words = new ArrayList<>(List.of(command));
    words.addAll(List.of("-d", "mlx5_0", "-p", String.valueOf(port)));
    Program waiting = start(words.toArray(String[]::new));
    try {
      awaitListener(waiting, port);
      words.add(LOOPBACK);
      Program client = start(words.toArray(String[]::new));
      try {
        client.succeed();
        waiting.succeed();
      } finally {
        client.process.destroyForcibly();
      }
    } finally {
      waiting.process.destroyForcibly();
    }
  }

  /** A port below those that the system gives away by itself: it is free a moment later, too. */
  static int freePort() throws IOException {
    while (true) {
      int port = NEXT_PORT.getAndIncrement();
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (BindException _) {
        // Somebody has it.
      }
    }
  }

  /** Waits until somebody listens on the port. */
  static void awaitListener(Program waiting, int port) throws IOException, InterruptedException {
    String wanted = String.format(Locale.ROOT, ":%04X 00", port);
    while (waiting.process.isAlive()) {
      for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
        Path file = Path.of(table);
        if (Files.exists(file)
            && Files.readAllLines(file).stream()
                .anyMatch(line -> line.contains(wanted) && line.contains(" 0A "))) {
          return;
        }
      }
      Thread.sleep(10);
    }
  }

  /** Ends the server while programs still run. */
  void stopServing() throws IOException {
    stop = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    server.close();
  }

  @Override
  public void close() throws IOException {
    programs.forEach(Process::destroyForcibly);
    stopServing();
    assertThat(failure).isNull();
  }
}
