package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.core.trace.TraceEvent;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Placement;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.proxy.Chaining;
import dev.doorbell.proxy.HostPutLoop;
import dev.doorbell.proxy.SendQueueAccess;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The simulation, driven by the kernels' own PTX, meets the closed forms' hand-checked table under
 * round constants: from the first instruction of a put until the HCA may emit its last packet.
 */
class RoundConstantsTest {
  private static final long DEADLINE = 100_000_000L;
  private static final int STAGING = 256 << 10;
  private static final int CHUNK = 64 << 10;

  /** The atomic that reserves, in the table; the kernels' exclusive posters have none. */
  private static final double RESERVATION = 150;

  /** How a variant of the table is asked for. */
  private record Variant(TransferPath path, Placement placement, boolean blueFlame, boolean last) {
    static Variant of(String name) {
      return switch (name) {
        case "a3" -> new Variant(TransferPath.PULL, Placement.GPU, false, false);
        case "a4" -> new Variant(TransferPath.PULL, Placement.HOST, false, false);
        case "a5" -> new Variant(TransferPath.PULL_BF, Placement.GPU, true, false);
        case "b1" -> new Variant(TransferPath.PUSH_INLINE, Placement.GPU, false, false);
        case "b3" -> new Variant(TransferPath.PUSH_BF, Placement.GPU, true, false);
        case "c1" -> new Variant(TransferPath.PUSH_MEMIC, Placement.GPU, true, false);
        case "c2" -> new Variant(TransferPath.PUSH_MEMIC, Placement.GPU, false, true);
        case "d" -> new Variant(TransferPath.STAGED, Placement.HOST, false, false);
        case "e1", "a1" -> new Variant(TransferPath.PROXY, Placement.HOST, true, false);
        default -> throw new IllegalArgumentException(name);
      };
    }
  }

  /** Remembers when the HCA let the last packet go. */
  private static final class Emissions implements Trace {
    private final List<Long> times = new ArrayList<>();

    @Override
    public boolean enabled() {
      return true;
    }

    @Override
    public void record(TraceEvent event) {
      if (event.kind() == TraceEvent.Kind.EMITTED && event.locus().rank() == 0) {
        times.add(event.nanos());
      }
    }
  }

  @ParameterizedTest(name = "{0}: {1} B takes {2} ns under one switch, {3} ns across sockets")
  @CsvSource({
    "a1,8,1454,2754",
    "a1,64,1456,2763",
    "a1,512,1471,2837",
    "a1,4096,1600,3424",
    "a1,65536,3813,13497",
    "a3,8,2674,5924",
    "a3,64,2676,5933",
    "a3,512,2691,6007",
    "a3,4096,2820,6594",
    "a3,65536,5033,16666",
    "a4,8,4244,6194",
    "a4,64,4246,6203",
    "a4,512,4261,6277",
    "a4,4096,4390,6864",
    "a4,65536,6603,16936",
    "a5,8,1624,3574",
    "a5,64,1626,3583",
    "a5,512,1641,3657",
    "a5,4096,1770,4244",
    "a5,65536,3983,14317",
    "b1,8,1873,3823",
    "b1,64,1875,3825",
    "b3,8,623,1273",
    "b3,64,626,1276",
    "c1,8,1124,3074",
    "c1,64,1126,3077",
    "c1,512,1143,3109",
    "c1,4096,1285,3359",
    "c1,65536,3723,7656",
    "c2,8,1974,5224",
    "c2,64,1976,5227",
    "c2,512,1993,5259",
    "c2,4096,2135,5509",
    "c2,65536,4573,9806",
    "d,8,4235,4885",
    "d,64,4239,4889",
    "d,512,4272,4922",
    "d,4096,4543,5193",
    "d,65536,9193,9843",
    "e1,8,2154,3454",
    "e1,64,2156,3463",
    "e1,512,2171,3537",
    "e1,4096,2300,4124",
    "e1,65536,4513,14197"
  })
  void the_simulation_meets_the_closed_forms(String variant, int bytes, double pix, double sys)
      throws Exception {
    double without = variant.equals("a1") || variant.equals("e1") ? 0 : RESERVATION;
    assertThat((double) injection("round-pix", variant, bytes))
        .as("%s, %d B, PIX", variant, bytes)
        .isCloseTo(pix - without, within(0.03 * pix));
    assertThat((double) injection("round-sys", variant, bytes))
        .as("%s, %d B, SYS", variant, bytes)
        .isCloseTo(sys - without, within(0.03 * sys));
  }

