package dev.doorbell.experiments.scenario.experts;

import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.config.kernel.DeviceApi;
import dev.doorbell.experiments.scenario.foreign.ApiAdapter;
import dev.doorbell.experiments.scenario.foreign.SymmetricHeap;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * DeepEP's layout and notify kernels among nodes of 8 ranks: counts travel between nodes by RDMA,
 * and within a node by loads and stores. Each rank is a PE of one NVSHMEM job (DeepEP's low-latency
 * mode), one queue pair leads to each other rank.
 */
public final class ClusterExchange implements Exchange {
  /** Ranks of a node, which reach each other's memory. */
  public static final int RANKS_OF_NODE = ClusterRank.PEERS;

  /** The numbers of nodes that the host functions know, up to 4. */
  private static final Set<Integer> NODES = Set.of(2, 3, 4);

  private static final int RING_BLOCKS = 128;
  private static final int NOTIFY_THREADS = 512;
  private static final int WARP = 32;
  private static final int FEWEST_THREADS = 128;
  private static final int SHARED_OF_WARP = 8192;

  private final ExpertShape shape;
  private final int channels;
  private final Owned owned = new Owned();
  private final Connection connection;
  private final List<ClusterRank> ranks = new ArrayList<>();
  private final ExpertLaunches launches;

  /**
   * Connects the ranks, and lays the library's structures.
   *
   * @param world with as many ranks; closed with this
   * @param file of the PTX, for messages
   * @param timeoutNanos of a kernel, on the fabric's clock
   * @throws dev.doorbell.core.gpu.GpuException naming a field that the user's headers lack
   */
  public ClusterExchange(
      ExpertShape shape, World world, String file, String ptx, long seed, long timeoutNanos) {
    this.shape = shape;
    channels = shape.multiprocessors() / 2;
    owned.add(world);
    ApiAdapter.Nodes nodes = ApiAdapter.Nodes.of(file, ptx, shape.ranks());
    NodePlan plan = new NodePlan(shape, new Routing(shape, seed), channels);
    connection =
        owned.add(
            Connection.mesh(
                world,
                shape.ranks(),
                Endpoint.Shape.builder(RING_BLOCKS, timeoutNanos).collapsed(true).build(),
                1));
    List<SymmetricHeap> heaps = new ArrayList<>();
    long bytes = nodes.heapBytes() + SymmetricHeap.room(ClusterRank.rdmaBytes(shape, channels));
    for (int number = 0; number < shape.ranks(); number++) {
      SymmetricHeap heap =
          owned.add(
              new SymmetricHeap(world.rank(number), MemoryKind.DEVICE, Endpoint.ALL_RIGHTS, bytes));
      heaps.add(heap);
      ranks.add(new ClusterRank(shape, plan, world.rank(number), heap, nodes.team(), owned));
    }
    ranks.forEach(rank -> rank.connect(ranks));
    launches = new ExpertLaunches(world, shape.ranks(), file, ptx, timeoutNanos, owned);
    List<ApiAdapter.Span> spans = heaps.stream().map(SymmetricHeap::remote).toList();
    for (ClusterRank rank : ranks) {
      int number = rank.rank().number();
      ApiAdapter.Span local = heaps.get(number).local();
      ApiAdapter.queuePairs(
          DeviceApi.DEEPEP,
          ptx,
          new ApiAdapter.Site(
              rank.rank(),
              connection,
              launches.module(number),
              local,
              local,
              spans,
              List.of(),
              heaps,
              false,
              owned));
    }
  }

  /** What the kernels or their host functions would assert, or nothing. */
  public static Optional<String> problem(ExpertShape shape) {
    String problem = null;
    int peers = ClusterRank.PEERS;
    if (shape.ranks() % peers != 0 || !NODES.contains(shape.ranks() / peers)) {
      problem = "%d ranks; 2 to 4 nodes have %d each".formatted(shape.ranks(), peers);
    } else if (shape.experts() % shape.ranks() != 0
        || shape.experts() * peers / shape.ranks() > NOTIFY_THREADS) {
      problem = "%d experts on %d ranks".formatted(shape.experts(), shape.ranks());
    } else if (shape.top() < 1 || shape.top() > Math.min(WARP, shape.experts())) {
      problem = "top %d; it is at least 1 and at most %d".formatted(shape.top(), WARP);
    } else if (shape.tokens() < 1 || shape.hidden() < 8 || shape.hidden() % 8 != 0) {
      problem = "%d tokens of %d elements".formatted(shape.tokens(), shape.hidden());
    } else if (shape.multiprocessors() < 4
        || shape.multiprocessors() % 2 != 0
        || shape.multiprocessors() > 2 * WARP) {
      problem =
          "%d multiprocessors; a channel takes two, and 2 to %d channels are served"
              .formatted(shape.multiprocessors(), WARP);
    } else if (shape.fp8()) {
      problem = "no token is sent, so none as 8-bit floats";
    }
    return Optional.ofNullable(problem);
  }

  @Override
  public List<Step> round() {
    int threads = Math.max(FEWEST_THREADS, WARP * channels);
    return List.of(
        step(
            "layout",
            "layout19get_dispatch_layout",
            NodeExchange.layoutBlocks(shape),
            NodeExchange.LAYOUT_THREADS,
            0,
            ClusterRank::layout,
            ClusterRank::wrongLayout),
        step(
            "notify_dispatch",
            "internode15notify_dispatchILb1ELi%dE".formatted(shape.ranks() / ClusterRank.PEERS),
            1 + shape.ranks() / ClusterRank.PEERS,
            NOTIFY_THREADS,
            0,
            ClusterRank::notifyDispatch,
            ClusterRank::wrongNotifyDispatch),
        cachedNotify("cached_notify (dispatch)", threads, true),
        cachedNotify("cached_notify (combine)", threads, false));
  }

  private Step cachedNotify(String name, int threads, boolean dispatch) {
    return step(
        name,
        "internode13cached_notifyILb1E",
        2 * channels,
        threads,
        SHARED_OF_WARP * (threads / WARP),
        rank -> rank.cachedNotify(dispatch),
        rank -> rank.wrongCachedNotify(dispatch));
  }

  private Step step(
      String name,
      String entry,
      int blocks,
      int threads,
      int shared,
      Function<ClusterRank, KernelArguments> arguments,
      Function<ClusterRank, @Nullable String> wrong) {
    return stop ->
        launches.run(
            new ExpertLaunches.Job(
                name,
                entry,
                blocks,
                threads,
                shared,
                rank -> arguments.apply(ranks.get(rank)),
                rank -> wrong.apply(ranks.get(rank))),
            stop);
  }

  @Override
  public void describe(ExploringFabric fabric) {
    connection.describe(fabric);
  }

  @Override
  public void close() {
    owned.close();
  }
}
