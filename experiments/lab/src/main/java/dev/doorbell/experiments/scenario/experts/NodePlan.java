package dev.doorbell.experiments.scenario.experts;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Which token goes to which rank through which channel, and what the matrices of DeepEP's notify
 * kernels must be, by plain loops over the routing.
 *
 * <p>A token goes once to each rank that has one of its experts. The tokens of a rank are cut into
 * as many ranges of equal length as there are channels; the last ones may be shorter or empty.
 *
 * @param channels of each rank
 */
record NodePlan(ExpertShape shape, Routing routing, int channels) {
  /** The first token of a channel. */
  int start(int channel) {
    int each = (shape.tokens() + channels - 1) / channels;
    return Math.min(each * channel, shape.tokens());
  }

  /** Returns true if rank {@code from} sends a token to rank {@code to}. */
  boolean goes(int from, int token, int to) {
    return IntStream.range(0, shape.top())
        .anyMatch(k -> expert(from, token, k) / shape.localExperts() == to);
  }

  /** Expert {@code k} of a token. */
  int expert(int from, int token, int k) {
    return (int) routing.experts(from)[token * shape.top() + k];
  }

  /** Its weight. */
  float weight(int from, int token, int k) {
    return routing.weights(from)[token * shape.top() + k];
  }

  /** The tokens that go from one rank to another, in order. */
  List<Integer> sent(int from, int to) {
    return sent(from, to, channels);
  }

  /** Those of them that go through the first {@code before} channels. */
  List<Integer> sent(int from, int to, int before) {
    return IntStream.range(0, start(before))
        .filter(token -> goes(from, token, to))
        .boxed()
        .toList();
  }

  /** How many tokens the ranks up to {@code last} send to a rank. */
  int prefix(int last, int to) {
    return IntStream.rangeClosed(0, last).map(from -> sent(from, to).size()).sum();
  }

  /** The senders and the numbers of the tokens that a rank receives, in the order of its rows. */
  List<Origin> rows(int to) {
    List<Origin> rows = new ArrayList<>();
    for (int from = 0; from < shape.ranks(); from++) {
      for (int token : sent(from, to)) {
        rows.add(new Origin(from, token));
      }
    }
    return rows;
  }

  /** A token of a rank. */
  record Origin(int rank, int token) {}

  /** How many tokens of all ranks go to an expert. */
  int ofExpert(int expert) {
    return IntStream.range(0, shape.ranks()).map(from -> routing.sent(from, expert).size()).sum();
  }

  /** The place of a token among those of its channel that go to a rank; -1 if it does not. */
  int head(int from, int token, int to) {
    return goes(from, token, to)
        ? (int) IntStream.range(start(channel(token)), token).filter(i -> goes(from, i, to)).count()
        : -1;
  }

  /**
   * What the notify of a combine makes of a head: -1 becomes {@code -next - 1}, where next is the
   * head of the next token of the channel that goes to the rank, or {@code none}.
   */
  int combinedHead(int from, int token, int to, int none) {
    int head = head(from, token, to);
    if (head >= 0) {
      return head;
    }
    int next =
        IntStream.range(token, start(channel(token) + 1))
            .filter(i -> goes(from, i, to))
            .map(i -> head(from, i, to))
            .findFirst()
            .orElse(none);
    return -next - 1;
  }

  private int channel(int token) {
    return IntStream.range(0, channels).filter(c -> token < start(c + 1)).findFirst().orElseThrow();
  }

  /** What a rank makes of a token that it received. */
  short output(Origin origin, int h, int at) {
    return routing.output(origin.rank, origin.token, h, at);
  }

  /** The sum of what the ranks of a token made of it, in the order of the ranks. */
  short combined(int rank, int token, int h) {
    float sum = 0;
    for (int to = 0; to < shape.ranks(); to++) {
      if (goes(rank, token, to)) {
        sum += Routing.value(output(new Origin(rank, token), h, to));
      }
    }
    return Routing.bits(sum);
  }
}
