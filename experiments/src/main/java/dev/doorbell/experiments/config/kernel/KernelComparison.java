package dev.doorbell.experiments.config.kernel;

import java.util.List;

/**
 * How a kernel is compared between two GPUs: what its parameters are taken from, and what of the
 * memory that it leaves is chance. Lists that are empty leave the choice to whoever compares.
 *
 * @param posts what of the rings is the same
 * @param blocks of the grid
 * @param threads of a block
 * @param sizes bytes of a message, multiples of 8
 * @param windows messages in flight
 * @param iterations of each poster
 * @param queuePairs between two ranks
 * @param ranks of a kernel that runs at all of them
 * @param scopes words of {@code job.scope}
 * @param opcodes words of {@code job.opcode}
 * @param chance places whose contents depend on chance
 */
public record KernelComparison(
    Posts posts,
    List<Integer> blocks,
    List<Integer> threads,
    List<Integer> sizes,
    List<Integer> windows,
    List<Integer> iterations,
    List<Integer> queuePairs,
    List<Integer> ranks,
    List<String> scopes,
    List<String> opcodes,
    List<Chance> chance) {

  /** The part of the send and completion rings that is equal on any GPU. */
  public enum Posts {
    /** Each WQE and each CQE in its place. */
    ORDERED,
    /** The same WQEs in any order. */
    UNORDERED,
    /** That there is no error. */
    ANY
  }

  /**
   * A place whose contents are chance.
   *
   * @param memory {@code payload} or {@code inbox}, of each message in it; {@code signals} or
   *     {@code status}, of all words
   * @param rank where, or {@link #EACH_RANK}
   * @param from first byte; negative ones count from the end
   * @param bytes how many at most
   * @param why in words
   */
  public record Chance(String memory, int rank, long from, long bytes, String why) {
    public static final int EACH_RANK = -1;

    /** Whether it speaks of a memory. */
    public boolean isOf(String name, int where) {
      return memory.equals(name) && (rank == EACH_RANK || rank == where);
    }
  }

  public KernelComparison {
    blocks = List.copyOf(blocks);
    threads = List.copyOf(threads);
    sizes = List.copyOf(sizes);
    windows = List.copyOf(windows);
    iterations = List.copyOf(iterations);
    queuePairs = List.copyOf(queuePairs);
    ranks = List.copyOf(ranks);
    scopes = List.copyOf(scopes);
    opcodes = List.copyOf(opcodes);
    chance = List.copyOf(chance);
  }
}
