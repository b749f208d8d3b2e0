package dev.doorbell.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.interop.shim.ShimOptions;
import dev.doorbell.interop.shim.ShimServer;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * {@link Mlx5ScenarioTest} where the device is served by the program itself, from a thread of its
 * own: the preload library, libmlx5 and the software HCA in one JVM.
 */
class OneProcessTest extends Mlx5ScenarioTest {
  /** Set by who starts the JVM: nobody else serves the folder that {@code DOORBELL_HCA} names. */
  static final String ALONE = "verbs.alone";

  private static @Nullable ShimServer server;
  private static @Nullable Thread thread;
  private static volatile boolean stop;

  @BeforeAll
  static void serve() throws IOException {
    assumeTrue(Boolean.getBoolean(ALONE), "LibMlx5Test runs it in a JVM that preloads the library");
    ShimServer own = new ShimServer(Path.of(System.getenv("DOORBELL_HCA")), ShimOptions.of(1));
    server = own;
    thread = new Thread(() -> own.run(() -> stop), "served devices");
    thread.start();
  }

  @AfterAll
  static void end() throws Exception {
    stop = true;
    if (thread != null) {
      thread.join();
    }
    if (server != null) {
      server.close();
    }
  }
}