  private static long injection(String topologyName, String name, int bytes) throws Exception {
    Topology topology = TopologyFile.load(topologyName);
    Variant variant = Variant.of(name);
    Emissions emissions = new Emissions();
    Endpoint.Shape shape =
        Endpoint.Shape.builder(64, DEADLINE)
            .placement(variant.placement())
            .blueFlame(variant.blueFlame())
            .recordLast(variant.last())
            .exclusive(true)
            .build();
    boolean byGpu = !name.equals("a1");
    Connection.Ringing ringing =
        name.equals("e1") ? Connection.Ringing.PROXY : Connection.Ringing.GPU;
    try (World world = World.timed(topology, 2, 4096, 1, emissions);
        Connection connection = Connection.open(world, shape, ringing, 1);
        RankBuffers zero = new RankBuffers(connection, world.rank(0), bytes, 1);
        RankBuffers one = new RankBuffers(connection, world.rank(1), bytes, 2)) {
      switch (variant.path()) {
        case PUSH_MEMIC -> zero.stageOnChip(STAGING);
        case STAGED -> zero.stageInHost(STAGING);
        default -> {}
      }
      long started =
          byGpu ? byGpu(world, zero, one, variant, bytes) : byCpu(world, connection, zero, one);
      world.fabric().quiesce();
      assertThat(one.mismatch(zero)).isNull();
      assertThat(emissions.times).hasSize(1);
      return emissions.times.getFirst() - started;
    }
  }

  private static long byGpu(
      World world, RankBuffers zero, RankBuffers one, Variant variant, int bytes) {
    JobView job = new JobView();
    job.path = variant.path().jobPath();
    job.chunkBytes = CHUNK;
    int threads = job.path == JobView.PATH_STAGE ? Math.max(1, Math.min(512, bytes / 16)) : 1;
    Launch launch = zero.launch("post_once", job, one, 1, threads, DEADLINE);
    RunOutcome outcome = world.fabric().run(launch::done, DEADLINE);
    launch.check();
    assertThat(outcome).isEqualTo(RunOutcome.DONE);
    assertThat(zero.firstError()).isNull();
    return zero.started();
  }

  private static long byCpu(World world, Connection connection, RankBuffers zero, RankBuffers one) {
    Endpoint endpoint = connection.endpoints(0).getFirst();
    long started = world.fabric().now();
    try (HostPutLoop loop =
        new HostPutLoop(
            world.fabric(),
            Locus.cpu(0),
            world.cpuPrices(),
            SendQueueAccess.of(endpoint.queuePair(), endpoint.view()),
            Chaining.BY_ROUND,
            HostPutLoop.Task.puts(put(zero, one), 1, 1))) {
      assertThat(world.fabric().run(loop::done, DEADLINE)).isEqualTo(RunOutcome.DONE);
      return started;
    }
  }

  /** The command that puts the payload of one rank into the inbox of the other. */
  private static CommandEntry put(RankBuffers from, RankBuffers to) {
    CommandEntry put = new CommandEntry();
    put.opcode = CommandEntry.OP_PUT;
    put.length = from.bytes();
    put.localAddress = from.source().address();
    put.localKey = from.source().key();
    put.remoteAddress = to.target().address();
    put.remoteKey = to.target().key();
    return put;
  }
}
