package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Placement;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What exclusive.cuh promises, by the kernel put_exclusive. */
class ExclusivePosterTest {
  private static final String KERNEL = "put_exclusive";

  /** Nanoseconds that no test is to need. */
  private static final long NEVER = 30_000_000_000L;

  /** Nanoseconds after which a wait of the kernel ends, where that is what is tested. */
  private static final long SOON = 5_000_000L;

  private static final int INDICES = 1 << 16;
  private static final int WRONG_KEY = 0x00dead00;
  private static final int MTU = 4096;
  private static final long SEED = 7;

  /** Kinds of doorbell records. */
  enum Kind {
    FIRST(0),
    LAST(QueuePairView.FLAG_RECORD_LAST),
    NONE(QueuePairView.FLAG_NO_RECORD);

    private final int flag;

    Kind(int flag) {
      this.flag = flag;
    }
  }

  private static Endpoint.Builder builder(Kind kind, int ring, long deadline) {
    return Endpoint.Shape.builder(ring, deadline)
        .exclusive(true)
        .collapsed(true)
        .flag(kind.flag, kind != Kind.FIRST);
  }

  private static JobView puts(long doorbells, int putsOfADoorbell) {
    JobView job = new JobView();
    job.bytes = 40;
    job.stride = 64;
    job.iterations = doorbells;
    job.compare = putsOfADoorbell;
    return job;
  }

  /**
   * Posts in one launch; without a record in one for each doorbell, since the HCA looks at the
   * record when it finds two doorbells.
   */
  private static void post(OperationBench bench, Kind kind, int doorbells, int putsOfADoorbell) {
    if (kind != Kind.NONE) {
      bench.repeat(KERNEL, puts(doorbells, putsOfADoorbell), 1, 1, NEVER);
      return;
    }
    for (int i = 0; i < doorbells; i++) {
      bench.repeat(KERNEL, puts(1, putsOfADoorbell), 1, 1, NEVER);
    }
  }

  /** Checks what the host sees of a queue pair on which everything is done. */
  private static void assertAllDone(Endpoint endpoint, Kind kind, long blocks) {
    assertThat(endpoint.reservedBlocks()).isEqualTo(blocks);
    assertThat(endpoint.completedBlocks()).isEqualTo(blocks);
    if (kind != Kind.NONE) {
      assertThat(DoorbellRecord.sendIndex(endpoint.queuePair().recordAddress()))
          .isEqualTo((int) (blocks & (INDICES - 1)));
    }
  }

  static Stream<Arguments> kindsAndRings() {
    return Stream.of(Kind.values())
        .flatMap(
            kind ->
                Stream.of(1, 2, 4, 64)
                    .flatMap(
                        ring ->
                            Stream.of(Placement.GPU, Placement.HOST)
                                .map(where -> Arguments.of(kind, ring, where))));
  }

