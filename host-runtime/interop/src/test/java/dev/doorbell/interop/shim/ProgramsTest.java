package dev.doorbell.interop.shim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fault.FaultPlan;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs small programs of our own with the real libibverbs and libmlx5. */
final class ProgramsTest {
  /**
   * {@code -Ddoorbell.programs.seed=} for other requests, {@code doorbell.programs.runs} for more.
   */
  private static final long SEED = Long.getLong("doorbell.programs.seed", 20_260_101);

  private static final int RUNS = Integer.getInteger("doorbell.programs.runs", 4);

  @TempDir private Path folder;

  @Test
  void queues_that_a_program_makes_by_devx_carry_a_write_and_tell_of_events() throws Exception {
    succeeds("devx.c", "-lmlx5", "-libverbs");
  }

  @Test
  void a_device_is_found_read_and_lost_as_one_of_a_kernel() throws Exception {
    ServedDevices.Program running;
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      Path program = devices.compile("installed.c", "-lmlx5", "-libverbs");
      running = devices.start(program.toString());
      running.awaitLine();
      Path served = folder.resolve("hca");
      Files.writeString(served.resolve("ended"), "the disk is full\n");
      devices.stopServing();
      assertThat(running.succeed())
          .isEqualTo(
              "ok\ndoorbell: the server of the devices in %s is gone: the disk is full\n"
                  .formatted(served));
    }
  }

  @Test
  @Timeout(60)
  void a_server_that_fails_leaves_no_program_waiting() throws Exception {
    Path served = folder.resolve("failing");
    try (ShimServer server = ShimServer.open(served, ShimOptions.of(1));
        SocketChannel program =
            SocketChannel.open(UnixDomainSocketAddress.of(served.resolve("socket")))) {
      assertThatThrownBy(
              () ->
                  server.run(
                      () -> {
                        if (server.connections() > 0) {
                          throw new IllegalStateException("it broke");
                        }
                        return false;
                      }))
          .hasMessage("it broke");
      assertThat(served.resolve("ended")).content().contains("it broke");
      assertThat(program.read(ByteBuffer.allocate(1))).isEqualTo(-1);
      assertThatThrownBy(
              () -> SocketChannel.open(UnixDomainSocketAddress.of(served.resolve("socket"))))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void a_program_that_knows_all_numbers_of_another_reaches_none_of_its_bytes() throws Exception {
    succeeds("hostile.c", "-lmlx5", "-libverbs");
  }

  @Test
  void files_identities_and_silence_of_a_hostile_program_harm_nobody_else() throws Exception {
    succeeds("guards.c", "-I../uverbs-shim");
  }

  @Test
  void a_child_of_vfork_leaves_its_parents_devices_alone() throws Exception {
    succeeds("vforked.c", "-libverbs");
  }

  @Test
  void the_folder_of_devices_is_its_users_alone_and_empty_afterwards() throws Exception {
    Path served = folder.resolve("hca");
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      assertThat(mode(served)).isEqualTo("rwx------");
      assertThat(mode(served.resolve("socket"))).isEqualTo("rw-------");
      assertThat(devices.server().connections()).isZero();
    }
    assertThat(served).isEmptyDirectory();
    Path link = Files.createSymbolicLink(folder.resolve("link"), served);
    assertThatThrownBy(() -> new ShimServer(link, ShimOptions.of(1)))
        .hasMessageContaining("symbolic link");
    Files.setPosixFilePermissions(served, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThatThrownBy(() -> new ShimServer(served, ShimOptions.of(1)))
        .hasMessageContaining("can enter");
    assertThat(served).isEmptyDirectory();
  }

  private void succeeds(String source, String... libraries) throws Exception {
    assertThat(eitherWay(1, source, List.of(libraries))).isEqualTo("ok\n");
  }

  /**
   * Compiles a program, runs it on devices of its own that nobody observes and on devices whose
   * packets are captured, and sees its connections end.
   *
   * @return what it printed, the same both times
   */
  private String eitherWay(int count, String source, List<String> libraries, String... arguments)
      throws Exception {
    List<String> said = new ArrayList<>();
    ServedDevices.library();
    Path program = ServedDevices.compile(folder, source, libraries.toArray(String[]::new));
    Path capture = folder.resolve("capture.pcapng");
    for (Path file : Arrays.asList(null, capture)) {
      ShimOptions options =
          new ShimOptions(count, List.of(), Adapter.DEFAULT, FaultPlan.NONE, file);
      try (ServedDevices devices = ServedDevices.start(folder, options)) {
        String[] words =
            Stream.concat(Stream.of(program.toString()), Stream.of(arguments))
                .toArray(String[]::new);
        said.add(devices.start(words).succeed());
        devices.awaitNobody();
      }
    }
    Files.delete(capture);
    assertThat(said.getLast().lines()).containsExactlyElementsOf(said.getFirst().lines().toList());
    return said.getFirst();
  }

  /** Path MTUs, lengths, keys, rights, ranges and receives, right and wrong. */
  @Test
  void a_capture_changes_no_verdict() throws Exception {
    List<String> lines = eitherWay(1, "verdicts.c", List.of("-libverbs")).lines().toList();
    assertThat(lines)
        .anyMatch(line -> line.startsWith("write, path MTU above the peer's: sent 9/"));
    assertThat(lines).anyMatch(line -> line.startsWith("write of 2^31 - 1: sent 1/"));
    assertThat(lines.stream().filter(line -> line.contains(": ok"))).hasSizeBetween(6, 10);
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void a_datagram_that_rang_before_its_queue_pair_is_destroyed_arrives() throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      Path program = devices.compile("farewell.c", "-libverbs");
      assertThat(devices.start(program.toString()).succeed()).isEqualTo("all came\n");
      devices.awaitNobody();
    }
  }

  @Test
  void a_datagram_that_rang_before_its_program_ends_arrives() throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      String program = devices.compile("farewell.c", "-libverbs").toString();
      for (String way : List.of("return", "_exit", "close", "kill")) {
        assertThat(devices.start(program, way).succeed()).as(way).isEqualTo("all came\n");
      }
      devices.awaitNobody();
    }
  }

  @Test
  void posts_of_both_kinds_wake_a_server_that_sleeps() throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      Path program = devices.compile("wakes.c", "-I../uverbs-shim", "-libverbs");
      int wakes = 0;
      for (String kind : List.of("wr", "post")) {
        assertThat(devices.start(program.toString(), kind).succeed()).isEqualTo("ok\n");
        assertThat(devices.server().wakes()).as(kind).isGreaterThan(wakes);
        wakes = devices.server().wakes();
      }
      devices.awaitNobody();
    }
  }

  @Test
  void a_region_has_no_memory_and_completions_carry_the_time() throws Exception {
    succeeds("clocks.c", "-lmlx5", "-libverbs");
  }

  @Test
  void an_initiator_sends_and_writes_to_two_targets_in_turn() throws Exception {
    succeeds("dynamic.c", "-lmlx5", "-libverbs");
  }

  @Test
  void multicasts_reach_the_members_of_their_group() throws Exception {
    assertThat(eitherWay(2, "multicast.c", List.of("-libverbs"))).isEqualTo("ok\n");
  }

  @Test
  void what_a_failed_command_has_made_ends_with_it() throws Exception {
    succeeds("undone.c", "-libverbs");
  }

  @Test
  void what_a_kernel_refuses_is_refused_with_its_errno() throws Exception {
    succeeds("refusals.c", "-lmlx5", "-libverbs");
  }

  @Test
  void completion_and_asynchronous_events_reach_their_readers_and_are_counted() throws Exception {
    succeeds("events.c", "-libverbs");
  }

  @Test
  void completion_queues_are_resized_while_completions_wait_in_them() throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      Path program = devices.compile("resize.c", "-libverbs");
      assertThat(devices.start(program.toString(), String.valueOf(SEED)).succeed())
          .isEqualTo("ok\n");
      devices.awaitNobody();
      assertThat(sharedMappings()).isZero();
    }
  }

  @Test
  void every_byte_of_random_requests_between_two_processes_is_where_it_belongs() throws Exception {
    traffic(SEED, 60);
  }

  @Test
  @Tag("slow")
  void every_byte_of_many_random_requests_is_where_it_belongs() throws Exception {
    for (int run = 1; run <= RUNS; run++) {
      traffic(SEED + run, 300);
    }
  }

  /** The program prints its seed when something is wrong. */
  private void traffic(long seed, int requests) throws Exception {
    List<String> libraries = List.of("-O1", "-libverbs");
    String said =
        eitherWay(1, "traffic.c", libraries, String.valueOf(seed), String.valueOf(requests));
    assertThat(said).isEqualTo("ok\n");
  }

  @Test
  void opening_and_closing_leaves_nothing_behind() throws Exception {
    cycles(20);
  }

  @Test
  @Tag("slow")
  void opening_and_closing_a_thousand_times_leaves_nothing_behind() throws Exception {
    cycles(1000);
  }

  private void cycles(int count) throws IOException, InterruptedException {
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      Path program = devices.compile("cycles.c", "-libverbs");
      String once = devices.start(program.toString(), "1").succeed();
      devices.awaitNobody();
      long descriptors = descriptors();
      assertThat(devices.start(program.toString(), String.valueOf(count)).succeed())
          .isEqualTo(once)
          // One page, of 8 blocks: the server's state.
          .endsWith("shared blocks 8\n");
      devices.awaitNobody();
      assertThat(sharedMappings()).isZero();
      // This JVM opens files of its own now and then; what a cycle left behind would add up.
      assertThat(descriptors()).isLessThan(descriptors + 10);
    }
  }

  @Test
  void a_program_that_is_killed_leaves_nothing_behind() throws Exception {
    ServedDevices.requireProgram("ib_write_bw");
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      long descriptors = descriptors();
      int port = ServedDevices.freePort();
      String[] words = {
        "ib_write_bw", "-d", "mlx5_0", "-x", "0", "-F", "-n", "5000000", "-p", String.valueOf(port)
      };
      ServedDevices.Program waiting = devices.start(words);
      ServedDevices.awaitListener(waiting, port);
      ServedDevices.Program client =
          devices.start(
              Stream.concat(Stream.of(words), Stream.of("127.0.0.1")).toArray(String[]::new));
      while (sharedMappings() < 8 && client.process.isAlive()) {
        Thread.sleep(10);
      }
      assertThat(client.process.isAlive()).as(client.said()).isTrue();
      // SIGKILL: nothing of it runs any more.
      client.process.destroyForcibly().waitFor();
      // perftest's server ends when its peer has; not always where that was in the middle of
      // meeting.
      if (!waiting.process.waitFor(10, TimeUnit.SECONDS)) {
        waiting.process.destroyForcibly().waitFor();
      }
      devices.awaitNobody();
      assertThat(sharedMappings()).isZero();
      assertThat(descriptors()).isLessThan(descriptors + 5);
      devices.pair("ibv_rc_pingpong", "-g", "0", "-c", "-e", "-n", "20");
    }
  }

  /** Mappings of files that programs share with this process. */
  private static long sharedMappings() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains("doorbell-hca")).count();
    }
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }
}
