package dev.doorbell.experiments.scenario.experts;

import java.util.Optional;

/**
 * The size of an exchange and of its launches.
 *
 * @param tokens of each rank
 * @param hidden elements of a token, of 2 bytes
 * @param top experts that each token goes to
 * @param experts of all ranks together
 * @param multiprocessors that the launches are laid out for: fewer make fewer, fuller blocks
 * @param fp8 tokens travel to the experts as 8-bit floats with a scale for each 128
 */
public record ExpertShape(
    int ranks, int tokens, int hidden, int top, int experts, int multiprocessors, boolean fp8) {
  /** Warps of a block (source: {@code internode_ll.cu}, both host functions). */
  private static final int WARPS = 32;

  /** {@code kNumMaxTopK} of both host functions. */
  private static final int MOST_TOP = 11;

  /** Both kernels assert fewer than this many warp groups in a block. */
  private static final int TOO_MANY_GROUPS = 15;

  /** Elements that share a scale. */
  static final int SCALED = 128;

  private static final int SEND_UNROLLS = 4;
  private static final int STAGES = 3;
  private static final int MOST_GROUPS = 2;
  private static final int INT4 = 16;

  /** What the kernels or their host functions would assert, or nothing. */
  public Optional<String> problem() {
    String problem = null;
    if (ranks < 2) {
      problem = "%d ranks; an exchange needs two".formatted(ranks);
    } else if (experts % ranks != 0) {
      problem = "%d experts on %d ranks; each rank has as many".formatted(experts, ranks);
    } else if (top < 1 || top > Math.min(MOST_TOP, experts)) {
      problem = "top %d; it is at least 1 and at most %d".formatted(top, MOST_TOP);
    } else if (hidden % (2 * SCALED) != 0) {
      problem = "hidden %d; it is a multiple of %d".formatted(hidden, 2 * SCALED);
    } else if (tokens < 1) {
      problem = "%d tokens; a rank has at least 1".formatted(tokens);
    } else if (multiprocessors < 2 || experts < 2 || warpGroups() >= TOO_MANY_GROUPS) {
      problem =
          "%d experts on %d multiprocessors; the kernels serve at most %d with each, on at least 2"
              .formatted(experts, multiprocessors, TOO_MANY_GROUPS - 1);
    }
    return Optional.ofNullable(problem);
  }

  int localExperts() {
    return experts / ranks;
  }

  int warpGroups() {
    return ceilDiv(experts, multiprocessors);
  }

  int warpsOfGroup() {
    return WARPS / warpGroups();
  }

  int threads() {
    return warpGroups() * warpsOfGroup() * WARPS;
  }

  int dispatchBlocks() {
    return ceilDiv(experts, warpGroups());
  }

  int combineBlocks() {
    int tokensOfBlock = ceilDiv(tokens, multiprocessors);
    return Math.max(dispatchBlocks(), ceilDiv(tokens, tokensOfBlock));
  }

  /** Dynamic shared memory of a block that combines. */
  int combineShared() {
    int meta = hidden / SCALED * Integer.BYTES;
    int send = threads() / WARPS * (STAGES * (WARPS * INT4 * SEND_UNROLLS + INT4) + meta);
    int group = STAGES * (INT4 + tokenBytes()) + tokenBytes() + STAGES * meta * 3;
    return Math.max(send, MOST_GROUPS * group);
  }

  /** Bytes of a token where it is computed with. */
  int tokenBytes() {
    return hidden * Short.BYTES;
  }

  /** Bytes of a token as its expert gets it. */
  int packedBytes() {
    return fp8 ? hidden : tokenBytes();
  }

  int scales() {
    return hidden / SCALED;
  }

  /** Bytes of a message of a dispatch: the token's number, its elements, their scales. */
  int dispatchMessage() {
    return INT4 + packedBytes() + (fp8 ? scales() * Float.BYTES : 0);
  }

  /** Bytes of a message of a combine. */
  int combineMessage() {
    return tokenBytes() + scales() * Integer.BYTES;
  }

  /** Rows that each expert of a rank has for tokens: those of all ranks. */
  int rows() {
    return ranks * tokens;
  }

  private static int ceilDiv(int a, int b) {
    return (a + b - 1) / b;
  }
}
