package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.scenario.kernel.KernelJob;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.WorldTrial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.DcTargets;
import dev.doorbell.experiments.scenario.world.Endpoint;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A world in which put_minimal or put_dynamic on either rank puts a message whenever the peer's has
 * arrived; in the end the last word of either inbox is compared.
 */
final class PingPong extends WorldTrial {
  private static final int RANKS = 2;

  private final PointRun<MinimalKind.Settings> run;
  private final int size;
  private final Side[] sides = new Side[RANKS];
  private JobView job = new JobView();

  private final class Side {
    final int rank;
    final Memory views;
    final Memory outgoing;
    final Memory inbox;
    final MemoryRegion outgoingRegion;
    final MemoryRegion inboxRegion;
    final KernelJob kernel;
    final @Nullable DcTargets targets;
    long keys;

    Side(int rank, Connection connection, MinimalKind.Settings of) {
      MemoryKind kind = of.payload();
      this.rank = rank;
      views = own(connection.writeViews(rank));
      outgoing = own(world.rank(rank).gpu().allocate(kind, size, "outgoing"));
      inbox = own(world.rank(rank).gpu().allocate(kind, size, "inbox"));
      outgoingRegion = register(outgoing);
      inboxRegion = register(inbox);
      kernel =
          own(
              new KernelJob(
                  world.rank(rank).gpu(),
                  MinimalKind.kernel(of),
                  LaunchConfig.of(1, 1).withTimeout(PosterSettings.KERNEL_NANOS)));
      targets =
          of.isDynamic()
              ? own(new DcTargets(world, rank, connection.endpoints(rank).getFirst(), of.qps()))
              : null;
    }

    void putKeys() {
      Memory memory = kernel.allocate(MemoryKind.DEVICE, Long.BYTES, "keys");
      long lkey = Integer.toUnsignedLong(BigEndian.swap(outgoingRegion.lkey()));
      long rkey = Integer.toUnsignedLong(BigEndian.swap(sides[1 - rank].inboxRegion.rkey()));
      memory.putLong(0, rkey << Integer.SIZE | lkey);
      keys = memory.address();
    }

    private MemoryRegion register(Memory memory) {
      return own(world.rank(rank).domain().register(memory, Endpoint.ALL_RIGHTS));
    }

    Supplier<Launch> prepare() {
      outgoing.fill(0, size, (byte) 0);
      inbox.fill(0, size, (byte) 0);
      Side peer = sides[1 - rank];
      JobView own = new JobView();
      own.operand = job.operand;
      own.opcode = job.opcode;
      own.window = 1;
      own.compare = job.compare;
      own.iterations = job.iterations;
      own.warmup = job.warmup;
      own.qpCount = 1;
      own.bytes = size;
      own.role = rank;
      own.local = outgoing.address();
      own.localKey = outgoingRegion.lkey();
      own.inbox = inbox.address();
      own.remote = peer.inbox.address();
      own.remoteKey = peer.inboxRegion.rkey();
      own.samples = rank == 0 ? job.samples : 0;
      own.staging = keys;
      if (targets != null) {
        own.peers = targets.vectors();
        own.path = targets.count();
      }
      return kernel.prepare(views.address(), own);
    }
  }

  PingPong(PointRun<MinimalKind.Settings> run, MinimalKind.Settings of) {
    super(
        run.world()
            .mtu(of.queues().mtu())
            .payload(of.payload())
            .mover(of.dma().mover(run, of.poster().touchesGpu()))
            .open());
    this.run = run;
    this.size = of.size();
    Connection.Ringing ringing = of.posting().ringing;
    Connection connection =
        own(
            of.isDynamic()
                ? Connection.initiators(world, RANKS, of.shape(), ringing, 1, 1)
                : Connection.open(world, of.shape(), ringing, 1));
    for (int rank = 0; rank < RANKS; rank++) {
      sides[rank] = new Side(rank, connection, of);
    }
    if (of.keys() == MinimalKind.Held.MEMORY) {
      for (Side side : sides) {
        side.putKeys();
      }
    }
  }

  long[] roundTrips(JobView how) throws PointFailure {
    int count = run.point().samples();
    Memory memory =
        sides[0].kernel.allocate(MemoryKind.DEVICE, (long) Long.BYTES * count, "samples");
    job = how;
    job.iterations = count;
    job.warmup = run.point().warmup();
    job.samples = memory.address();
    run.perform(this, PosterSettings.KERNEL_NANOS);
    return KernelJob.longs(memory, 0, count);
  }

  @Override
  public List<Supplier<Launch>> prepare() {
    return IntStream.range(0, RANKS).mapToObj(rank -> sides[rank].prepare()).toList();
  }

  @Override
  public @Nullable String firstError() {
    String first = sides[0].kernel.firstError();
    return first != null ? first : sides[1].kernel.firstError();
  }

  @Override
  public @Nullable String mismatch() {
    long wanted = job.warmup + job.iterations;
    for (Side side : sides) {
      long found = side.inbox.getLong(size - Long.BYTES);
      if (found != wanted) {
        return "the last word of rank %d's inbox is %d instead of %d"
            .formatted(side.rank, found, wanted);
      }
    }
    return null;
  }

  @Override
  public long verifiedBytes() {
    return (long) RANKS * Long.BYTES;
  }
}
