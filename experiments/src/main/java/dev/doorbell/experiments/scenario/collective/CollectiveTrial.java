package dev.doorbell.experiments.scenario.collective;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.PeerView;
import dev.doorbell.core.queue.SignalsView;
import dev.doorbell.core.queue.StepView;
import dev.doorbell.experiments.collective.Call;
import dev.doorbell.experiments.collective.Schedule;
import dev.doorbell.experiments.scenario.kernel.KernelJob;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The ranks of a world that execute a schedule, once for each {@link #prepare}: arenas with their
 * contributions, flags, the steps and a kernel each.
 */
public final class CollectiveTrial implements Trial, AutoCloseable {
  private static final String KERNEL = "collective";

  private final Call call;
  private final Schedule timed;
  private final Schedule schedule;
  private final int turns;
  private final Endpoint.Shape shape;
  private final World world;
  private final Owned owned = new Owned();
  private final Connection connection;
  private final List<Place> places = new ArrayList<>();
  private final byte[] reduced;

  /**
   * One rank's memory.
   *
   * @param flags a word of each rank
   * @param samples times of beginning and end
   */
  private record Place(
      Memory arena,
      MemoryRegion arenaRegion,
      Memory flags,
      MemoryRegion flagsRegion,
      Memory samples,
      KernelJob kernel,
      JobView job,
      long views) {}

  /**
   * Connects the ranks that send each other something, and lays out their memory.
   *
   * @param shape of the queue pairs
   * @param grid one block
   * @param turns that each launch makes, with a barrier behind each; in place, a collective can
   *     have one alone
   */
  public CollectiveTrial(
      World world,
      Call call,
      Schedule schedule,
      Endpoint.Shape shape,
      LaunchConfig grid,
      int turns) {
    this.call = call;
    this.timed = schedule;
    this.schedule = turns > 1 ? schedule.thenBarrier() : schedule;
    this.turns = turns;
    this.shape = shape;
    this.world = world;
    this.reduced = call.collective().reduces() ? call.reduced() : new byte[0];
    this.connection = owned.add(Connection.among(world, call.ranks(), shape, this.schedule::joins));
    for (int rank = 0; rank < call.ranks(); rank++) {
      places.add(place(world.rank(rank), grid));
    }
    for (int rank = 0; rank < call.ranks(); rank++) {
      introduce(rank);
    }
  }

  private Place place(Rank rank, LaunchConfig grid) {
    int number = rank.number();
    KernelJob kernel = owned.add(new KernelJob(rank.gpu(), KERNEL, grid));
    Memory arena = kernel.allocate(MemoryKind.DEVICE, arenaBytes(number), "arena");
    Memory flags = kernel.allocate(MemoryKind.DEVICE, (long) Long.BYTES * call.ranks(), "flags");
    Memory samples = kernel.allocate(MemoryKind.DEVICE, 2L * Long.BYTES * turns, "samples");
    byte[] encoded = schedule.encode(number);
    Memory steps =
        kernel.allocate(MemoryKind.DEVICE, Math.max(encoded.length, StepView.BYTES), "steps");
    steps.putBytes(0, encoded);
    MemoryRegion arenaRegion = owned.add(rank.domain().register(arena, Endpoint.ALL_RIGHTS));
    MemoryRegion flagsRegion =
        owned.add(rank.domain().register(flags, shape.signalRights(Endpoint.ALL_RIGHTS)));
    Memory signals = kernel.allocate(MemoryKind.DEVICE, SignalsView.BYTES, "signals view");
    signals.putBytes(
        0, new SignalsView(flags.address(), 0, flagsRegion.lkey(), 0, call.ranks()).encode());
    Memory views = owned.add(connection.writeViews(number));
    JobView job = new JobView();
    job.role = number;
    job.qpCount = call.ranks();
    job.local = arena.address();
    job.localKey = arenaRegion.lkey();
    job.operand = steps.address();
    job.compare = schedule.steps().get(number).size();
    job.window = timed.steps().get(number).size();
    job.opcode = call.type().code() << StepView.TYPE_SHIFT | call.reduction().code();
    job.iterations = turns;
    job.samples = samples.address();
    job.signals = signals.address();
    return new Place(arena, arenaRegion, flags, flagsRegion, samples, kernel, job, views.address());
  }

  private long arenaBytes(int rank) {
    return Math.max(schedule.arenaBytes().get(rank), Long.BYTES);
  }

  /** Writes where a rank's peers have their memory. */
  private void introduce(int rank) {
    Place own = places.get(rank);
    Memory peers =
        own.kernel()
            .allocate(
                MemoryKind.DEVICE, (long) PeerView.BYTES * call.ranks(), "views of the peers");
    for (int number = 0; number < call.ranks(); number++) {
      Place peer = places.get(number);
      peers.putBytes(
          (long) number * PeerView.BYTES,
          new PeerView(
                  peer.arena().address(),
                  peer.flags().address(),
                  peer.arenaRegion().rkey(),
                  peer.flagsRegion().rkey())
              .encode());
    }
    own.job().peers = peers.address();
  }

  /** The queue pairs of its ranks. */
  public Connection connection() {
    return connection;
  }

  @Override
  public Fabric fabric() {
    return world.fabric();
  }

  @Override
  public List<Supplier<Launch>> prepare() {
    List<Supplier<Launch>> starts = new ArrayList<>();
    for (int rank = 0; rank < places.size(); rank++) {
      Place place = places.get(rank);
      place.arena().fill(0, place.arena().size(), (byte) 0);
      byte[] contribution = call.before(rank);
      if (contribution.length > 0) {
        place.arena().putBytes(0, contribution);
      }
      place.flags().fill(0, place.flags().size(), (byte) 0);
      starts.add(place.kernel().prepare(place.views(), place.job()));
    }
    return starts;
  }

  @Override
  public @Nullable String firstError() {
    for (int rank = 0; rank < places.size(); rank++) {
      String error = places.get(rank).kernel().firstError();
      if (error != null) {
        return "rank %d: %s".formatted(rank, error);
      }
    }
    return null;
  }

  @Override
  public @Nullable String mismatch() {
    for (int rank = 0; rank < places.size(); rank++) {
      byte[] expected = call.expected(rank, reduced);
      if (expected.length > 0) {
        byte[] found = places.get(rank).arena().getBytes(call.receiveAt(rank), expected.length);
        int at = Arrays.mismatch(found, expected);
        if (at >= 0) {
          return "rank %d, element %d of %d: byte 0x%02x instead of 0x%02x; %d elements are wrong"
              .formatted(
                  rank,
                  at / call.type().bytes(),
                  expected.length / call.type().bytes(),
                  found[at] & 0xff,
                  expected[at] & 0xff,
                  wrong(found, expected));
        }
      }
    }
    return null;
  }

  private int wrong(byte[] found, byte[] expected) {
    int each = call.type().bytes();
    int count = 0;
    for (int at = 0; at < expected.length; at += each) {
      count += Arrays.equals(found, at, at + each, expected, at, at + each) ? 0 : 1;
    }
    return count;
  }

  @Override
  public long verifiedBytes() {
    return call.collective().rooted() && call.collective().reduces()
        ? call.receiveBytes()
        : call.receiveBytes() * call.ranks();
  }

  /** From the first rank's beginning to the last one's end, of the first turn. */
  long nanos() {
    long first = places.stream().mapToLong(place -> place.samples().getLong(0)).min().orElse(0);
    long last =
        places.stream().mapToLong(place -> place.samples().getLong(Long.BYTES)).max().orElse(0);
    return last - first;
  }

  @Override
  public void close() {
    owned.close();
  }
}
