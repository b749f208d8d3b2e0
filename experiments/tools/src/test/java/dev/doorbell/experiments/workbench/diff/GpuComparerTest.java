package dev.doorbell.experiments.workbench.diff;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.kernels.KernelFolders;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GpuComparerTest {
  private static final long SEED = Long.getLong("doorbell.seed", 5);
  private static final int RUNS = Integer.getInteger("doorbell.runs", 8);
  private static final String GPU = "doorbell.gpu";
  private static final String KERNEL = "doorbell.kernel";

  private static GpuComparer.Run compare(String kernel, String gpu, long seed, int number) {
    return GpuComparer.compare(
        new GpuComparer.Request(Protocol.ofCatalogue(kernel), gpu, seed, number));
  }

  private static void assertEqual(GpuComparer.Run run) {
    assertThat(run.differences()).as(run.parameters()).isEmpty();
    assertThat(run.compared()).as(run.parameters()).isPositive();
  }

  @ParameterizedTest
  @CsvSource({"put_latency, 1", "put_bandwidth, 1", "put_rate, 2", "post_once, 2", "operations, 1"})
  void interpreter_and_compiler_leave_the_same(String kernel, int runs) {
    for (int number = 0; number < runs; number++) {
      assertEqual(compare(kernel, "vm", SEED, number));
    }
  }

  /** Needs -Ddoorbell.gpu=cuda:0. */
  @ParameterizedTest
  @ValueSource(strings = {"put_latency", "put_bandwidth", "put_rate", "post_once", "operations"})
  @EnabledIfSystemProperty(named = GPU, matches = "cuda:[0-9]+")
  void a_gpu_leaves_what_the_virtual_machine_leaves(String kernel) {
    for (int number = 0; number < RUNS; number++) {
      assertEqual(compare(kernel, System.getProperty(GPU), SEED, number));
    }
  }

  /** Needs -Ddoorbell.gpu=cuda:0 and -Ddoorbell.kernel=my_put.kernel.yaml, by its whole path. */
  @Test
  @EnabledIfSystemProperty(named = GPU, matches = "cuda:[0-9]+|vm|vm:order")
  @EnabledIfSystemProperty(named = KERNEL, matches = ".+")
  void a_gpu_leaves_what_the_virtual_machine_leaves_of_a_kernel_of_ones_own() throws Exception {
    UserKernel own = KernelFolders.read(Path.of(System.getProperty(KERNEL)));
    for (int number = 0; number < RUNS; number++) {
      assertEqual(
          GpuComparer.compare(
              new GpuComparer.Request(Protocol.of(own), System.getProperty(GPU), SEED, number)));
    }
  }

  /** Runs that an H200 told of: lanes of a warp hand their commands to the CPU one by one. */
  @ParameterizedTest
  @CsvSource({"21, 1", "21, 4", "5, 0", "32, 3"})
  void commands_of_lanes_have_no_order(long seed, int number) {
    GpuComparer.Run run = compare("put_rate", "vm:order", seed, number);
    assertThat(run.parameters()).startsWith("proxy").contains("scope=warp");
    assertThat(run.differences()).isEmpty();
  }

  @Test
  void rings_whose_posters_race_hold_all_that_was_posted() {
    for (String kernel : List.of("put_rate", "operations")) {
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
