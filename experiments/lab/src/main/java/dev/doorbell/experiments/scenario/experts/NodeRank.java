package dev.doorbell.experiments.scenario.experts;

import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one rank of a node, the arguments that the kernels get of it, and what they must
 * leave in it. Names and order of arguments are those of {@code layout.cu} and {@code
 * intranode.cu}.
 */
final class NodeRank {
  /** {@code num_max_nvl_chunked_send_tokens}: tokens between two updates of a queue's tail. */
  private static final int CHUNK = 6;

  /**
   * {@code num_max_nvl_chunked_recv_tokens}: few, so that queues wrap. A warp that receives reports
   * a head up to 22 tokens behind the one that it waits for, and a sender waits for room for a
   * chunk: with fewer than 22 tokens and a chunk, combine waits for ever.
   */
  private static final int QUEUE = 32;

  /** Counts of tokens of an expert are rounded up to a multiple of it. */
  private static final int ALIGNMENT = 4;

  /** Words of a channel and a rank that a dispatch needs zeroed: start, end, head, tail. */
  private static final int DISPATCH_WORDS = 4;

  /** Those of a combine: head and tail. */
  private static final int COMBINE_WORDS = 2;

  /** What a combine takes for the head of a token behind the last one. */
  private static final int NO_HEAD = 1 << 25;

  private static final int WORDS_OF_INT4 = 8;

  private final ExpertShape shape;
  private final NodePlan plan;
  private final Rank rank;
  private final Owned owned;
  private final int me;
  private final List<NodePlan.Origin> rows;
  private final Memory buffer;
  private final Memory signals;
  private final Memory buffers;
  private final Memory allSignals;
  private final Memory tokens;
  private final Memory experts;
  private final Memory weights;
  private final Memory ofRank;
  private final Memory ofExpert;
  private final Memory goes;
  private final Memory counter;
  private final Memory expertCounters;
  private final Memory rankPrefix;
  private final Memory channelPrefix;
  private final Memory received;
  private final Memory sources;
  private final Memory receivedExperts;
  private final Memory receivedWeights;
  private final Memory receivedChannels;
  private final Memory heads;
  private final Memory outputs;
  private final Memory combined;
  private final Memory combinedWeights;

  NodeRank(ExpertShape shape, NodePlan plan, Rank rank, Owned owned) {
    this.shape = shape;
    this.plan = plan;
    this.rank = rank;
    this.owned = owned;
    me = rank.number();
    rows = plan.rows(me);
    int ranks = shape.ranks();
    int words = plan.channels() * ranks;
    long perToken =
        shape.tokenBytes() + Integer.BYTES + (long) shape.top() * (Long.BYTES + Float.BYTES);
    long matrices = (long) ranks * Math.max(ranks + shape.localExperts(), ranks);
    buffer =
        memory(
            (matrices + (long) DISPATCH_WORDS * words) * Integer.BYTES
                + (long) words * QUEUE * perToken,
            "buffer of the node's ranks");
    signals = numbers(ranks, "barrier signals");
    buffers = memory((long) ranks * Long.BYTES, "buffers of all ranks");
    allSignals = memory((long) ranks * Long.BYTES, "barrier signals of all ranks");
    tokens = holding(MemorySegment.ofArray(plan.routing().tokens(me)), "tokens");
    experts = holding(MemorySegment.ofArray(plan.routing().experts(me)), "experts of tokens");
    weights = holding(MemorySegment.ofArray(plan.routing().weights(me)), "weights");
    ofRank = numbers(ranks, "tokens of each rank");
    ofExpert = numbers(shape.experts(), "tokens of each expert");
    goes = memory((long) shape.tokens() * ranks, "which token goes where");
    counter = host(1, "count of received tokens");
    expertCounters = host(shape.localExperts(), "counts of the experts' tokens");
    rankPrefix = numbers(ranks * ranks, "prefix sums over ranks");
    channelPrefix = numbers(words, "prefix sums over channels");
    int room = Math.max(1, rows.size());
    received = memory((long) room * shape.tokenBytes(), "received tokens");
    sources = numbers(room, "numbers of received tokens");
    receivedExperts = memory((long) room * shape.top() * Long.BYTES, "their experts");
    receivedWeights = memory((long) room * shape.top() * Float.BYTES, "their weights");
    receivedChannels = numbers(words, "where channels begin");
    heads = numbers(shape.tokens() * ranks, "places of tokens in their queues");
    outputs = memory((long) room * shape.tokenBytes(), "outputs");
    combined = memory((long) shape.tokens() * shape.tokenBytes(), "combined tokens");
    combinedWeights = memory((long) shape.tokens() * shape.top() * Float.BYTES, "their weights");
  }

