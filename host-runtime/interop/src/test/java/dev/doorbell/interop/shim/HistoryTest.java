package dev.doorbell.interop.shim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.interop.shim.ServedProcess.Plan;
import dev.doorbell.interop.shim.history.History;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Histories of four clients of one memory, over served devices: atomics are linearizable, writes
 * and reads have the order of reliable connections, whatever happens to processes, links and
 * clocks. {@code -Ddoorbell.history.seed=} draws other requests.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class HistoryTest {
  private static final long SEED = Long.getLong("doorbell.history.seed", 45);
  private static final int SLOW_RUNS = 3;
  private static final int CLIENTS = 4;

  @TempDir private Path folder;
  private Path library = Path.of("");
  private Path program = Path.of("");
  private final List<Process> started = new ArrayList<>();

  @BeforeEach
  void compile() throws IOException, InterruptedException {
    library = ServedDevices.library();
    program = ServedDevices.compile(folder, "history.c", "-libverbs");
  }

  @AfterEach
  void end() throws InterruptedException {
    for (Process each : started) {
      each.descendants().forEach(ProcessHandle::destroyForcibly);
      each.destroyForcibly().waitFor();
    }
  }

  @Test
  void all_is_in_order_while_links_part_processes_stop_and_the_clock_goes_back() throws Exception {
    disturbed(SEED, 1);
  }

  @Test
  void what_was_seen_stays_true_when_a_client_and_then_the_server_is_killed() throws Exception {
    killed(SEED, 300);
  }

  @Test
  void payload_that_is_written_late_is_found() throws Exception {
    World world = new World(SEED, Plan.RELAXED, Map.of());
    world.awaitOperations(3000);
    History history = world.stop();
    assertThat(history.broken()).as(history.toString()).anyMatch(each -> each.contains("older"));
  }

  @Test
  @Tag("slow")
  void all_is_in_order_for_longer() throws Exception {
    for (int run = 1; run <= SLOW_RUNS; run++) {
      disturbed(SEED + run, 5);
      killed(SEED + run, 1000 * run);
      parted(SEED + run);
    }
  }

  private void disturbed(long seed, int rounds) throws Exception {
    Path clock = folder.resolve("backwards.so");
    ServedDevices.compile(folder, "backwards.c", "-shared", "-fPIC", "-o", clock.toString());
    World world = new World(seed, Plan.HEALED, Map.of("LD_PRELOAD", clock.toString()));
    assertThat(world.greeting).isEqualTo("its clock goes back");
    for (int round = 0; round < rounds; round++) {
      for (long pid : world.processes()) {
        world.awaitOperations(300);
        world.pause(pid);
      }
    }
    world.awaitOperations(300);
    History history = world.stop();
    assertThat(history.unknown()).as("seed %d: %s", seed, history).isZero();
    assertThat(history.broken()).as("seed %d: %s", seed, history).isEmpty();
  }

  private void killed(long seed, int operations) throws Exception {
    World world = new World(seed, Plan.NOTHING, Map.of());
    world.awaitOperations(operations);
    world.signal("-KILL", world.clients.getFirst());
    world.awaitOperations(operations);
    world.server.destroyForcibly().waitFor();
    History history = world.stop();
    assertThat(history.broken()).as("seed %d: %s", seed, history).isEmpty();
  }

  private void parted(long seed) throws Exception {
    World world = new World(seed, Plan.PARTED, Map.of());
    world.awaitEnds();
    History history = world.stop();
    assertThat(history.unknown()).as("seed %d: %s", seed, history).isPositive();
    assertThat(history.broken()).as("seed %d: %s", seed, history).isEmpty();
  }

  /** A server, an owner of memory and its clients, each a process. */
  private final class World {
    final Process server;
    final Process owner;
    final List<Long> clients;
    final String greeting;
    private final Path histories;

    World(long seed, Plan plan, Map<String, String> environment)
        throws IOException, InterruptedException {
      System.out.printf("seed %d, %s%n", seed, plan);
      histories = Files.createTempDirectory(folder, "histories");
      Path served = histories.resolve("hca");
      server =
          start(
              environment,
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-XX:+UseSerialGC",
              "-XX:TieredStopAtLevel=1",
              "--enable-native-access=ALL-UNNAMED",
              "-cp",
              System.getProperty("java.class.path"),
              ServedProcess.class.getName(),
              served.toString(),
              String.valueOf(seed),
              plan.name());
      greeting = line(server);
      owner =
          start(
              PreloadLibrary.environment(library, served, ""),
              program.toString(),
              String.valueOf(seed),
              String.valueOf(CLIENTS),
              histories.toString());
      clients = Arrays.stream(line(owner).split(" ", -1)).map(Long::valueOf).toList();
    }

    private Process start(Map<String, String> environment, String... command) throws IOException {
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectError(folder.resolve("errors.txt").toFile());
      builder.environment().putAll(environment);
      Process process = builder.start();
      started.add(process);
      return process;
    }

    private String line(Process process) throws IOException {
      BufferedReader reader = process.inputReader();
      String line = reader.readLine();
      assertThat(line).as(Files.readString(folder.resolve("errors.txt"))).isNotNull();
      return line;
    }

    List<Long> processes() {
      return List.of(server.pid(), clients.get(1), owner.pid(), clients.get(2));
    }

    /** Waits until some client has begun and ended so many more requests. */
    void awaitOperations(int count) throws IOException, InterruptedException {
      long until = lines() + 2L * count;
      while (lines() < until) {
        assertThat(owner.isAlive()).isTrue();
        Thread.sleep(5);
      }
    }

    /** Waits until no client runs. */
    void awaitEnds() throws InterruptedException {
      for (long client : clients) {
        while (ProcessHandle.of(client).isPresent() && !isZombie(client)) {
          Thread.sleep(5);
        }
      }
    }

    private static boolean isZombie(long pid) {
      try {
        return Files.readString(Path.of("/proc/" + pid + "/stat")).contains(") Z ");
      } catch (IOException _) {
        return true;
      }
    }

    private long lines() throws IOException {
      long lines = 0;
      for (Path file : files()) {
        try (Stream<String> each = Files.lines(file)) {
          lines += each.count();
        }
      }
      return lines;
    }

    private List<Path> files() throws IOException {
      try (Stream<Path> files = Files.list(histories)) {
        return files.filter(file -> file.toString().contains("history.")).sorted().toList();
      }
    }

    /** Stops a process for longer than the ACK timeout, and lets it go on. */
    void pause(long pid) throws IOException, InterruptedException {
      signal("-STOP", pid);
      Thread.sleep(60);
      signal("-CONT", pid);
    }

    void signal(String signal, long pid) throws IOException, InterruptedException {
      Process kill = new ProcessBuilder("kill", signal, String.valueOf(pid)).start();
      assertThat(kill.waitFor()).isZero();
    }

    /** Ends the clients, and returns what they have written down. */
    History stop() throws IOException, InterruptedException {
      if (server.isAlive()) {
        owner.getOutputStream().close();
        assertThat(owner.waitFor()).isZero();
      } else {
        // Nobody waits for answers any more, and the owner may have ended with its devices.
        owner.descendants().forEach(ProcessHandle::destroyForcibly);
        owner.destroyForcibly().waitFor();
        awaitEnds();
      }
      List<List<String>> clientLines = new ArrayList<>();
      for (Path file : files()) {
        clientLines.add(Files.readAllLines(file));
      }
      return History.of(clientLines);
    }
  }
}
