package dev.doorbell.experiments.scenario.nic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.fabric.explore.model.CalmChooser.RandomChooser;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.experiments.scenario.nic.NicShape.NicPath;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stores of both GPUs are delivered in any order that is legal. */
class GpuNicOrderTest {
  private static final int SEEDS = 8;
  private static final long NANOS = 60_000_000_000L;
  private static final NicShape.Scale SCALE =
      new NicShape.Scale(32, NANOS, 5_000_000_000L, 1, 1, 0, 0);

  @ParameterizedTest
  @CsvSource({
    "PULL, put_bandwidth",
    "PUSH_INLINE, put_bandwidth",
    "PUSH_MEMIC, put_bandwidth",
    "PUSH_RING, push_ring",
    "PUSH_MEMIC, put_quiet",
    "PUSH_RING, push_quiet"
  })
  void every_message_arrives_whatever_the_order_of_stores(NicPath path, String kernel) {
    NicShape shape = new NicShape(path, 16, 1, 2, 4, 2, 2);
    for (int seed = 1; seed <= SEEDS; seed++) {
      ExploringFabric fabric =
          new ExploringFabric(
              AddressSpace.reserve(),
              new RandomChooser(seed),
              new ExploringFabric.Options(Policy.STRICT, false, NANOS, Adapter.DEFAULT.promises()));
      NicRun.Load load = new NicRun.Load(kernel, 6, 0, kernel.equals("push_ring") ? 6 : 1);
      try (GpuPair gpus = GpuPair.emulated(fabric);
          NicRun run = new NicRun(gpus, shape, SCALE, load, seed)) {
        List<Launch> launches = run.prepare().stream().map(Supplier::get).toList();
        RunOutcome outcome = fabric.run(() -> launches.stream().allMatch(Launch::done), NANOS);
        fabric.quiesce();
        assertThat(outcome).as("seed %d", seed).isEqualTo(RunOutcome.DONE);
        launches.forEach(Launch::check);
        assertThat(run.firstError()).as("seed %d", seed).isNull();
        assertThat(run.mismatch()).as("seed %d", seed).isNull();
      }
    }
  }

  @Test
  void a_key_that_was_not_registered_ends_the_queue_pair_with_an_error_cqe() {
    NicShape shape = new NicShape(NicPath.PULL, 16, 1, 2, 4, 2, 2);
    NicRun.Load load = new NicRun.Load("put_bandwidth", 6, 0, 1);
    try (GpuPair gpus = GpuPair.emulated(new DirectFabric(AddressSpace.reserve(), 1));
        NicRun run = new NicRun(gpus, shape, SCALE, load, 1, NicRun.REMOTE_KEY + 1)) {
      List<Launch> launches = run.prepare().stream().map(Supplier::get).toList();
      gpus.fabric().run(() -> launches.stream().allMatch(Launch::done), NANOS);
      launches.forEach(Launch::check);
      assertThat(run.firstError())
          .contains("sender", "NIC", "syndrome 0x%02x, WQE 0".formatted(Syndrome.REMOTE_ACCESS));
      assertThat(run.mismatch()).contains("byte 0 of the inbox");
    }
  }
}
