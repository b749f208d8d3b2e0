package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Placement;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DirectTransferTest {
  private static final long DEADLINE = 5_000_000_000L;

  @ParameterizedTest
  @EnumSource(TransferPath.class)
  void a_ping_pong_leaves_the_senders_bytes_in_both_inboxes(TransferPath path) {
    int bytes = path.inline() ? 128 : 4096;
    Placement placement =
        path == TransferPath.STAGED || path == TransferPath.PROXY ? Placement.HOST : Placement.GPU;
    try (World world = World.direct(2, 0, SoftHcaOptions.DEFAULT);
        Connection connection =
            Connection.open(
                world,
                Endpoint.Shape.builder(64, DEADLINE)
                    .placement(placement)
                    .blueFlame(path.blueFlame())
                    .exclusive(true)
                    .build(),
                path == TransferPath.PROXY ? Connection.Ringing.PROXY : Connection.Ringing.GPU,
                1);
        RankBuffers zero = new RankBuffers(connection, world.rank(0), bytes, 7);
        RankBuffers one = new RankBuffers(connection, world.rank(1), bytes, 8)) {
      for (RankBuffers buffers : List.of(zero, one)) {
        switch (path) {
          case PUSH_MEMIC -> buffers.stageOnChip(64 << 10);
          case STAGED -> buffers.stageInHost(64 << 10);
          default -> {}
        }
      }
      Launch first = zero.launch("put_latency", job(path, 0), one, 1, 1, DEADLINE);
      Launch second = one.launch("put_latency", job(path, 1), zero, 1, 1, DEADLINE);
      RunOutcome outcome = world.fabric().run(() -> first.done() && second.done(), 2 * DEADLINE);
      assertThat(outcome).isEqualTo(RunOutcome.DONE);
      first.check();
      second.check();
      assertThat(zero.firstError()).isNull();
      assertThat(one.firstError()).isNull();
      assertThat(one.mismatch(zero)).isNull();
      assertThat(zero.mismatch(one)).isNull();
    }
  }

  private static JobView job(TransferPath path, int role) {
    JobView job = new JobView();
    job.role = role;
    job.iterations = 100;
    job.warmup = 2;
    job.path = path.jobPath();
    job.scope = JobView.SCOPE_BLOCK;
    job.chunkBytes = 16 << 10;
    return job;
  }
}
