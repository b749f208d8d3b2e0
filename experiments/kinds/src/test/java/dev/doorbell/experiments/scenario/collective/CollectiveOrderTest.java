package dev.doorbell.experiments.scenario.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.fabric.explore.ExploringFabric.Finding;
import dev.doorbell.core.fabric.explore.model.CalmChooser;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.fabric.explore.model.Region;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.queue.SignalOrder;
import dev.doorbell.experiments.collective.Algorithm;
import dev.doorbell.experiments.collective.Call;
import dev.doorbell.experiments.collective.Call.Reduction;
import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.collective.DataType;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Three ranks under the adversary: nothing that a collective relies on is left without order. */
class CollectiveOrderTest {
  private static final int SEEDS = 4;
  private static final int RING = 64;
  private static final long DEADLINE_NANOS = 100_000_000;
  private static final long KERNEL_NANOS = 60_000_000_000L;
  private static final Call GATHER =
      new Call(Collective.ALL_GATHER, 3, 96, DataType.FLOAT, Reduction.SUM, 0, false, 7);

  @ParameterizedTest
  @CsvSource({
    "ALL_REDUCE, RING, 0",
    "ALL_REDUCE, RING, 1024",
    "ALL_REDUCE, TREE, 0",
    "ALL_REDUCE, HALVING, 0",
    "ALL_REDUCE, HALVING, 1024",
    "ALL_REDUCE, DIRECT, 0",
    "ALL_REDUCE, DIRECT, 1024",
    "REDUCE_SCATTER, RING, 0",
    "ALL_GATHER, RING, 0",
    "ALL_GATHER, DIRECT, 1024",
    "BROADCAST, TREE, 0",
    "REDUCE, RING, 0",
    "ALL_TO_ALL, DIRECT, 0",
    "BARRIER, HALVING, 0"
  })
  void two_turns_are_ordered(Collective collective, Algorithm algorithm, long mostPacked) {
    Call call = new Call(collective, 3, 96, DataType.FLOAT, Reduction.SUM, 0, false, 7);
    for (int seed = 0; seed < SEEDS; seed++) {
      assertThat(explore(call, algorithm, mostPacked, Adapter.DEFAULT, null, seed))
          .as("seed %d", seed)
          .isEmpty();
    }
  }

  /** Ranks that share a node store into each other's memory; nothing is posted. */
  @ParameterizedTest
  @CsvSource({
    "ALL_REDUCE, RING, 0",
    "ALL_REDUCE, DIRECT, 1024",
    "ALL_GATHER, DIRECT, 0",
    "ALL_REDUCE, TREE, 0",
    "BARRIER, HALVING, 0"
  })
  void two_turns_of_stores_are_ordered(
      Collective collective, Algorithm algorithm, long mostPacked) {
    Call call = new Call(collective, 3, 96, DataType.FLOAT, Reduction.SUM, 0, false, 7, 3);
    for (int seed = 0; seed < SEEDS; seed++) {
      assertThat(explore(call, algorithm, mostPacked, Adapter.DEFAULT, null, seed))
          .as("seed %d", seed)
          .isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1024})
  void stores_inside_of_nodes_and_puts_between_them_are_ordered(long mostPacked) {
    Call call =
        new Call(Collective.ALL_REDUCE, 4, 128, DataType.FLOAT, Reduction.SUM, 0, false, 7, 2);
    for (int seed = 0; seed < SEEDS; seed++) {
      assertThat(explore(call, Algorithm.HIERARCHICAL, mostPacked, Adapter.DEFAULT, null, seed))
          .as("seed %d", seed)
          .isEmpty();
    }
  }

  /** Flags apart from data are signals: a fence bit, or a key for strict ordering. */
  @ParameterizedTest
  @MethodSource("adapters")
  void flags_come_behind_their_data_on_every_adapter(Adapter adapter) {
    for (int seed = 0; seed < SEEDS; seed++) {
      Algorithm algorithm = seed % 2 == 0 ? Algorithm.RING : Algorithm.DIRECT;
      assertThat(explore(GATHER, algorithm, 0, adapter, SignalOrder.of(adapter.promises()), seed))
          .as("%s by %s, seed %d", adapter, algorithm, seed)
          .isEmpty();
    }
  }

  static List<Adapter> adapters() {
    return Adapters.all();
  }

  @ParameterizedTest
  @ValueSource(strings = {"cx7-ar", "cx8-ooo-rw", "cx8-ooo-all", "relaxed-pcie"})
  void a_flag_that_is_a_mere_write_is_found_where_writes_are_reordered(String adapter) {
    int found = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
      found +=
          explore(GATHER, Algorithm.RING, 0, Adapters.named(adapter), SignalOrder.NONE, seed)
              .size();
    }
    assertThat(found).isPositive();
  }

  private static List<Finding> explore(
      Call call,
      Algorithm algorithm,
      long mostPacked,
      Adapter adapter,
      @Nullable SignalOrder order,
      int seed) {
    ExploringFabric fabric =
        new ExploringFabric(
            AddressSpace.reserve(),
            new CalmChooser(seed, List.of()),
            new ExploringFabric.Options(Policy.VENDOR, true, KERNEL_NANOS, adapter.promises()));
    World world =
        World.exploring(fabric, call.ranks(), SoftHcaOptions.DEFAULT.withAdapter(adapter));
    try (world;
        CollectiveTrial trial =
            new CollectiveTrial(
                world,
                call,
                List.of(algorithm.schedule(call, mostPacked, 32)),
                Endpoint.Shape.builder(RING, DEADLINE_NANOS).exclusive(true).order(order).build(),
                LaunchConfig.of(1, 2).withTimeout(KERNEL_NANOS),
                2)) {
      for (int rank = 0; rank < call.ranks(); rank++) {
        for (Endpoint endpoint : trial.connection().endpoints(rank)) {
          describe(fabric, endpoint, rank);
        }
      }
      List<Launch> launches = trial.prepare().stream().map(Supplier::get).toList();
      RunOutcome outcome = fabric.run(() -> launches.stream().allMatch(Launch::done), KERNEL_NANOS);
      assertThat(outcome).as("seed %d", seed).isEqualTo(RunOutcome.DONE);
      launches.forEach(Launch::check);
      assertThat(trial.firstError()).isNull();
      List<Finding> findings = List.copyOf(fabric.findings());
      fabric.quiesce();
      if (findings.isEmpty()) {
        assertThat(trial.mismatch()).isNull();
      }
      return findings;
    }
  }

  /** Rings and records, which posters and HCAs share by a protocol of their own. */
  private static void describe(ExploringFabric fabric, Endpoint endpoint, int rank) {
    int number = endpoint.queuePair().number();
    long ring = endpoint.queuePair().sendRingAddress();
    long record = endpoint.queuePair().recordAddress() + DoorbellRecord.SEND_OFFSET;
    fabric.describe(
        new Region(Region.Role.SEND_RING, ring, RING * SendQueue.BLOCK, number, rank, true, true));
    fabric.describe(
        new Region(Region.Role.SEND_RECORD, record, Integer.BYTES, number, rank, true, true));
  }
}
