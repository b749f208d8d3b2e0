package dev.doorbell.experiments.workbench.diff.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.doorbell.core.Probe;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.cuda.CudaProbe;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.workbench.diff.KernelComparer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpuComparerTest {
  private static final long SEED = 5;
  private static final long NANOS = 20_000_000_000L;

  private static List<KernelComparer.Run> compare(String kernel, String gpu, int runs)
      throws EnvironmentException {
    List<KernelComparer.Run> heard = new ArrayList<>();
    KernelComparer.find()
        .compare(
            new KernelComparer.Request(
                kernel, Optional.empty(), gpu, SEED, 0, runs, NANOS, () -> false, heard::add));
    return heard;
  }

  @ParameterizedTest
  @CsvSource({
    "put_latency, 1",
    "put_bandwidth, 1",
    "put_rate, 2",
    "post_once, 2",
    "operations, 1",
    "restartable, 1"
  })
  void interpreter_and_compiler_leave_the_same(String kernel, int runs)
      throws EnvironmentException {
    assertThat(compare(kernel, "vm", runs))
        .hasSize(runs)
        .allSatisfy(
            run -> {
              assertThat(run.differences()).as("seed %d, %s", SEED, run.parameters()).isEmpty();
              assertThat(run.compared()).isPositive();
            });
  }

  /** Runs that an H200 told of: lanes of a warp hand their commands to the CPU one by one. */
  @ParameterizedTest
  @CsvSource({"21, 1", "21, 4", "5, 0", "32, 3"})
  void commands_of_lanes_have_no_order(long seed, int number) throws EnvironmentException {
    List<KernelComparer.Run> heard = new ArrayList<>();
    KernelComparer.find()
        .compare(
            new KernelComparer.Request(
                "put_rate",
                Optional.empty(),
                "vm:order",
                seed,
                number,
                1,
                NANOS,
                () -> false,
                heard::add));
    assertThat(heard)
        .singleElement()
        .satisfies(
            run -> {
              assertThat(run.parameters()).startsWith("proxy").contains("scope=warp");
              assertThat(run.differences()).isEmpty();
            });
  }

  @Test
  void rings_whose_posters_race_hold_all_that_was_posted() {
    for (String kernel : List.of("put_rate", "operations", "restartable")) {
      Protocol protocol = Protocol.ofCatalogue(kernel);
      int raced = 0;
      for (long seed = 0; seed < 3000; seed++) {
        ComparedCase one = ComparedCase.random(protocol, new SplittableRandom(seed));
        if (one.races()) {
          int posts = one.blocks() * one.threads() * (one.iterations() + one.warmup());
          assertThat(4 * posts)
              .as("%s of seed %d", one, seed)
              .isLessThanOrEqualTo(one.ringBlocks());
          assertThat(one.iterations()).as("%s of seed %d", one, seed).isPositive();
          raced++;
        }
      }
      assertThat(raced).as(kernel).isGreaterThan(1000);
    }
  }

  @Test
  void a_machine_without_a_gpu_is_told_so() {
    assumeFalse(CudaProbe.probe() instanceof Probe.Ready, "this machine has a GPU");
    assertThatThrownBy(() -> compare("put_latency", "cuda:0", 1))
        .isInstanceOf(EnvironmentException.class);
  }

  @Test
  void a_byte_that_differs_is_found_and_named() {
    ComparedCase what =
        ComparedCase.random(Protocol.ofCatalogue("put_latency"), new SplittableRandom(SEED));
    SequencedMap<String, byte[]> one = new LinkedHashMap<>();
    SequencedMap<String, byte[]> other = new LinkedHashMap<>();
    one.put("inbox #7 of rank1.gpu0", new byte[100]);
    byte[] changed = new byte[100];
    changed[42] = 9;
    other.put("inbox #7 of rank1.gpu0", changed);
    assertThat(new ComparedRun(what, SEED).compare("the VM", one, "cuda:0", other))
        .containsExactly(
            "inbox #7 of rank1.gpu0, byte 42 of 100 (beside the messages):"
                + " 0x0000000000090000 on cuda:0, 0x0000000000000000 on the VM; 1 byte differs");
  }
}
