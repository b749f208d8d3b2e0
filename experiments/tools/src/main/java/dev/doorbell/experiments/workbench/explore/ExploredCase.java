package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.foreign.Site;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The world of a case of {@code kernels/cases}: the same kernel on two ranks, as role 0 and role 1,
 * with the queue pairs of rank 0 and memory of rank 0 that both see.
 */
final class ExploredCase extends ExploredWorld {
  /** Virtual; passes only when nothing else can happen. */
  private static final long DEADLINE_NANOS = 1_000_000;

  private static final int WORD_STRIDE = 128;

  /**
   * Messages of more than a few hundred bytes take many packets, few of them at a time, so that
   * queue pairs overtake each other.
   */
  private static final SoftHcaOptions NARROW =
      SoftHcaOptions.DEFAULT.withEngine(new SoftHcaOptions.Engine(256, 64, 32, 2));

  private static final int SIGNAL = 64;

  private final World world;
  private final Connection connection;
  private final Memory local;
  private final Memory inbox;
  private final Memory shared;
  private final MemoryRegion localRegion;
  private final MemoryRegion inboxRegion;
  private final Memory views;

  ExploredCase(Scenario scenario, ExploringFabric fabric) {
    super(scenario);
    Scenario.Load load = scenario.load();
    world = own(World.exploring(fabric, 2, hca(NARROW)));
    Endpoint.Shape shape =
        Endpoint.Shape.builder(load.ring(), DEADLINE_NANOS)
            .batch(scenario.posting().batch())
            .build();
    connection = own(Connection.open(world, shape, Connection.Ringing.GPU, load.queuePairs()));
    for (Endpoint endpoint : connection.endpoints(0)) {
      Connection.describe(fabric, endpoint, 0, true, true);
    }
    long area = (long) messages() * stride() + SIGNAL;
    local = allocate(world.rank(0), MemoryKind.DEVICE, area, "payload");
    inbox = allocate(world.rank(1), MemoryKind.DEVICE, area, "inbox");
    shared =
        allocate(
            world.rank(0), MemoryKind.HOST, (long) WORD_STRIDE * (messages() + 8), "shared words");
    localRegion = own(world.rank(0).domain().register(local, Endpoint.ALL_RIGHTS));
    inboxRegion = own(world.rank(1).domain().register(inbox, peersWrite()));
    views = own(connection.writeViews(0));
  }

  private int messages() {
    return scenario.load().iterations() * scenario.load().posters();
  }

  private int stride() {
    return scenario.load().bytes() + SIGNAL;
  }

  @Override
  List<Launch> launch() {
    for (int role = 0; role < 2; role++) {
      launch(role);
    }
    return launches();
  }

  @Override
  Site site(Rank rank, GpuModule module) {
    throw new IllegalStateException("cases are made of Doorbell's own device code");
  }

  private void launch(int role) {
    Scenario.Load load = scenario.load();
    Rank rank = world.rank(role);
    JobView job = new JobView();
    job.role = role;
    job.local = local.address();
    job.localKey = localRegion.lkey();
    job.remote = inbox.address();
    job.remoteKey = inboxRegion.rkey();
    job.inbox = inbox.address();
    job.bytes = load.bytes();
    job.stride = stride();
    job.iterations = load.iterations();
    job.qpCount = load.queuePairs();
    job.status = allocateStatus(rank, "role " + role);
    job.staging = shared.address();
    job.stagingBytes = shared.size();
    launch(rank, views, job, Map.of());
  }

  @Override
  @Nullable Failure failure() {
    return badStatus();
  }
}
