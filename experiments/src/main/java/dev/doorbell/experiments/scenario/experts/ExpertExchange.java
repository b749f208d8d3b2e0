package dev.doorbell.experiments.scenario.experts;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.experiments.config.kernel.DeviceApi;
import dev.doorbell.experiments.scenario.foreign.ApiAdapter;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Dispatch and combine of DeepEP's low-latency kernels among the ranks of a world: a queue pair for
 * each expert of a rank between any two ranks, and cooperative launches as its host code makes
 * them.
 */
public final class ExpertExchange implements AutoCloseable {
  /** How long the fabric runs between two looks at the caller's wish to stop. */
  private static final long SLICE_NANOS = 50_000_000;

  /** The kernels never look for room in a send ring, so two rounds' messages fit. */
  private static final int ROUNDS_IN_RING = 2;

  private static final int FEWEST_BLOCKS = 128;

  private final ExpertShape shape;
  private final World world;
  private final long timeoutNanos;
  private final Owned owned = new Owned();
  private final List<ExpertRank> ranks = new ArrayList<>();
  private final List<GpuModule> modules = new ArrayList<>();

  /**
   * What one of the two kernels did.
   *
   * @param nanos on the fabric's clock
   * @param instructions of all ranks
   * @param wrong what it left otherwise than it should have, or null
   */
  public record Phase(String name, long nanos, long instructions, @Nullable String wrong) {}

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
    this.timeoutNanos = timeoutNanos;
    this.world = owned.add(world);
    Routing routing = new Routing(shape, seed);
    int messages = ROUNDS_IN_RING * (shape.tokens() + 2);
    int blocks = Math.max(FEWEST_BLOCKS, Integer.highestOneBit(messages) << 1);
    Connection connection =
        owned.add(
            Connection.mesh(
                world,
                shape.ranks(),
                Endpoint.Shape.builder(blocks, timeoutNanos).collapsed(true).build(),
                shape.localExperts()));
    for (int number = 0; number < shape.ranks(); number++) {
      ranks.add(new ExpertRank(shape, routing, world.rank(number), owned));
    }
    List<ApiAdapter.Span> heaps = ranks.stream().map(ExpertRank::remote).toList();
    for (ExpertRank rank : ranks) {
      GpuModule module = owned.add(rank.rank().gpu().load(file, ptx));
      modules.add(module);
      ApiAdapter.queuePairs(
          DeviceApi.DEEPEP,
          ptx,
          new ApiAdapter.Site(
              rank.rank(),
              connection,
              module,
              rank.local(),
              rank.local(),
              heaps,
              List.of(),
              List.of(),
              owned));
    }
  }

  /**
   * Sends all tokens to their experts.
   *
   * @param stop asked between two slices
   */
  public Phase dispatch(BooleanSupplier stop) {
    ranks.forEach(ExpertRank::clear);
    String entry =
        "internode_ll8dispatchILb%dELb0ELi%dE".formatted(shape.fp8() ? 1 : 0, shape.hidden());
    Phase phase =
        run(
            "dispatch",
            entry,
            shape.dispatchBlocks(),
            0,
            ExpertRank::dispatch,
            ExpertRank::wrongDispatch,
            stop);
    if (phase.wrong == null) {
      ranks.forEach(ExpertRank::compute);
    }
    return phase;
  }

  /** Brings the outputs of the experts back, and sums them. */
  public Phase combine(BooleanSupplier stop) {
    return run(
        "combine",
        "internode_ll7combineILb0ELi%dE".formatted(shape.hidden()),
        shape.combineBlocks(),
        shape.combineShared(),
        ExpertRank::combine,
        ExpertRank::wrongCombine,
        stop);
  }

  private Phase run(
      String name,
      String entry,
      int blocks,
      int shared,
      Function<ExpertRank, KernelArguments> arguments,
      Function<ExpertRank, @Nullable String> wrong,
      BooleanSupplier stop) {
    LaunchConfig config =
        LaunchConfig.of(blocks, shape.threads())
            .withSharedBytes(shared)
            .withTimeout(timeoutNanos)
            .asCooperative();
    long start = world.fabric().now();
    List<Launch> launches = new ArrayList<>();
    for (ExpertRank rank : ranks) {
      GpuModule module = modules.get(rank.rank().number());
      GpuStream stream = owned.add(rank.rank().gpu().createStream());
      launches.add(
          rank.rank()
              .gpu()
              .launch(module.kernel(find(module, entry)), config, arguments.apply(rank), stream));
    }
    await(launches, stop);
    long nanos = world.fabric().now() - start;
    world.fabric().quiesce();
    String found = null;
    for (ExpertRank rank : ranks) {
      String here = found == null ? wrong.apply(rank) : null;
      found = here == null ? found : "rank %d, %s".formatted(rank.rank().number(), here);
    }
    return new Phase(name, nanos, launches.stream().mapToLong(Launch::instructions).sum(), found);
  }

  private void await(List<Launch> launches, BooleanSupplier stop) {
    BooleanSupplier done = () -> launches.stream().allMatch(Launch::done);
    RunOutcome outcome = RunOutcome.DEADLINE;
    while (!done.getAsBoolean() && outcome != RunOutcome.STALLED) {
      outcome = world.fabric().run(done, SLICE_NANOS);
      checkEnded(launches);
      if (stop.getAsBoolean()) {
        launches.forEach(launch -> launch.cancel("interrupted"));
      }
    }
    if (!done.getAsBoolean()) {
      launches.forEach(launch -> launch.cancel("no thread can go on"));
    }
    launches.forEach(Launch::check);
  }

  /** Stops all where one was stopped: the others would wait for it until their deadline. */
  private static void checkEnded(List<Launch> launches) {
    try {
      launches.stream().filter(Launch::done).forEach(Launch::check);
    } catch (GpuException e) {
      launches.forEach(launch -> launch.cancel("another rank was stopped"));
      throw e;
    }
  }

  /** The entry whose mangled name has {@code part}. */
  private static String find(GpuModule module, String part) {
    return module.entries().stream()
        .filter(name -> name.contains(part))
        .findFirst()
        .orElseThrow(
            () ->
                new GpuException(
                    "%s has no entry with %s in its name; it has %s"
                        .formatted(module.name(), part, String.join(", ", module.entries()))));
  }

  @Override
  public void close() {
    owned.close();
  }
}