  private Memory memory(long bytes, String label) {
    Memory memory = owned.add(rank.gpu().allocate(MemoryKind.DEVICE, bytes, label));
    memory.fill(0, bytes, (byte) 0);
    return memory;
  }

  private Memory numbers(int count, String label) {
    return memory((long) count * Integer.BYTES, label);
  }

  private Memory host(int count, String label) {
    return owned.add(rank.gpu().allocate(MemoryKind.HOST, (long) count * Integer.BYTES, label));
  }

  private Memory holding(MemorySegment values, String label) {
    Memory memory = memory(values.byteSize(), label);
    memory.write(0, values);
    return memory;
  }

  /** Lists where all ranks' buffers and signals are, as peer access gives their addresses. */
  void connect(List<NodeRank> all) {
    for (int other = 0; other < all.size(); other++) {
      buffers.putLong((long) other * Long.BYTES, all.get(other).buffer.address());
      allSignals.putLong((long) other * Long.BYTES, all.get(other).signals.address());
    }
  }

  /** Arguments of {@code get_dispatch_layout}. */
  KernelArguments layout() {
    return new KernelArguments()
        .add(experts)
        .add(ofRank)
        .add(0L) // num_tokens_per_rdma_rank
        .add(ofExpert)
        .add(goes)
        .add(shape.tokens())
        .add(shape.top())
        .add(shape.ranks())
        .add(shape.experts());
  }

  /** What the layout is otherwise than it should be, or null. */
  @Nullable String wrongLayout() {
    byte[] flags = goes.getBytes(0, shape.tokens() * shape.ranks());
    return first(
        differs("tokens for rank", ofRank, shape.ranks(), to -> plan.sent(me, to).size()),
        differs(
            "tokens for expert",
            ofExpert,
            shape.experts(),
            expert -> plan.routing().sent(me, expert).size()),
        matrix(
            "whether token goes to rank",
            shape.tokens(),
            shape.ranks(),
            (token, to) -> flags[token * shape.ranks() + to],
            (token, to) -> plan.goes(me, token, to) ? 1 : 0));
  }

  /** Arguments of {@code notify_dispatch}; the counters are reset as the host function does. */
  KernelArguments notifyDispatch() {
    counter.fill(0, counter.size(), (byte) -1);
    expertCounters.fill(0, expertCounters.size(), (byte) -1);
    return new KernelArguments()
        .add(ofRank)
        .add(counter)
        .add(ofExpert)
        .add(expertCounters)
        .add(shape.experts())
        .add(shape.tokens())
        .add(plan.channels())
        .add(goes)
        .add(channelPrefix)
        .add(rankPrefix)
        .add(dispatchWords())
        .add(ALIGNMENT)
        .add(buffers)
        .add(allSignals)
        .add(me);
  }

  private int dispatchWords() {
    return DISPATCH_WORDS * plan.channels() * shape.ranks();
  }

