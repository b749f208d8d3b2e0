package dev.doorbell.experiments.scenario.experts;

import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * DeepEP's kernels among the ranks of one node, which load from and store to each other's memory:
 * layout, notify, dispatch and combine, and then dispatch and combine once more by what the first
 * dispatch left (the cached handle).
 */
public final class NodeExchange implements Exchange {
  private static final Set<Integer> RANKS = Set.of(2, 4, 8);

  /** Threads of a block that dispatches or combines (source: {@code intranode.cu}). */
  private static final int THREADS = 768;

  private static final int WARP = 32;
  private static final int NOTIFY_THREADS = 128;
  static final int LAYOUT_THREADS = 256;
  private static final int EXPERTS_OF_BLOCK = 4;
  private static final int RANKS_OF_BLOCK = 8;

  /** Shared memory of a warp that dispatches; half a token and a barrier fit. */
  private static final int DISPATCH_SHARED = 8192;

  private static final int COMBINE_SHARED = 4096;

  private final ExpertShape shape;
  private final int channels;
  private final Owned owned = new Owned();
  private final List<NodeRank> ranks = new ArrayList<>();
  private final ExpertLaunches launches;

  /**
   * Allocates the memory of all ranks.
   *
   * @param world with as many ranks; closed with this
   * @param file of the PTX, for messages
   * @param timeoutNanos of a kernel, on the fabric's clock
   */
  public NodeExchange(
      ExpertShape shape, World world, String file, String ptx, long seed, long timeoutNanos) {
    this.shape = shape;
    channels = shape.multiprocessors() / 2;
    owned.add(world);
    NodePlan plan = new NodePlan(shape, new Routing(shape, seed), channels);
    for (int number = 0; number < shape.ranks(); number++) {
      ranks.add(new NodeRank(shape, plan, world.rank(number), owned));
    }
    ranks.forEach(rank -> rank.connect(ranks));
    launches = new ExpertLaunches(world, shape.ranks(), file, ptx, timeoutNanos, owned);
  }

  /** What the kernels or their host functions would assert, or nothing. */
  public static Optional<String> problem(ExpertShape shape) {
    String problem = null;
    if (!RANKS.contains(shape.ranks())) {
      problem = "%d ranks; a node has 2, 4 or 8".formatted(shape.ranks());
    } else if (shape.experts() % shape.ranks() != 0
        || shape.experts() / shape.ranks() > NOTIFY_THREADS) {
      problem =
          "%d experts on %d ranks; each rank has as many, at most %d"
              .formatted(shape.experts(), shape.ranks(), NOTIFY_THREADS);
    } else if (shape.top() < 1 || shape.top() > Math.min(WARP, shape.experts())) {
      problem = "top %d; it is at least 1 and at most %d".formatted(shape.top(), WARP);
    } else if (shape.hidden() < 16
        || shape.hidden() % 16 != 0
        || shape.hidden() + Long.BYTES > DISPATCH_SHARED) {
      problem =
          "hidden %d; it is a multiple of 16 below %d".formatted(shape.hidden(), DISPATCH_SHARED);
    } else if (shape.tokens() < 1) {
      problem = "%d tokens; a rank has at least 1".formatted(shape.tokens());
    } else if (shape.multiprocessors() < 2 || shape.multiprocessors() % 2 != 0) {
      problem = "%d multiprocessors; a channel takes two".formatted(shape.multiprocessors());
    } else if (shape.fp8()) {
      problem = "the kernels of a node do not convert tokens to 8-bit floats";
    }
    return Optional.ofNullable(problem);
  }

  @Override
  public List<Step> round() {
    return List.of(
        step(
            "layout",
            "layout19get_dispatch_layout",
            layoutBlocks(shape),
            LAYOUT_THREADS,
            0,
            NodeRank::layout,
            NodeRank::wrongLayout),
        step(
            "notify_dispatch",
            entry("15notify_dispatch", ""),
            1 + shape.ranks(),
            NOTIFY_THREADS,
            0,
            NodeRank::notifyDispatch,
            NodeRank::wrongNotifyDispatch),
        dispatch(false),
        notifyCombine(),
        combine(false),
        step(
            "cached_notify_dispatch",
            entry("22cached_notify_dispatch", ""),
            1,
            NOTIFY_THREADS,
            0,
            NodeRank::cachedNotifyDispatch,
            NodeRank::wrongCachedNotifyDispatch),
        dispatch(true),
        notifyCombine(),
        combine(true));
  }

  /** Blocks of {@code get_dispatch_layout}. */
  static int layoutBlocks(ExpertShape shape) {
    return (shape.experts() + EXPERTS_OF_BLOCK - 1) / EXPERTS_OF_BLOCK
        + (shape.ranks() + RANKS_OF_BLOCK - 1) / RANKS_OF_BLOCK;
  }

  private String entry(String name, String type) {
    return "intranode%sI%sLi%dE".formatted(name, type, shape.ranks());
  }

  private Step dispatch(boolean cached) {
    Step step =
        step(
            cached ? "cached dispatch" : "dispatch",
            entry("8dispatch", ""),
            2 * channels,
            THREADS,
            DISPATCH_SHARED * (THREADS / WARP),
            rank -> rank.dispatch(cached),
            rank -> rank.wrongDispatch(cached));
    return stop -> {
      Phase phase = step.run(stop);
      if (phase.wrong() == null) {
        ranks.forEach(NodeRank::compute);
      }
      return phase;
    };
  }

  private Step notifyCombine() {
    return step(
        "cached_notify_combine",
        entry("21cached_notify_combine", ""),
        1 + channels,
        Math.max(NOTIFY_THREADS, WARP * shape.ranks()),
        0,
        NodeRank::notifyCombine,
        NodeRank::wrongNotifyCombine);
  }

  private Step combine(boolean cached) {
    return step(
        cached ? "cached combine" : "combine",
        entry("7combine", "13__nv_bfloat16"),
        2 * channels,
        THREADS,
        COMBINE_SHARED * (THREADS / WARP),
        rank -> rank.combine(cached),
        rank -> rank.wrongCombine(cached));
  }

  private Step step(
      String name,
      String entry,
      int blocks,
      int threads,
      int shared,
      Function<NodeRank, KernelArguments> arguments,
      Function<NodeRank, @Nullable String> wrong) {
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
  public void close() {
    owned.close();
  }
}
