package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.queue.JobView;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Random lists of operations, one a poster, whose result does not depend on how posters interleave:
 * each works in slabs of its own, and words that several of them use are only added to.
 *
 * @param scope {@code JobView.SCOPE_*}
 * @param blocks of the launch
 * @param threads of a block
 * @param lists one a poster, all as long
 * @param waits for each operation, whether its poster waits for it
 */
@SuppressWarnings("ArrayRecordComponent") // made once, never changed or compared
record OperationLists(
    int scope, int blocks, int threads, List<List<Operation>> lists, List<BitSet> waits) {
  private static final int WARP = 32;
  private static final int INLINE_HEADER = 4;
  private static final int MOST_BYTES = 6000;

  /** What a queue pair can express. */
  record Limits(int sendBlocks, int inlineBytes, int queuePairs, boolean onePoster) {}

  /** Picks a launch and the lists of its posters. */
  static OperationLists random(SplittableRandom random, Limits limits) {
    int scope = random.nextInt(3);
    int blocks = limits.onePoster() ? 1 : 1 + random.nextInt(4);
    int threads = threads(random, scope, limits.onePoster(), 256 / blocks);
    int posters = scope == JobView.SCOPE_BLOCK ? blocks : blocks * threads;
    int length = Math.max(1, Math.min(1 + random.nextInt(12), 384 / posters));
    int perSlab = (OperationBench.SLABS / posters) & -Long.BYTES;
    List<List<Operation>> lists = new ArrayList<>();
    List<BitSet> waits = new ArrayList<>();
    int[][] queues = new int[posters][];
    for (int poster = 0; poster < posters; poster++) {
      boolean leads = scope != JobView.SCOPE_WARP || poster % threads % WARP == 0;
      // The queue pair of a warp's round is that of its first lane.
      queues[poster] =
          leads
              ? random.ints(length, 0, limits.queuePairs()).toArray()
              : queues[poster - poster % threads % WARP];
      Slab slab = new Slab(poster * perSlab, perSlab);
      List<Operation> list = new ArrayList<>();
      BitSet waiting = new BitSet();
      for (int i = 0; i < length; i++) {
        Slab shared =
            new Slab(OperationBench.SLABS + (poster * length + i) * Long.BYTES, Long.BYTES);
        list.add(operation(random, limits, queues[poster][i], slab, shared));
        waiting.set(i, random.nextInt(5) == 0);
      }
      lists.add(list);
      order(list, waiting);
      waits.add(waiting);
    }
    return new OperationLists(scope, blocks, threads, lists, waits);
  }

  private static int threads(SplittableRandom random, int scope, boolean one, int most) {
    if (scope == JobView.SCOPE_THREAD && one) {
      return 1;
    }
    if (scope == JobView.SCOPE_WARP && one) {
      return 1 + random.nextInt(WARP);
    }
    return switch (random.nextInt(4)) {
      case 0 -> 1;
      case 1 -> 1 + random.nextInt(8);
      case 2 -> 1 + random.nextInt(Math.min(most, 2 * WARP));
      default -> 1 + random.nextInt(scope == JobView.SCOPE_BLOCK ? 2 * WARP : most);
    };
  }

  private static Operation operation(
      SplittableRandom random, Limits limits, int queue, Slab slab, Slab sharedFetched) {
    int kind = random.nextInt(8);
    int opcode =
        switch (kind) {
          case 0, 1 -> JobView.OP_PUT;
          case 2 -> JobView.OP_GET;
          case 3, 4 -> JobView.OP_PUT_INLINE;
          case 5 -> JobView.OP_COMPARE_SWAP;
          case 6 -> JobView.OP_FETCH_ADD;
          default -> JobView.OP_PUT_SIGNAL;
        };
    long operand = random.nextLong();
    if (opcode == JobView.OP_FETCH_ADD || opcode == JobView.OP_COMPARE_SWAP) {
      if (opcode == JobView.OP_FETCH_ADD && random.nextBoolean()) {
        Slab word =
            new Slab(
                OperationBench.WORDS + random.nextInt(OperationBench.SHARED) * Long.BYTES,
                Long.BYTES);
        return atomic(opcode, queue, sharedFetched, word, 1 + random.nextInt(1000), 0, true);
      }
      Slab word = word(random, slab);
      // Compare with what an untouched word may well hold.
      long compare = random.nextBoolean() ? 0 : random.nextLong();
      return atomic(opcode, queue, range(random, slab, Long.BYTES), word, operand, compare, false);
    }
    boolean inline = opcode == JobView.OP_PUT_INLINE;
    int bytes = bytes(random, inline ? Math.min(300, slab.bytes()) : slab.bytes() / 2);
    Slab local = range(random, slab, bytes);
    Slab remote = range(random, slab, bytes);
    Slab signal = Operation.NOTHING;
    Slab fetched = Operation.NOTHING;
    if (opcode == JobView.OP_PUT_SIGNAL) {
      signal = word(random, slab);
      fetched = range(random, slab, Long.BYTES);
      // The put's payload must not change while it is read.
      local = local.overlaps(fetched) ? new Slab(local.offset(), 0) : local;
      remote = new Slab(remote.offset(), local.bytes());
    }
    int blocks = opcode == JobView.OP_PUT_SIGNAL ? 2 : inline ? inlineBlocks(bytes) : 1;
    boolean expressible =
        blocks <= limits.sendBlocks() && (!inline || bytes <= limits.inlineBytes());
    return new Operation(
        opcode, queue, local, remote, operand, 0, signal, fetched, expressible, false);
  }

  private static Operation atomic(
      int opcode, int queue, Slab local, Slab word, long operand, long compare, boolean shared) {
    return new Operation(
        opcode,
        queue,
        local,
        word,
        operand,
        compare,
        Operation.NOTHING,
        Operation.NOTHING,
        true,
        shared);
  }

  private static int inlineBlocks(int bytes) {
    int units = 2 + Math.ceilDiv(INLINE_HEADER + bytes, SendQueue.UNIT);
    return bytes == 0 ? 1 : Math.ceilDiv(units * SendQueue.UNIT, SendQueue.BLOCK);
  }

  private static int bytes(SplittableRandom random, int most) {
    int limit = Math.min(most, MOST_BYTES);
    return switch (random.nextInt(6)) {
      case 0 -> 0;
      case 1 -> Math.min(limit, Long.BYTES);
      case 2, 3 -> random.nextInt(Math.min(limit, 64) + 1);
      default -> random.nextInt(limit + 1);
    };
  }

  private static Slab range(SplittableRandom random, Slab slab, int bytes) {
    return new Slab(slab.offset() + random.nextInt(slab.bytes() - bytes + 1), bytes);
  }

  private static Slab word(SplittableRandom random, Slab slab) {
    return new Slab(
        slab.offset() + random.nextInt(slab.bytes() / Long.BYTES) * Long.BYTES, Long.BYTES);
  }

  /** Makes a poster wait wherever its next operation depends on one that may be under way. */
  private static void order(List<Operation> list, BitSet waits) {
    List<Integer> pending = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      Operation next = list.get(i);
      if (!next.expressible()) {
        waits.clear(i);
        continue;
      }
      for (int earlier : List.copyOf(pending)) {
        if (!list.get(earlier).lets(next)) {
          int queue = list.get(earlier).queuePair();
          int last =
              pending.stream()
                  .filter(at -> list.get(at).queuePair() == queue)
                  .reduce(earlier, Math::max);
          waits.set(last);
          pending.removeIf(at -> list.get(at).queuePair() == queue);
        }
      }
      pending.add(i);
      if (waits.get(i)) {
        pending.removeIf(at -> list.get(at).queuePair() == next.queuePair());
      }
    }
  }

  int length() {
    return lists.getFirst().size();
  }

  /** How many operations there are, refused ones too. */
  int operations() {
    return lists.size() * length();
  }

  @Override
  public String toString() {
    return "scope %d, %d x %d threads, %d operations each"
        .formatted(scope, blocks, threads, length());
  }
}