  @ParameterizedTest
  @MethodSource("kindsAndRings")
  void puts_arrive_and_others_go_on_where_the_poster_stopped(
      Kind kind, int ring, Placement placement) {
    SplittableRandom random = new SplittableRandom(SEED);
    Endpoint.Shape shape = builder(kind, ring, NEVER).placement(placement).build();
    try (World world = World.direct(2, SEED, SoftHcaOptions.DEFAULT);
        Connection connection = Connection.open(world, shape, Connection.Ringing.GPU, 1);
        OperationBench bench = new OperationBench(world, connection, SEED)) {
      Endpoint endpoint = connection.endpoints(0).getFirst();
      OperationLists.Limits limits =
          new OperationLists.Limits(
              ring, world.rank(0).hca().attributes().maxInlineBytes(), 1, true);
      for (int putsOfADoorbell : List.of(0, 1, 3, 16, 100)) {
        long before = endpoint.reservedBlocks();
        post(bench, kind, 20, putsOfADoorbell);
        assertAllDone(endpoint, kind, before + 20L * Math.max(1, putsOfADoorbell));
        bench.repeat(kind == Kind.LAST ? "put_rate" : "put_light", puts(1, 0), 1, 1, NEVER);
        if (kind != Kind.NONE) {
          bench.execute(OperationLists.random(random, limits), NEVER);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"FIRST, 4, 3", "LAST, 1, 1", "LAST, 64, 7", "NONE, 1, 1"})
  void nothing_changes_where_the_16_bit_index_wraps(Kind kind, int ring, int putsOfADoorbell) {
    Endpoint.Shape shape = builder(kind, ring, NEVER).build();
    try (World world = World.direct(2, 0, SoftHcaOptions.DEFAULT);
        Connection connection = Connection.open(world, shape, Connection.Ringing.GPU, 1);
        OperationBench bench = new OperationBench(world, connection, SEED)) {
      Endpoint endpoint = connection.endpoints(0).getFirst();
      long doorbells = (INDICES + 1000L) / putsOfADoorbell;
      bench.repeat(KERNEL, puts(doorbells, putsOfADoorbell), 1, 1, NEVER);
      assertAllDone(endpoint, kind, doorbells * putsOfADoorbell);
      bench.repeat(KERNEL, puts(5, 1), 1, 1, NEVER);
      assertAllDone(endpoint, kind, doorbells * putsOfADoorbell + 5);
    }
  }

  @Test
  void threads_with_a_queue_pair_each_post_beside_each_other() {
    Endpoint.Shape shape = builder(Kind.LAST, 4, NEVER).build();
    try (World world = World.direct(2, SEED, SoftHcaOptions.DEFAULT);
        Connection connection = Connection.open(world, shape, Connection.Ringing.GPU, 3);
        OperationBench bench = new OperationBench(world, connection, SEED)) {
      bench.repeat(KERNEL, puts(30, 2), 1, 3, NEVER);
      for (Endpoint endpoint : connection.endpoints(0)) {
        assertAllDone(endpoint, Kind.LAST, 60);
      }
    }
  }

  /** What becomes of puts whose doorbell number `lost` gets lost. */
  private static int losing(int lost, Kind kind, int ring, JobView job) throws ConfigException {
    Endpoint.Shape shape = builder(kind, ring, SOON).build();
    try (World world = World.timed(TopologyFile.load("same-switch"), 2, MTU, 1, Trace.NONE);
        Connection connection = Connection.open(world, shape, Connection.Ringing.GPU, 1);
        OperationBench bench = new OperationBench(world, connection, SEED)) {
      Fault fault = Fault.of(FaultAction.DOORBELL_LOST, FaultEvent.DOORBELL, FaultTrigger.at(lost));
      FaultPlan plan = new FaultPlan(SEED, List.of(fault));
      List<FaultInjector> injectors = world.inject(plan);
      int status = bench.attempt(KERNEL, job, NEVER);
      assertThat(FaultCount.total(plan, injectors).getFirst().fired()).as("of %d", lost).isOne();
      if (status == Abi.OK) {
        assertAllDone(
            connection.endpoints(0).getFirst(), kind, job.iterations * Math.max(1, job.compare));
      }
      return status;
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "1, 1", "4, 1", "64, 1", "64, 3", "2, 3"})
  void with_the_record_last_any_doorbell_may_get_lost(int ring, int putsOfADoorbell)
      throws ConfigException {
    for (int lost = 0; lost < 6; lost++) {
      assertThat(losing(lost, Kind.LAST, ring, puts(6, putsOfADoorbell)))
          .as("doorbell %d", lost)
          .isEqualTo(Abi.OK);
    }
  }

  @Test
  void with_the_record_first_the_last_doorbell_may_not() throws ConfigException {
    assertThat(losing(4, Kind.FIRST, 64, puts(6, 1))).isEqualTo(Abi.OK);
    assertThat(losing(5, Kind.FIRST, 64, puts(6, 1))).isEqualTo(Abi.ERROR_DEADLINE);
  }

  @ParameterizedTest
  @CsvSource({"true, false", "false, true", "false, false"})
  void a_queue_pair_that_is_shared_or_has_a_ring_of_cqes_is_refused(
      boolean exclusive, boolean collapsed) {
    Endpoint.Shape shape =
        builder(Kind.FIRST, 4, NEVER).exclusive(exclusive).collapsed(collapsed).build();
    try (World world = World.direct(2, 0, SoftHcaOptions.DEFAULT);
        Connection connection = Connection.open(world, shape, Connection.Ringing.GPU, 1);
        OperationBench bench = new OperationBench(world, connection, SEED)) {
      assertThat(bench.attempt(KERNEL, puts(3, 1), NEVER)).isEqualTo(Abi.ERROR_ARGUMENT);
      assertThat(connection.endpoints(0).getFirst().reservedBlocks()).isZero();
      bench.repeat(puts(3, 0), 1, 1, NEVER);
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "0, 3", "0x80000000, 1"})
  void a_message_of_no_bytes_or_too_many_is_refused_and_nothing_posted(
      String bytes, int putsOfADoorbell) {
    Endpoint.Shape shape = builder(Kind.LAST, 4, NEVER).build();
    try (World world = World.direct(2, 0, SoftHcaOptions.DEFAULT);
        Connection connection = Connection.open(world, shape, Connection.Ringing.GPU, 1);
        OperationBench bench = new OperationBench(world, connection, SEED)) {
      JobView job = puts(3, putsOfADoorbell);
      job.bytes = Long.decode(bytes);
      assertThat(bench.attempt(KERNEL, job, NEVER)).isEqualTo(Abi.ERROR_ARGUMENT);
      assertAllDone(connection.endpoints(0).getFirst(), Kind.LAST, 0);
      bench.repeat(KERNEL, puts(3, putsOfADoorbell), 1, 1, NEVER);
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void an_error_cqe_is_recorded_and_stays(Kind kind) {
    Endpoint.Shape shape = builder(kind, 4, NEVER).build();
    try (World world = World.direct(2, 0, SoftHcaOptions.DEFAULT);
        Connection connection = Connection.open(world, shape, Connection.Ringing.GPU, 1);
        OperationBench bench = new OperationBench(world, connection, SEED)) {
      post(bench, kind, 3, 1);
      JobView job = puts(1, 3);
      job.remoteKey = WRONG_KEY;
      assertThat(bench.attempt(KERNEL, job, NEVER)).isEqualTo(Abi.ERROR_CQE);
      Endpoint endpoint = connection.endpoints(0).getFirst();
      ErrorRecord error = endpoint.error();
      assertThat(error.status()).isEqualTo(Abi.ERROR_CQE);
      assertThat(error.number24()).isEqualTo(endpoint.queuePair().number());
      assertThat(error.syndrome()).isIn(Syndrome.REMOTE_ACCESS, Syndrome.FLUSHED);
      assertThat(error.opcode()).isEqualTo(Opcode.RDMA_WRITE);
      assertThat(error.completed()).isEqualTo(3);
      assertThat(error.awaited()).isEqualTo(endpoint.reservedBlocks());
      assertThat(bench.attempt(KERNEL, puts(1, 1), NEVER)).isEqualTo(Abi.ERROR_POISONED);
      assertThat(endpoint.error()).isEqualTo(error);
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void a_wait_without_an_end_meets_its_deadline(Kind kind) throws ConfigException {
    Endpoint.Shape shape = builder(kind, 4, SOON).build();
    try (World world = World.timed(TopologyFile.load("same-switch"), 2, MTU, 1, Trace.NONE);
        Connection connection = Connection.open(world, shape, Connection.Ringing.GPU, 1);
        OperationBench bench = new OperationBench(world, connection, SEED)) {
      connection.endpoints(1).getFirst().queuePair().toReset();
      assertThat(bench.attempt(KERNEL, puts(6, 1), NEVER)).isEqualTo(Abi.ERROR_DEADLINE);
      ErrorRecord error = connection.endpoints(0).getFirst().error();
      assertThat(error.status()).isEqualTo(Abi.ERROR_DEADLINE);
      assertThat(error.awaited()).as("a ring of four is full").isEqualTo(4);
      assertThat(error.completed()).isZero();
    }
  }
}
