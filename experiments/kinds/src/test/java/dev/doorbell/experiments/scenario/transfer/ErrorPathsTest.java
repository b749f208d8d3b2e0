package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.core.queue.generated.OperationView;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What goes wrong ends every kernel in time and says what it was, from the HCA up to the host. */
class ErrorPathsTest {
  /** Nanoseconds that no test is to need. */
  private static final long NEVER = 10_000_000_000L;

  /** Nanoseconds after which a device-side wait ends, where that is what is tested. */
  private static final long SOON = 5_000_000L;

  private static final int WRONG_KEY = 0x00dead00;
  private static final int THREADS = 48;

  private static Endpoint.Shape shape(long deadline, boolean blueFlame) {
    return Endpoint.Shape.builder(16, deadline).blueFlame(blueFlame).batch(4).build();
  }

  private static OperationView withKey(OperationView put, int remoteKey) {
    return new OperationView(
        put.local(),
        put.remote(),
        put.bytes(),
        put.operand(),
        put.compare(),
        put.signal(),
        put.fetched(),
        put.localKey(),
        remoteKey,
        put.opcode(),
        put.queuePair(),
        put.flags());
  }

  @ParameterizedTest
  @EnumSource(Connection.Ringing.class)
  void a_wrong_rkey_is_recorded_with_queue_pair_syndrome_and_wqe(Connection.Ringing ringing) {
    try (World world = World.direct(2, 0, SoftHcaOptions.DEFAULT);
        Connection connection = Connection.open(world, shape(NEVER, false), ringing, 1);
        OperationBench bench = new OperationBench(world, connection, 1)) {
      long untouched = bench.remoteWord(24);
      List<OperationView> list =
          List.of(bench.put(0), bench.put(8), bench.put(16), withKey(bench.put(24), WRONG_KEY));
      assertThat(bench.attempt(List.of(list), NEVER)).containsExactly(Abi.ERROR_CQE);
      for (int offset = 0; offset < 24; offset += Long.BYTES) {
        assertThat(bench.remoteWord(offset)).isEqualTo(bench.localWord(offset));
      }
      assertThat(bench.remoteWord(24)).isEqualTo(untouched);
      ErrorRecord error = connection.endpoints(0).getFirst().error();
      assertThat(error.status()).isEqualTo(Abi.ERROR_CQE);
      assertThat(error.number24())
          .isEqualTo(connection.endpoints(0).getFirst().queuePair().number());
      assertThat(error.syndrome()).isEqualTo(Syndrome.REMOTE_ACCESS);
      assertThat(error.wqeIndex()).isEqualTo(3);
      assertThat(error.opcode()).isEqualTo(Opcode.RDMA_WRITE);
      assertThat(error.thread())
          .isEqualTo(ringing == Connection.Ringing.PROXY ? ErrorRecord.CPU : 0);
    }
  }

  @ParameterizedTest
  @EnumSource(Connection.Ringing.class)
  void one_threads_error_ends_all_threads_of_the_queue_pair(Connection.Ringing ringing) {
    for (long seed = 0; seed < 8; seed++) {
      try (World world = World.direct(2, seed, SoftHcaOptions.DEFAULT);
          Connection connection = Connection.open(world, shape(NEVER, seed % 2 == 0), ringing, 1);
          OperationBench bench = new OperationBench(world, connection, seed)) {
        List<List<OperationView>> lists = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
          OperationView put = bench.put(thread * Long.BYTES);
          OperationView second = thread == THREADS / 2 ? withKey(put, WRONG_KEY) : put;
          lists.add(List.of(put, second, put, put));
        }
        List<Integer> words = Arrays.stream(bench.attempt(lists, NEVER)).boxed().toList();
        assertThat(words)
            .as("seed %d", seed)
            .contains(Abi.ERROR_CQE)
            .isSubsetOf(Abi.OK, Abi.ERROR_CQE, Abi.ERROR_POISONED);
        assertThat(words.get(THREADS / 2)).as("seed %d", seed).isNotEqualTo(Abi.OK);
        ErrorRecord error = connection.endpoints(0).getFirst().error();
        assertThat(error.syndrome()).as("seed %d", seed).isEqualTo(Syndrome.REMOTE_ACCESS);
        // The next kernel finds the queue pair broken and ends, too.
        assertThat(bench.attempt(List.of(List.of(bench.put(0))), NEVER))
            .as("seed %d", seed)
            .doesNotContain(Abi.OK);
        assertThat(connection.endpoints(0).getFirst().error()).isEqualTo(error);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Connection.Ringing.class)
  void a_queue_pair_in_error_flushes_what_is_posted(Connection.Ringing ringing) {
    try (World world = World.direct(2, 0, SoftHcaOptions.DEFAULT);
        Connection connection = Connection.open(world, shape(NEVER, false), ringing, 1);
        OperationBench bench = new OperationBench(world, connection, 1)) {
      connection.endpoints(0).getFirst().queuePair().toError();
      assertThat(bench.attempt(List.of(List.of(bench.put(0))), NEVER))
          .containsExactly(Abi.ERROR_CQE);
      ErrorRecord error = connection.endpoints(0).getFirst().error();
      assertThat(error.syndrome()).isEqualTo(Syndrome.FLUSHED);
      assertThat(error.wqeIndex()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(Connection.Ringing.class)
  void a_wait_without_an_end_meets_its_deadline(Connection.Ringing ringing) throws Exception {
    // The peer is gone and says nothing: the kernel's own deadline is what ends the wait.
    try (World world = World.timed(TopologyFile.load("same-switch"), 2, 4096, 1, Trace.NONE);
        Connection connection = Connection.open(world, shape(SOON, false), ringing, 1);
        OperationBench bench = new OperationBench(world, connection, 1)) {
      Endpoint own = connection.endpoints(0).getFirst();
      connection.endpoints(1).getFirst().queuePair().toReset();
      assertThat(bench.attempt(List.of(List.of(bench.put(0))), NEVER))
          .containsExactly(Abi.ERROR_DEADLINE);
      if (ringing != Connection.Ringing.PROXY) {
        assertThat(own.error().status()).isEqualTo(Abi.ERROR_DEADLINE);
        assertThat(own.error().awaited()).isEqualTo(1);
        assertThat(own.error().completed()).isZero();
      }
    }
  }

  @Test
  void a_kernel_that_waits_for_ever_is_stopped_and_named() throws Exception {
    try (World world = World.timed(TopologyFile.load("same-switch"), 2, 4096, 1, Trace.NONE);
        Connection connection =
            Connection.open(world, shape(NEVER, false), Connection.Ringing.GPU, 1);
        RankBuffers zero = new RankBuffers(connection, world.rank(0), 64, 1);
        RankBuffers one = new RankBuffers(connection, world.rank(1), 64, 2)) {
      JobView answerer = new JobView();
      answerer.role = 1;
      answerer.iterations = 1;
      answerer.path = JobView.PATH_PULL;
      Launch launch = one.launch("put_latency", answerer, zero, 1, 1, SOON);
      // Nobody starts the ping-pong.
      assertThat(world.fabric().run(launch::done, 10 * SOON)).isNotEqualTo(RunOutcome.DEADLINE);
      launch.cancel("nobody will ever answer");
      assertThatThrownBy(launch::check)
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("put_latency")
          // Its own timeout must have stopped it, not the cancellation above.
          .hasMessageNotContaining("nobody will ever answer");
    }
  }
}
