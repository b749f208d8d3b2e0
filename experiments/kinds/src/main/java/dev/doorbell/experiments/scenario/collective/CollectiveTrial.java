package dev.doorbell.experiments.scenario.collective;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.PeerView;
import dev.doorbell.core.queue.generated.SignalsView;
import dev.doorbell.core.queue.generated.StepView;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The ranks of a world that execute a schedule, once for each {@link #prepare}: arenas with their
 * contributions, flags, the steps and a kernel each.
 */
public final class CollectiveTrial implements Trial, AutoCloseable {
  private static final String KERNEL = "collective";

  private final Call call;
  private final int turns;
  private final Endpoint.Shape shape;
  private final World world;
  private final Owned owned = new Owned();
  private final List<Place> places = new ArrayList<>();
  private final Map<Integer, Memory> views = new HashMap<>();
  private final Schedule schedule;
  private final Connection connection;
  private final byte[] reduced;

  private record Place(
      Memory arena,
      MemoryRegion arenaRegion,
      Memory flags,
      MemoryRegion flagsRegion,
      Memory samples,
      KernelJob kernel,
      JobView job) {}

  /**
   * Connects the ranks that send each other something, and lays out their memory.
   *
   * @param shape of the queue pairs
   * @param grid one block
   * @param turns that each launch makes, with a barrier behind each; in place, a collective can
   *     have one alone
   */
  public CollectiveTrial(
      World world, Call call, Schedule timed, Endpoint.Shape shape, LaunchConfig grid, int turns) {
    this.call = call;
    this.schedule = turns > 1 ? timed.thenBarrier() : timed;
    this.turns = turns;
    this.shape = shape;
    this.world = world;
    this.reduced = call.collective().reduces() ? call.reduced() : new byte[0];
    this.connection = Connection.among(world, call.ranks(), shape, schedule::joins);
    for (int rank = 0; rank < call.ranks(); rank++) {
      long bytes = Math.max(schedule.arenaBytes().get(rank), Long.BYTES);
      places.add(place(world.rank(rank), grid, bytes));
    }
    for (int rank = 0; rank < call.ranks(); rank++) {
      introduce(rank);
      instruct(rank, timed);
    }
  }

  private Place place(Rank rank, LaunchConfig grid, long bytes) {
    KernelJob kernel = owned.add(new KernelJob(rank.gpu(), KERNEL, grid));
    Memory arena = kernel.allocate(MemoryKind.DEVICE, bytes, "arena");
    Memory flags = kernel.allocate(MemoryKind.DEVICE, (long) Long.BYTES * call.ranks(), "flags");
    Memory samples = kernel.allocate(MemoryKind.DEVICE, 2L * Long.BYTES * turns, "samples");
    MemoryRegion arenaRegion = owned.add(rank.domain().register(arena, Endpoint.ALL_RIGHTS));
    MemoryRegion flagsRegion =
        owned.add(rank.domain().register(flags, shape.signalRights(Endpoint.ALL_RIGHTS)));
    Memory signals = kernel.allocate(MemoryKind.DEVICE, SignalsView.BYTES, "signals view");
    signals.putBytes(
        0, new SignalsView(flags.address(), 0, flagsRegion.lkey(), 0, call.ranks()).encode());
    JobView job = new JobView();
    job.role = rank.number();
    job.qpCount = call.ranks();
    job.local = arena.address();
    job.localKey = arenaRegion.lkey();
    job.opcode = call.type().code() << StepView.TYPE_SHIFT | call.reduction().code();
    job.iterations = turns;
    job.samples = samples.address();
    job.signals = signals.address();
    return new Place(arena, arenaRegion, flags, flagsRegion, samples, kernel, job);
  }

  private void instruct(int rank, Schedule timed) {
    Place place = places.get(rank);
    byte[] encoded = schedule.encode(rank);
    Memory steps =
        place
            .kernel()
            .allocate(MemoryKind.DEVICE, Math.max(encoded.length, StepView.BYTES), "steps");
    steps.putBytes(0, encoded);
    place.job().operand = steps.address();
    place.job().compare = schedule.steps().get(rank).size();
    place.job().window = timed.steps().get(rank).size();
  }

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
    for (int rank = 0; rank < call.ranks(); rank++) {
      Place place = places.get(rank);
      contribute(rank);
      place.flags().fill(0, place.flags().size(), (byte) 0);
      Memory views = views(rank);
      starts.add(place.kernel().prepare(views.address(), place.job()));
    }
    return starts;
  }

  private Memory views(int rank) {
    return views.computeIfAbsent(rank, _ -> owned.add(connection.writeViews(rank)));
  }

  private void contribute(int rank) {
    Memory arena = places.get(rank).arena();
    arena.fill(0, arena.size(), (byte) 0);
    byte[] contribution = call.before(rank);
    if (contribution.length > 0) {
      arena.putBytes(0, contribution);
    }
  }

  @Override
  public @Nullable String firstError() {
    for (int rank = 0; rank < call.ranks(); rank++) {
      String error = places.get(rank).kernel().firstError();
      if (error != null) {
        return "rank %d: %s".formatted(rank, error);
      }
    }
    return null;
  }

  @Override
  public @Nullable String mismatch() {
    for (int rank = 0; rank < call.ranks(); rank++) {
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
  public long nanos() {
    long first = Long.MAX_VALUE;
    long last = 0;
    for (Place place : places) {
      Memory samples = place.samples();
      first = Math.min(first, samples.getLong(0));
      last = Math.max(last, samples.getLong(Long.BYTES));
    }
    return last - first;
  }

  @Override
  public void close() {
    connection.close();
    owned.close();
  }
}
