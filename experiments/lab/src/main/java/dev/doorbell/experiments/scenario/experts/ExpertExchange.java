package dev.doorbell.experiments.scenario.experts;

import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.experiments.config.kernel.DeviceApi;
import dev.doorbell.experiments.scenario.foreign.ApiAdapter;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Dispatch and combine of DeepEP's low-latency kernels among the ranks of a world: a queue pair for
 * each expert of a rank between any two ranks, and cooperative launches as its host code makes
 * them.
 */
public final class ExpertExchange implements Exchange {
  /** The kernels never look for room in a send ring, so two rounds' messages fit. */
  private static final int ROUNDS_IN_RING = 2;

  private static final int FEWEST_BLOCKS = 128;

  private final ExpertShape shape;
  private final Owned owned = new Owned();
  private final Connection connection;
  private final List<ExpertRank> ranks = new ArrayList<>();
  private final ExpertLaunches launches;

  /**
   * Connects the ranks, and lays the library's structures.
   *
   * @param world with as many ranks; closed with this
   * @param file of the PTX, for messages
   * @param timeoutNanos of a kernel, on the fabric's clock
   * @throws GpuException naming a field that the user's headers lack
   */
  public ExpertExchange(
      ExpertShape shape, World world, String file, String ptx, long seed, long timeoutNanos) {
    this.shape = shape;
    owned.add(world);
    Routing routing = new Routing(shape, seed);
    int messages = ROUNDS_IN_RING * (shape.tokens() + 2);
    int blocks = Math.max(FEWEST_BLOCKS, Integer.highestOneBit(messages) << 1);
    connection =
        owned.add(
            Connection.mesh(
                world,
                shape.ranks(),
                Endpoint.Shape.builder(blocks, timeoutNanos).collapsed(true).build(),
                shape.localExperts()));
    for (int number = 0; number < shape.ranks(); number++) {
      ranks.add(new ExpertRank(shape, routing, world.rank(number), owned));
    }
    launches = new ExpertLaunches(world, shape.ranks(), file, ptx, timeoutNanos, owned);
    List<ApiAdapter.Span> heaps = ranks.stream().map(ExpertRank::remote).toList();
    for (ExpertRank rank : ranks) {
      ApiAdapter.queuePairs(
          DeviceApi.DEEPEP,
          ptx,
          new ApiAdapter.Site(
              rank.rank(),
              connection,
              launches.module(rank.rank().number()),
              rank.local(),
              rank.local(),
              heaps,
              List.of(),
              List.of(),
              false,
              owned));
    }
  }

  @Override
  public List<Step> round() {
    return List.of(this::dispatch, this::combine);
  }

  /** Sends all tokens to their experts. */
  private Phase dispatch(BooleanSupplier stop) {
    ranks.forEach(ExpertRank::clear);
    Phase phase =
        launches.run(
            new ExpertLaunches.Job(
                "dispatch",
                "internode_ll8dispatchILb%dELb0ELi%dE"
                    .formatted(shape.fp8() ? 1 : 0, shape.hidden()),
                shape.dispatchBlocks(),
                shape.threads(),
                0,
                rank -> ranks.get(rank).dispatch(),
                rank -> ranks.get(rank).wrongDispatch()),
            stop);
    if (phase.wrong() == null) {
      ranks.forEach(ExpertRank::compute);
    }
    return phase;
  }

  /** Brings the outputs of the experts back, and sums them. */
  private Phase combine(BooleanSupplier stop) {
    return launches.run(
        new ExpertLaunches.Job(
            "combine",
            "internode_ll7combineILb0ELi%dE".formatted(shape.hidden()),
            shape.combineBlocks(),
            shape.threads(),
            shape.combineShared(),
            rank -> ranks.get(rank).combine(),
            rank -> ranks.get(rank).wrongCombine()),
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
