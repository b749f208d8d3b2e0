package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.interop.shim.PreloadLibrary;
import dev.doorbell.interop.shim.ShimOptions;
import dev.doorbell.interop.shim.ShimServer;
import dev.doorbell.verbs.library.Libraries;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs test classes in a JVM of their own whose libmlx5 sees the software HCA as its device: the
 * real library, DEVX and all, and only its system calls are answered by this process.
 */
final class ServedJvm implements AutoCloseable {
  private static final int SECONDS = 600;

  private final ShimServer server;
  private final Path folder;
  private final Path library;
  private final Thread thread;
  private volatile boolean stop;
  private volatile @Nullable Throwable failure;

  private ServedJvm(Path folder, Path library, int devices) throws IOException {
    this.folder = folder;
    this.library = library;
    this.server = new ShimServer(folder.resolve("hca"), ShimOptions.of(devices));
    this.thread = new Thread(this::serve, "served devices");
    thread.start();
  }

  /** Serves {@code devices} devices, or skips the test where that takes something not installed. */
  static ServedJvm start(Path folder, int devices) throws IOException {
    return new ServedJvm(folder, library(), devices);
  }

  /** True if the dynamic linker finds {@code name}. */
  private static boolean isInstalled(String name) {
    try (Arena arena = Arena.ofConfined()) {
      return SymbolLookup.libraryLookup(name, arena) != null;
    } catch (IllegalArgumentException _) {
      return false;
    }
  }

  private static Path library() {
    assumeTrue(isInstalled(Libraries.MLX5), "no libmlx5; apt-get install ibverbs-providers");
    Path module = Path.of("").toAbsolutePath();
    try {
      return PreloadLibrary.build(
          module.resolveSibling("uverbs-shim"), module.resolve("target/uverbs-shim"));
    } catch (EnvironmentException e) {
      String what = e.problem().what();
      assumeTrue(!what.contains("install"), what);
      throw new IllegalStateException(what, e);
    }
  }

  private void serve() {
    try {
      server.run(() -> stop);
    } catch (RuntimeException | Error e) {
      failure = e;
    }
  }

  /** Waits until nobody has a device open: the server hears of a JVM's end a little later. */
  void awaitNobody() throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    while (server.connections() > 0) {
      assertThat(System.nanoTime() - deadline).as("connections end").isNegative();
      Thread.sleep(1);
    }
  }

  /**
   * Runs test classes there.
   *
   * @return what they said
   */
  String run(Class<?>... tests) throws IOException, InterruptedException {
    return run(folder, library, server.folder(), tests);
  }

  /** The same where nobody serves a device: the tests do that themselves. */
  static String runAlone(Path folder, Class<?>... tests) throws IOException, InterruptedException {
    return run(folder, library(), folder.resolve("own"), tests);
  }

  private static String run(Path folder, Path library, Path served, Class<?>... tests)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx512m",
                "-D%s=%s".formatted(OneProcessTest.ALONE, !Files.exists(served)),
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                GuestSuite.class.getName()));
    for (Class<?> test : tests) {
      command.add(test.getName());
    }
    Path output = Files.createTempFile(folder, "jvm", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().putAll(PreloadLibrary.environment(library, served, ""));
    Process process = builder.start();
    try {
      boolean ended = process.waitFor(SECONDS, TimeUnit.SECONDS);
      String said = Files.readString(output, StandardCharsets.UTF_8);
      assertThat(ended).as("ends in %d s; so far it says%n%s", SECONDS, said).isTrue();
      assertThat(process.exitValue()).as(said).isZero();
      return said;
    } finally {
      process.destroyForcibly();
    }
  }

  @Override
  public void close() throws IOException {
    stop = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    server.close();
    assertThat(failure).as("the server").isNull();
  }
}
