package dev.doorbell.experiments.session;

import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.fabric.explore.Region;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.explore.Scenario;
import dev.doorbell.softhca.SoftHcaOptions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The world of a case of {@code kernels/cases}: the same kernel on two ranks, as role 0 and role 1,
 * with the queue pairs of rank 0 and memory of rank 0 that both see.
 */
final class ExploredCase implements ExploredWorld {
  /** Virtual; passes only when nothing else can happen. */
  private static final long DEADLINE_NANOS = 1_000_000;

  private static final long KERNEL_NANOS = 60_000_000_000L;
  private static final int WORD_STRIDE = 128;

  /**
   * Messages of more than a few hundred bytes take many packets, few of them at a time, so that
   * queue pairs overtake each other.
   */
  private static final SoftHcaOptions NARROW =
      SoftHcaOptions.DEFAULT.withEngine(new SoftHcaOptions.Engine(256, 64, 32, 2));

  private static final int SIGNAL = 64;

  private final Scenario scenario;
  private final World world;
  private final Connection connection;
  private final Deque<AutoCloseable> owned = new ArrayDeque<>();
  private final List<Launch> launches = new ArrayList<>();
  private final List<Memory> statuses = new ArrayList<>();
  private final Memory local;
  private final Memory inbox;
  private final Memory shared;
  private final MemoryRegion localRegion;
  private final MemoryRegion inboxRegion;
  private final Memory views;

  ExploredCase(Scenario scenario, ExploringFabric fabric) {
    this.scenario = scenario;
    Scenario.Load load = scenario.load();
    world = own(World.exploring(fabric, 2, NARROW));
    Endpoint.Shape shape =
        new Endpoint.Shape(
            load.ring(),
            load.ring(),
            false,
            Placement.GPU,
            false,
            false,
            false,
            scenario.posting().batch(),
            DEADLINE_NANOS);
    connection = own(Connection.open(world, shape, Connection.Ringing.GPU, load.queuePairs()));
    for (Endpoint endpoint : connection.endpoints(0)) {
      describe(fabric, endpoint);
    }
    long area = (long) messages() * stride() + SIGNAL;
    local = allocate(0, MemoryKind.DEVICE, area, "payload");
    inbox = allocate(1, MemoryKind.DEVICE, area, "inbox");
    shared = allocate(0, MemoryKind.HOST, (long) WORD_STRIDE * (messages() + 8), "shared words");
    localRegion = own(world.rank(0).domain().register(local, Endpoint.ALL_RIGHTS));
    inboxRegion = own(world.rank(1).domain().register(inbox, Endpoint.ALL_RIGHTS));
    views = own(connection.writeViews(0));
  }

  private void describe(ExploringFabric fabric, Endpoint endpoint) {
    int number = endpoint.queuePair().number();
    fabric.describe(
        new Region(
            Region.Role.SEND_RING,
            endpoint.queuePair().sendRingAddress(),
            (long) scenario.load().ring() * SendQueue.BLOCK,
            number,
            0,
            true,
            true));
    fabric.describe(
        new Region(
            Region.Role.SEND_RECORD,
            endpoint.queuePair().recordAddress() + DoorbellRecord.SEND_OFFSET,
            Integer.BYTES,
            number,
            0,
            true,
            true));
  }

  private int messages() {
    return scenario.load().iterations() * scenario.load().posters();
  }

  private int stride() {
    return scenario.load().bytes() + SIGNAL;
  }

  @Override
  public List<Launch> launch() {
    for (int role = 0; role < 2; role++) {
      launches.add(launch(role));
    }
    return launches;
  }

  private Launch launch(int role) {
    Scenario.Load load = scenario.load();
    Memory status =
        allocate(role, MemoryKind.DEVICE, (long) Integer.BYTES * load.posters(), "status");
    status.fill(0, status.size(), (byte) 0xff);
    statuses.add(status);
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
    job.status = status.address();
    job.staging = shared.address();
    job.stagingBytes = shared.size();
    Memory jobMemory = allocate(role, MemoryKind.DEVICE, JobView.BYTES, "job");
    jobMemory.putBytes(0, job.encode());
    Rank rank = world.rank(role);
    GpuModule module = own(rank.gpu().load(scenario.program().file(), scenario.program().ptx()));
    return rank.gpu()
        .launch(
            module.kernel(scenario.program().entry()),
            LaunchConfig.of(load.blocks(), load.threads()).withTimeout(KERNEL_NANOS),
            new KernelArguments().add(views).add(jobMemory),
            own(rank.gpu().createStream()));
  }

  @Override
  public boolean done() {
    for (int i = 0; i < launches.size(); i++) {
      if (!launches.get(i).done()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public @Nullable String trouble() {
    for (int role = 0; role < statuses.size(); role++) {
      byte[] words = statuses.get(role).getBytes(0, (int) statuses.get(role).size());
      for (int thread = 0; thread < words.length / Integer.BYTES; thread++) {
        int word = words[thread * Integer.BYTES] | words[thread * Integer.BYTES + 1] << Byte.SIZE;
        if (word != Abi.OK) {
          return "thread %d of role %d: %s".formatted(thread, role, Abi.statusText(word));
        }
      }
    }
    return null;
  }

  private Memory allocate(int rank, MemoryKind kind, long size, String label) {
    Memory memory = own(world.rank(rank).gpu().allocate(kind, size, label));
    memory.fill(0, size, (byte) 0);
    return memory;
  }

  private <T extends AutoCloseable> T own(T closeable) {
    owned.push(closeable);
    return closeable;
  }

  @Override
  public void close() {
    for (Launch launch : launches) {
      if (!launch.done()) {
        launch.cancel("the exploration of this run ended");
      }
    }
    while (!owned.isEmpty()) {
      Connection.closeNow(owned.pop());
    }
  }
}