  /** What a {@code notify_dispatch} left otherwise than it should have, or null. */
  @Nullable String wrongNotifyDispatch() {
    int first = me * shape.localExperts();
    return first(
        differs("received tokens, counter", counter, 1, _ -> rows.size()),
        differs(
            "counter of local expert",
            expertCounters,
            shape.localExperts(),
            local -> (plan.ofExpert(first + local) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT),
        wrongPrefixes(rankPrefix, "prefix sum over ranks"),
        wrongPrefixes(buffer, "prefix sum over ranks in the buffer"),
        matrix(
            "prefix sum of rank, channel",
            shape.ranks(),
            plan.channels(),
            (to, channel) -> number(channelPrefix, to * plan.channels() + channel),
            (to, channel) -> plan.sent(me, to, channel + 1).size()),
        wrongWords(shape.ranks() * shape.ranks(), dispatchWords()));
  }

  /** Compares the rank's own column, the only one that the kernels fill in and read. */
  private @Nullable String wrongPrefixes(Memory of, String what) {
    return matrix(
        what,
        shape.ranks(),
        1,
        (from, _) -> number(of, from * shape.ranks() + me),
        (from, _) -> plan.prefix(from, me));
  }

  private @Nullable String wrongWords(int first, int count) {
    return matrix("word of a queue", 1, count, (_, i) -> number(buffer, first + i), (_, _) -> 0);
  }

  /** Arguments of {@code cached_notify_dispatch}. */
  KernelArguments cachedNotifyDispatch() {
    return new KernelArguments()
        .add(rankPrefix)
        .add(dispatchWords())
        .add(buffers)
        .add(allSignals)
        .add(me);
  }

  /** What a {@code cached_notify_dispatch} left otherwise than it should have, or null. */
  @Nullable String wrongCachedNotifyDispatch() {
    return first(
        wrongPrefixes(buffer, "prefix sum over ranks in the buffer"),
        wrongWords(shape.ranks() * shape.ranks(), dispatchWords()));
  }

  /**
   * Arguments of {@code dispatch}.
   *
   * @param cached by the matrices of an earlier dispatch, without experts and weights
   */
  KernelArguments dispatch(boolean cached) {
    for (Memory result : List.of(received, sources, receivedExperts, receivedWeights, heads)) {
      result.fill(0, result.size(), (byte) 0x5a);
    }
    KernelArguments arguments =
        new KernelArguments()
            .add(received)
            .add(0L) // recv_x_scales
            .add(sources);
    unless(cached, arguments, receivedExperts);
    unless(cached, arguments, receivedWeights);
    arguments.add(receivedChannels).add(heads).add(tokens).add(0L); // x_scales
    unless(cached, arguments, experts);
    unless(cached, arguments, weights);
    return arguments
        .add(goes)
        .add(channelPrefix)
        .add(shape.tokens())
        .add(0) // num_worst_tokens
        .add(shape.hidden() / WORDS_OF_INT4)
        .add(cached ? 0 : shape.top())
        .add(cached ? 0 : shape.experts())
        .add(0) // num_scales
        .add(0) // scale_token_stride
        .add(0) // scale_hidden_stride
        .add(buffers)
        .add(me)
        .add(CHUNK)
        .add(QUEUE);
  }

  /** Adds a null pointer, or the address of some memory. */
  static void unless(boolean absent, KernelArguments arguments, Memory memory) {
    arguments.add(absent ? 0L : memory.address());
  }

  /** What a {@code dispatch} left otherwise than it should have, or null. */
  @Nullable String wrongDispatch(boolean cached) {
    String wrong =
        first(
            differs("number of row", sources, rows.size(), row -> rows.get(row).token()),
            matrix(
                "begin of rank, channel",
                shape.ranks(),
                plan.channels(),
                (from, channel) -> number(receivedChannels, from * plan.channels() + channel),
                (from, channel) -> plan.sent(from, me, channel).size()),
            matrix(
                "place of token for rank",
                shape.tokens(),
                shape.ranks(),
                (token, to) -> number(heads, token * shape.ranks() + to),
                (token, to) -> plan.head(me, token, to)));
    for (int row = 0; wrong == null && row < rows.size(); row++) {
      wrong = wrongRow(row, cached);
    }
    return wrong;
  }

  private @Nullable String wrongRow(int row, boolean cached) {
    NodePlan.Origin origin = rows.get(row);
    short[] found = new short[shape.hidden()];
    received.read((long) row * shape.tokenBytes(), MemorySegment.ofArray(found));
    int from = origin.token() * shape.hidden();
    short[] sent =
        Arrays.copyOfRange(plan.routing().tokens(origin.rank()), from, from + shape.hidden());
    int at = Arrays.mismatch(found, sent);
    if (at >= 0) {
      return "row %d, element %d is %s and should be %s"
          .formatted(row, at, Routing.value(found[at]), Routing.value(sent[at]));
    }
    int first = me * shape.localExperts();
    for (int k = 0; !cached && k < shape.top(); k++) {
      int expert = plan.expert(origin.rank(), origin.token(), k) - first;
      boolean mine = expert >= 0 && expert < shape.localExperts();
      long index = (long) row * shape.top() + k;
      long gotExpert = receivedExperts.getLong(index * Long.BYTES);
      float gotWeight = real(receivedWeights, index);
      if (gotExpert != (mine ? expert : -1)
          || gotWeight != (mine ? plan.weight(origin.rank(), origin.token(), k) : 0)) {
        return "row %d, choice %d is expert %d with weight %s"
            .formatted(row, k, gotExpert, gotWeight);
      }
    }
    return null;
  }

  /** Stores what the rank makes of the tokens that it has. */
  void compute() {
    short[] output = new short[shape.hidden()];
    for (int row = 0; row < rows.size(); row++) {
      for (int h = 0; h < output.length; h++) {
        output[h] = plan.output(rows.get(row), h, me);
      }
      outputs.write((long) row * shape.tokenBytes(), MemorySegment.ofArray(output));
    }
  }

  /** Arguments of {@code cached_notify_combine}. */
  KernelArguments notifyCombine() {
    return new KernelArguments()
        .add(buffers)
        .add(heads)
        .add(plan.channels())
        .add(shape.tokens())
        .add(COMBINE_WORDS * plan.channels() * shape.ranks())
        .add(allSignals)
        .add(me);
  }

  /** What a {@code cached_notify_combine} left otherwise than it should have, or null. */
  @Nullable String wrongNotifyCombine() {
    return first(
        wrongWords(0, COMBINE_WORDS * plan.channels() * shape.ranks()),
        matrix(
            "place of token for rank",
            shape.tokens(),
            shape.ranks(),
            (token, to) -> number(heads, token * shape.ranks() + to),
            (token, to) -> plan.combinedHead(me, token, to, NO_HEAD)));
  }

  /**
   * Arguments of {@code combine}.
   *
   * @param cached without weights
   */
  KernelArguments combine(boolean cached) {
    combined.fill(0, combined.size(), (byte) 0x5a);
    combinedWeights.fill(0, combinedWeights.size(), (byte) 0x5a);
    KernelArguments arguments = new KernelArguments().add(combined);
    unless(cached, arguments, combinedWeights);
    arguments.add(outputs);
    unless(cached, arguments, receivedWeights);
    return arguments
        .add(0L) // bias_0
        .add(0L) // bias_1
        .add(sources)
        .add(rankPrefix)
        .add(receivedChannels)
        .add(heads)
        .add(rows.size())
        .add(shape.tokens())
        .add(shape.hidden())
        .add(cached ? 0 : shape.top())
        .add(buffers)
        .add(me)
        .add(CHUNK)
        .add(QUEUE);
  }

  /** What a {@code combine} left otherwise than it should have, or null. */
  @Nullable String wrongCombine(boolean cached) {
    short[] found = new short[shape.hidden()];
    for (int token = 0; token < shape.tokens(); token++) {
      combined.read((long) token * shape.tokenBytes(), MemorySegment.ofArray(found));
      for (int h = 0; h < found.length; h++) {
        short expected = plan.combined(me, token, h);
        if (found[h] != expected) {
          return "token %d, element %d is %s and should be %s"
              .formatted(token, h, Routing.value(found[h]), Routing.value(expected));
        }
      }
      for (int k = 0; !cached && k < shape.top(); k++) {
        float weight = real(combinedWeights, (long) token * shape.top() + k);
        if (weight != plan.weight(me, token, k)) {
          return "token %d, weight %d is %s and should be %s"
              .formatted(token, k, weight, plan.weight(me, token, k));
        }
      }
    }
    return null;
  }

  /** Number {@code index} of 32 bits. */
  static int number(Memory of, long index) {
    int[] one = new int[1];
    of.read(index * Integer.BYTES, MemorySegment.ofArray(one));
    return one[0];
  }

  private static float real(Memory of, long index) {
    return Float.intBitsToFloat(number(of, index));
  }

  /** The first that is not null. */
  static @Nullable String first(@Nullable String... problems) {
    for (String problem : problems) {
      if (problem != null) {
        return problem;
      }
    }
    return null;
  }

  /** What names the first of some numbers that is not as it should be, or null. */
  static @Nullable String differs(String what, Memory of, int count, IntUnaryOperator expected) {
    for (int i = 0; i < count; i++) {
      int found = number(of, i);
      if (found != expected.applyAsInt(i)) {
        return "%s %d is %d and should be %d".formatted(what, i, found, expected.applyAsInt(i));
      }
    }
    return null;
  }

  /** As {@link #differs}, in two dimensions. */
  static @Nullable String matrix(
      String what, int height, int width, IntBinaryOperator found, IntBinaryOperator expected) {
    for (int row = 0; row < height; row++) {
      for (int column = 0; column < width; column++) {
        int here = found.applyAsInt(row, column);
        int right = expected.applyAsInt(row, column);
        if (here != right) {
          return "%s %d, %d is %d and should be %d".formatted(what, row, column, here, right);
        }
      }
    }
    return null;
  }
}
