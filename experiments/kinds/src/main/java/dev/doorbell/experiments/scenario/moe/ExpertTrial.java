package dev.doorbell.experiments.scenario.moe;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.experiments.scenario.kernel.ArenaRank;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.moe.ExpertBatch.ArenaLayout;
import dev.doorbell.experiments.scenario.moe.ExpertSettings.Packing;
import dev.doorbell.experiments.scenario.moe.ExpertSettings.Payload;
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
 * The ranks of a world that dispatch tokens and combine answers: {@link #dispatch} and {@link
 * #combine} are a launch each, in this order.
 */
public final class ExpertTrial implements AutoCloseable {
  private static final String KERNEL = "moe";

  private final ExpertBatch of;
  private final Routing routing;
  private final int[][] counts;
  private final World world;
  private final ArenaLayout layout;
  private final Owned owned = new Owned();
  private final Connection connection;
  private final List<ArenaRank> ranks = new ArrayList<>();
  private final List<TokenData> data = new ArrayList<>();

  /**
   * @param node ranks whose GPUs address each other's memory
   */
  public ExpertTrial(
      ExpertBatch of,
      Routing routing,
      World world,
      Endpoint.Shape shape,
      LaunchConfig grid,
      int node) {
    this.of = of;
    this.routing = routing;
    this.counts = routing.counts();
    this.world = world;
    this.layout = new ArenaLayout(of, routing.capacity(), node);
    this.connection = owned.add(Connection.mesh(world, of.ranks(), shape, Connection.Ringing.GPU));
    for (int number = 0; number < of.ranks(); number++) {
      ArenaRank rank =
          owned.add(
              new ArenaRank(
                  world.rank(number),
                  KERNEL,
                  shape,
                  grid,
                  layout.bytes,
                  layout.flags(),
                  2,
                  layout.parameters()));
      rank.connect(connection);
      TokenData own = new TokenData(of, number, routing.chosen(number));
      rank.arena().putBytes(layout.routing, own.routing());
      rank.arena().putBytes(layout.weights, own.weights());
      rank.arena().putBytes(layout.input, own.input());
      ranks.add(rank);
      data.add(own);
    }
    ranks.forEach(rank -> rank.introduce(ranks));
  }

  /** The queue pairs of its ranks. */
  public Connection connection() {
    return connection;
  }

  /**
   * A few tokens of two ranks with two experts each, for explorations.
   *
   * @param bytes of a token, a multiple of 16
   */
  public static ExpertTrial ofFewTokens(
      World world, int bytes, Endpoint.Shape shape, LaunchConfig grid) {
    ExpertBatch few = new ExpertBatch(2, 2, 2, 4, bytes, Payload.BYTES, Packing.TOKEN, 1);
    Routing routing = Routing.uniform(few.ranks(), few.tokens(), few.topk(), few.experts(), 1);
    return new ExpertTrial(few, routing, world, shape, grid, 1);
  }

  /** Tokens to experts; every byte that arrives is compared. */
  public Phase dispatch() {
    return new Phase(0) {
      @Override
      void clear(ArenaRank rank) {
        rank.flags().fill(0, rank.flags().size(), (byte) 0);
        rank.arena().fill(layout.slots, layout.bytes - layout.slots, (byte) 0);
        rank.arena().fill(layout.received, layout.output - layout.received, (byte) 0);
      }

      @Override
      @Nullable String mismatch(int rank) {
        for (int source = 0; source < of.ranks(); source++) {
          for (int local = 0; local < of.local(); local++) {
            String wrong = arrived(rank, source, local);
            if (wrong != null) {
              return wrong;
            }
          }
        }
        return null;
      }

      @Override
      public long verifiedBytes() {
        return (long) of.ranks() * of.tokens() * of.topk() * of.messageBytes();
      }
    };
  }

  /** Answers back; every byte that arrives and every sum is compared. */
  public Phase combine() {
    return new Phase(1) {
      // Messages were copied or sent from there, and are not read again.
      @Override
      void clear(ArenaRank rank) {
        rank.arena().fill(layout.messages, layout.received - layout.messages, (byte) 0);
      }

      @Override
      @Nullable String mismatch(int rank) {
        for (int token = 0; token < of.tokens(); token++) {
          byte[] answer = data.get(rank).answer(token);
          for (int k = 0; k < of.topk(); k++) {
            long at = layout.combined + ((long) token * of.topk() + k) * answer.length;
            String wrong = differs(rank, at, answer);
            if (wrong != null) {
              return "rank %d, token %d, answer %d: %s".formatted(rank, token, k, wrong);
            }
          }
          if (of.payload() != Payload.BYTES) {
            byte[] sum = data.get(rank).output(token, answer);
            String wrong = differs(rank, layout.output + (long) token * sum.length, sum);
            if (wrong != null) {
              return "rank %d, sum of token %d: %s".formatted(rank, token, wrong);
            }
          }
        }
        return null;
      }

      @Override
      public long verifiedBytes() {
        long sums = of.payload() == Payload.BYTES ? 0 : 1;
        return (long) of.ranks() * of.tokens() * (of.topk() + sums) * of.tokenBytes();
      }
    };
  }

  /** The messages of a source to one of a rank's experts, in any order, each once. */
  private @Nullable String arrived(int rank, int source, int local) {
    int expert = rank * of.local() + local;
    int count = counts[source][expert];
    long flag = ranks.get(rank).flags().getLong((long) (source * of.local() + local) * Long.BYTES);
    String whose = "rank %d, expert %d, messages of rank %d".formatted(rank, expert, source);
    if (flag != count + 1) {
      return "%s: flag %d instead of %d".formatted(whose, flag, count + 1);
    }
    TokenData sent = data.get(source);
    boolean[] seen = new boolean[of.tokens()];
    for (int slot = 0; slot < count; slot++) {
      long at = layout.received + (long) (layout.region(local, source) + slot) * of.messageBytes();
      int token = (int) ranks.get(rank).arena().getLong(at);
      if (token < 0 || token >= of.tokens() || seen[token]) {
        return "%s: token %d in slot %d".formatted(whose, token, slot);
      }
      seen[token] = true;
      String wrong = differs(rank, at, sent.message(token));
      if (wrong != null) {
        return "%s, token %d: %s".formatted(whose, token, wrong);
      }
      if (!routed(source, token, expert)) {
        return "%s: token %d was not routed there".formatted(whose, token);
      }
    }
    return null;
  }

  private boolean routed(int source, int token, int expert) {
    for (int k = 0; k < of.topk(); k++) {
      if (routing.chosen(source)[token * of.topk() + k] == expert) {
        return true;
      }
    }
    return false;
  }

  private @Nullable String differs(int rank, long at, byte[] expected) {
    byte[] found = ranks.get(rank).arena().getBytes(at, expected.length);
    int first = Arrays.mismatch(found, expected);
    return first < 0
        ? null
        : "byte %d is 0x%02x instead of 0x%02x"
            .formatted(first, found[first] & 0xff, expected[first] & 0xff);
  }

  /** One launch of all ranks. */
  public abstract class Phase implements Trial {
    private final int phase;

    private Phase(int phase) {
      this.phase = phase;
    }

    abstract void clear(ArenaRank rank);

    abstract @Nullable String mismatch(int rank);

    @Override
    public Fabric fabric() {
      return world.fabric();
    }

    @Override
    public List<Supplier<Launch>> prepare() {
      List<Supplier<Launch>> starts = new ArrayList<>();
      for (ArenaRank rank : ranks) {
        clear(rank);
        rank.job().opcode =
            phase | of.payload().code() << 8 | (of.packing() == Packing.EXPERT ? 1 << 16 : 0);
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
      return Trial.first(ranks, rank -> mismatch(rank.number()));
    }

    /** From the first rank's beginning until the last one has everything. */
    public long nanos() {
      return ArenaRank.nanos(ranks, 1);
    }
  }

  @Override
  public void close() {
    owned.close();
  }
}
