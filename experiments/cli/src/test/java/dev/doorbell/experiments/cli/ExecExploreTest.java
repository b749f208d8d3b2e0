package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code doorbell exec} of a whole program whose kernels post: {@code put.c} of interop's tests,
 * compiled by gcc.
 */
class ExecExploreTest {
  private static final String HOME = "doorbell.home";
  private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();
  private static final Path SOURCES = CHECKOUT.resolve("host-runtime/interop/src/test/c");

  @TempDir Path folder;

  private final Session user = new Session();
  private final String before = System.getProperty(HOME, "");

  @BeforeEach
  void findTheCheckout() {
    System.setProperty(HOME, CHECKOUT.toString());
  }

  @AfterEach
  void forgetTheCheckout() {
    if (before.isEmpty()) {
      System.clearProperty(HOME);
    } else {
      System.setProperty(HOME, before);
    }
  }

  private ExitCode exec(String... words) {
    List<String> all = new ArrayList<>(List.of("exec", "--at", folder.resolve("at").toString()));
    all.addAll(List.of(words));
    return user.type(all.toArray(String[]::new));
  }

  private String program() throws IOException, InterruptedException {
    return program("put");
  }

  /** Compiles a program, or skips the test; {@code exec} has built the libraries before. */
  private String program(String name) throws IOException, InterruptedException {
    assumeTrue(
        Files.exists(Path.of("/usr/include/infiniband/mlx5dv.h"))
            && Files.isExecutable(Path.of("/usr/bin/gcc")),
        "no gcc, or no libibverbs headers ('apt-get install gcc libibverbs-dev')");
    assertThat(exec("--", "true")).as(user.err()).isEqualTo(ExitCode.OK);
    Path program = folder.resolve(name);
    Process gcc =
        new ProcessBuilder(
                "gcc",
                "-std=gnu11",
                "-o",
                program.toString(),
                SOURCES.resolve(name + ".c").toString(),
                CHECKOUT.resolve("target/cuda-shim/libcuda.so.1").toString(),
                "-lmlx5",
                "-libverbs")
            .inheritIO()
            .start();
    assertThat(gcc.waitFor()).isZero();
    return program.toString();
  }

  private ExitCode explore(String runs, String sender, String receiver) throws Exception {
    return explore("put", runs, "1", sender, receiver);
  }

  private ExitCode explore(String name, String runs, String gpus, String... arguments)
      throws Exception {
    List<String> words = new ArrayList<>(List.of("--explore", runs, "--gpus", gpus));
    words.addAll(List.of("--junit", folder.resolve("verdicts.xml").toString(), "--timeout", "2"));
    words.addAll(List.of("--", "sh", "-c", "\"$@\" > /dev/null 2>&1", "sh", program(name)));
    words.add(SOURCES.resolve("put.ptx").toString());
    words.addAll(List.of(arguments));
    return exec(words.toArray(String[]::new));
  }

  /** Programs with a known race each, and the two accesses by which it is reported. */
  @ParameterizedTest
  @CsvSource({
    "put, send_unfenced receive_acquire, the HCA reads what may not have arrived",
    "put, send_record_unfenced receive_acquire,"
        + " the doorbell record may arrive before a WQE that it announces",
    "put, send_fenced receive_relaxed, a load races with a store",
    "put, send_reuses receive_acquire, (a thread stores over|the HCA reads) what",
    "put, send_waits_relaxed receive_acquire, a thread stores over what the HCA may still read",
    "orders, gpus give_unfenced take_acquire, a load races with a store",
    "orders, gpus give_fenced take_relaxed, a load races with a store",
    "orders, relay give_unfenced take_acquire, a load races with a store",
    "orders, relay give_fenced take_relaxed, a load races with a store",
    "put, fill_weak receive_acquire, the HCA reads what may not have arrived",
    "orders, launch give_unfenced, a load races with a store",
    "orders, streams, race",
    "orders, copy, race",
    "orders, other, race",
    "orders, nothing, race",
  })
  void a_program_with_a_race_is_never_clean(String name, String arguments, String finding)
      throws Exception {
    assertThat(explore(name, "3", "2", arguments.split(" ")))
        .as(user.out())
        .isEqualTo(ExitCode.COUNTER_EXAMPLE);
    assertThat(user.out()).containsPattern("COUNTER-EXAMPLE .*" + finding);
  }

