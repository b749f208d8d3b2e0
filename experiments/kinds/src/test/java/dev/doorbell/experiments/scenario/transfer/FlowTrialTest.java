package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.topology.TopologyFile;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlowTrialTest {
  private static final int SIZE = 16 << 10;
  private static final int MESSAGES = 32;
  private static final long NANOS = 100_000_000;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_wrong_byte_of_a_message_that_later_ones_cover_is_found(boolean hurt) throws Exception {
    World world = World.timed(TopologyFile.load("same-switch"), 2, 4096, 1, Trace.NONE);
    Endpoint.Shape shape = Endpoint.Shape.builder(64, NANOS).exclusive(true).build();
    try (FlowTrial trial =
        new FlowTrial(
            world, new FlowTrial.Shape(2, SIZE, MESSAGES, 4, TransferPath.PULL, shape, NANOS), 1)) {
      trial.flow(0, 1);
      FlowTrial.Flow flow = trial.flows().getFirst();
      long wrong = flow.from.source().address() + 777;
      byte right = RawMemory.getByte(wrong);
      List<Launch> launches = trial.prepare().stream().map(Supplier::get).toList();
      if (hurt) {
        RawMemory.putByte(wrong, (byte) ~right);
        assertThat(trial.advance(() -> flow.arrived() > 0, NANOS)).isEqualTo(RunOutcome.DONE);
        assertThat(flow.arrived()).isLessThan(MESSAGES / 2);
        RawMemory.putByte(wrong, right);
      }
      assertThat(trial.advance(() -> launches.stream().allMatch(Launch::done), NANOS))
          .isEqualTo(RunOutcome.DONE);
      world.fabric().quiesce();
      assertThat(trial.firstError()).isNull();
      assertThat(trial.verifiedBytes()).isEqualTo((long) SIZE * MESSAGES);
      if (hurt) {
        assertThat(trial.mismatch())
            .contains("rank 1, byte 777 of the inbox was 0x%02x".formatted(~right & 0xff));
      } else {
        assertThat(trial.mismatch()).isNull();
      }
    }
  }
}
