package dev.doorbell.experiments.scenario.collective;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.StepView;
import dev.doorbell.experiments.collective.Call;
import dev.doorbell.experiments.collective.Schedule;
import dev.doorbell.experiments.scenario.kernel.ArenaRank;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
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
  private final World world;
  private final Owned owned = new Owned();
  private final List<ArenaRank> ranks = new ArrayList<>();
  private final int channels;
  private final Connection connection;
  private final byte[] reduced;

  /**
   * Connects the ranks that send each other something, and lays out their memory.
   *
   * @param channels schedules that blocks execute side by side, over the same arenas
   * @param shape of the queue pairs
   * @param grid a block for each channel
   * @param turns that each launch makes, with a barrier behind each; in place, a collective can
   *     have one alone
   */
  public CollectiveTrial(
      World world,
      Call call,
      List<Schedule> channels,
      Endpoint.Shape shape,
      LaunchConfig grid,
      int turns) {
    this.call = call;
    this.channels = channels.size();
    this.world = world;
    this.reduced = call.collective().reduces() ? call.reduced() : new byte[0];
    List<Schedule> all =
        turns > 1 ? channels.stream().map(Schedule::thenBarrier).toList() : channels;
    Connection.Pairs joined = (one, other) -> all.stream().anyMatch(c -> c.joins(one, other));
    this.connection = owned.add(Connection.among(world, call.ranks(), all.size(), shape, joined));
    boolean switched = all.stream().anyMatch(Schedule::usesSwitch);
    for (int rank = 0; rank < call.ranks(); rank++) {
      long bytes = all.getLast().arenaBytes().get(rank);
      ranks.add(
          owned.add(
              new ArenaRank(
                  world.rank(rank),
                  KERNEL,
                  shape,
                  grid,
                  Math.max(bytes, Long.BYTES),
                  all.size() * call.ranks(),
                  all.size() * 2 * turns,
                  new byte[0])));
    }
    for (ArenaRank rank : ranks) {
      rank.introduce(ranks);
      int own = rank.number();
      int count = Math.max(1, most(all, own));
      byte[] steps = new byte[all.size() * count * StepView.BYTES];
      for (int channel = 0; channel < all.size(); channel++) {
        byte[] some = all.get(channel).encode(own, count);
        System.arraycopy(some, 0, steps, channel * some.length, some.length);
      }
      JobView job = rank.job();
      job.opcode = call.type().code() << StepView.TYPE_SHIFT | call.reduction().code();
      job.iterations = turns;
      job.operand = rank.copy(steps, "steps");
      job.compare = most(all, own);
      job.window = most(channels, own);
      if (switched) {
        List<Memory> arenas = ranks.stream().map(ArenaRank::arena).toList();
        job.remote = owned.add(world.rank(own).gpu().multicast(arenas, "arenas")).address();
      }
    }
    ranks.forEach(rank -> rank.connect(connection));
  }

  /** Steps of a rank in the longest of these schedules. */
  private static int most(List<Schedule> schedules, int rank) {
    return schedules.stream().mapToInt(each -> each.steps().get(rank).size()).max().orElse(0);
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
    for (ArenaRank rank : ranks) {
      Memory arena = rank.arena();
      arena.fill(0, arena.size(), (byte) 0);
      arena.putBytes(0, call.before(rank.number()));
      rank.flags().fill(0, rank.flags().size(), (byte) 0);
      starts.add(rank.prepare());
    }
    return starts;
  }

  @Override
  public @Nullable String firstError() {
    return Trial.first(ranks, ArenaRank::firstError);
  }

  @Override
  public @Nullable String mismatch() {
    for (int rank = 0; rank < call.ranks(); rank++) {
      byte[] expected = call.expected(rank, reduced);
      if (expected.length > 0) {
        byte[] found = ranks.get(rank).arena().getBytes(call.receiveAt(rank), expected.length);
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
    return ArenaRank.nanos(ranks, channels);
  }

  @Override
  public void close() {
    owned.close();
  }
}
