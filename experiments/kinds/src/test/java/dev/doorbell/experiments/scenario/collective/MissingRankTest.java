package dev.doorbell.experiments.scenario.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.experiments.collective.Algorithm;
import dev.doorbell.experiments.collective.Call;
import dev.doorbell.experiments.collective.Call.Reduction;
import dev.doorbell.experiments.collective.Collective;
import dev.doorbell.experiments.collective.DataType;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.topology.TopologyFile;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Waits for a rank whose kernel never begins are bounded, over HCAs and over NVLink. */
class MissingRankTest {
  private static final long DEADLINE_NANOS = 1_000_000;
  private static final int RANKS = 3;

  @ParameterizedTest
  @CsvSource({"h200-cx7, RING, 0", "h200-cx7, DIRECT, 1024", "h800-cx7, RING, 0"})
  void the_others_end_with_an_error_by_their_deadline(
      String machine, Algorithm algorithm, long mostPacked) throws Exception {
    Topology topology = TopologyFile.load(machine);
    int node = topology.ranksOfNode();
    Call call =
        new Call(
            Collective.ALL_REDUCE, RANKS, 512, DataType.FLOAT, Reduction.SUM, 0, false, 7, node);
    try (World world = World.timed(topology, RANKS, 4096, 1, Trace.NONE);
        CollectiveTrial trial =
            new CollectiveTrial(
                world,
                call,
                List.of(algorithm.schedule(call, mostPacked, 65_536)),
                Endpoint.Shape.builder(64, DEADLINE_NANOS).exclusive(true).build(),
                LaunchConfig.of(1, 32).withTimeout(100 * DEADLINE_NANOS),
                1)) {
      List<Launch> launches =
          trial.prepare().subList(0, RANKS - 1).stream().map(Supplier::get).toList();
      assertThat(
              world
                  .fabric()
                  .run(() -> launches.stream().allMatch(Launch::done), 100 * DEADLINE_NANOS))
          .isEqualTo(RunOutcome.DONE);
      launches.forEach(Launch::check); // ended by themselves
      assertThat(trial.firstError()).containsIgnoringCase("deadline");
      // Nobody looks at a clock at each poll.
      assertThat(world.fabric().now()).isBetween(DEADLINE_NANOS, 4 * DEADLINE_NANOS);
    }
  }
}