  /** The same programs in which everything is ordered. */
  @ParameterizedTest
  @CsvSource({
    "put, send_fenced receive_acquire",
    "put, send_waits receive_acquire",
    "orders, gpus give_fenced take_acquire",
    "orders, relay give_fenced take_acquire",
    "put, fill_strong receive_acquire",
    "orders, launch give_fenced",
    "orders, event",
    "orders, stream",
    "orders, query",
    "orders, event_query",
    "orders, device",
    "orders, call",
  })
  void a_program_without_a_race_has_no_finding(String name, String arguments) throws Exception {
    assertThat(explore(name, "3", "2", arguments.split(" ")))
        .as(user.out())
        .isIn(ExitCode.OK, ExitCode.NOT_COVERED);
    assertThat(user.out()).doesNotContain("COUNTER-EXAMPLE", "FAILED", "HANG");
  }

  @Test
  void a_payload_without_a_fence_before_its_doorbell_is_found() throws Exception {
    assertThat(explore("2", "send_unfenced", "receive_acquire"))
        .isEqualTo(ExitCode.COUNTER_EXAMPLE);
    assertThat(user.out())
        .contains("COUNTER-EXAMPLE  the HCA reads what may not have arrived")
        .contains("(gpu memory of rank0.gpu0", "put.cu:35, inlined at", "DMA read           mlx5_0")
        .contains("for the WQE of module of the program:", "put.cu:30, inlined at")
        .doesNotContain("no finding", "CLEAN");
    assertThat(folder.resolve("verdicts.xml")).content().contains("<failure message=\"the HCA");
  }

  @Test
  void a_payload_that_is_read_without_an_acquire_of_its_flag_is_found() throws Exception {
    assertThat(explore("2", "send_fenced", "receive_relaxed")).isEqualTo(ExitCode.COUNTER_EXAMPLE);
    assertThat(user.out())
        .contains("COUNTER-EXAMPLE  a load races with a store", "DMA write          mlx5_0")
        .contains("put.cu:55, inlined at put.cu:");
  }

  @Test
  void the_program_with_its_fences_is_clean_when_all_was_seen() throws Exception {
    assertThat(explore("3", "send_fenced", "receive_acquire"))
        .as(user.out())
        .isEqualTo(ExitCode.OK);
    assertThat(user.out())
        .contains(
            "3 runs; ", "loads and stores of the host are not watched", "CLEAN: nothing found");
    assertThat(folder.resolve("verdicts.xml")).content().doesNotContain("<failure", "<error");
  }

  @Test
  void a_program_without_kernels_is_not_clean() {
    assertThat(exec("--explore", "1", "--", "true")).isEqualTo(ExitCode.NOT_COVERED);
    assertThat(user.out()).contains("no finding in 1 run; no kernel ran").doesNotContain("CLEAN");
  }

  @Test
  void in_virtual_time_events_tell_what_the_machine_takes() throws Exception {
    String put = program();
    Path said = folder.resolve("said");
    String command = "\"$@\" >> " + said;
    for (int run = 0; run < 2; run++) {
      assertThat(
              exec(
                  "--machine",
                  "h200-cx7",
                  "--",
                  "sh",
                  "-c",
                  command,
                  "sh",
                  put,
                  SOURCES.resolve("put.ptx").toString(),
                  "send_fenced",
                  "receive_acquire"))
          .isEqualTo(ExitCode.OK);
    }
    List<String> times = Files.readAllLines(said);
    assertThat(times).hasSize(2);
    assertThat(times.get(1)).isEqualTo(times.getFirst());
    // Two fences of scope sys, a doorbell, two reads over PCIe, a loop in the HCA, a poll.
    assertThat(Double.parseDouble(times.getFirst().replace(" us", ""))).isBetween(3.0, 12.0);
  }

  @Test
  void a_machine_that_is_not_known_is_refused() {
    assertThat(exec("--machine", "no-such-machine", "--", "true")).isEqualTo(ExitCode.USAGE);
    assertThat(user.err()).contains("--machine no-such-machine").contains("fix");
    assertThat(exec("--machine", "h200-cx7", "--gpus", "17", "--", "true"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(exec("--machine", "h200-cx7", "--explore", "2", "--", "true"))
        .isEqualTo(ExitCode.USAGE);
  }

  @Test
  void it_needs_a_program_with_gpus() {
    assertThat(exec("--explore", "2")).isEqualTo(ExitCode.USAGE);
    assertThat(exec("--explore", "2", "--pcap", "packets.pcapng", "--", "true"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(exec("--explore", "2", "--gpus", "0", "--", "true")).isEqualTo(ExitCode.USAGE);
    assertThat(exec("--seed", "2", "--", "true")).isEqualTo(ExitCode.USAGE);
    assertThat(user.err()).contains("--seed");
  }
}
