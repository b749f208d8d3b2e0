package dev.doorbell.experiments.scenario.experts;

import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.scenario.foreign.SymmetricHeap;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one rank of several nodes, the arguments that the notify kernels get of it, and
 * what they must leave in it. Names and order of arguments are those of {@code internode.cu}.
 *
 * <p>The rank's node is {@code number / 8}. The buffer for RDMA lies in the symmetric heap, the
 * other one is reached by the ranks of the same node.
 */
final class ClusterRank {
  /** {@code LEGACY_NUM_MAX_NVL_PEERS}: ranks of a node. */
  static final int PEERS = 8;

  /** Tokens of a queue, over NVLink and over RDMA. */
  private static final int QUEUE = 16;

  private static final int ALIGNMENT = 4;
  private static final int NO_HEAD = 1 << 25;
  private static final int SOURCE_META = 8;
  private static final int INT4 = 16;
  private static final byte STALE = 0x5a;

  private final ExpertShape shape;
  private final NodePlan plan;
  private final Rank rank;
  private final Owned owned;
  private final int me;
  private final int node;
  private final int nodes;
  private final int team;
  private final Memory rdma;
  private final Memory shared;
  private final Memory signals;
  private final Memory buffers;
  private final Memory allSignals;
  private final Memory experts;
  private final Memory ofRank;
  private final Memory ofNode;
  private final Memory ofExpert;
  private final Memory goes;
  private final Memory counter;
  private final Memory nodeCounter;
  private final Memory expertCounters;
  private final Memory nodeChannels;
  private final Memory nodePrefix;
  private final Memory channels;
  private final Memory prefix;
  private final int[] arrivingChannels;
  private final int[] arrivingPrefix;
  private final int[] sentHeads;
  private final int[] arrivingHeads;
  private final Memory arrivingChannelsMemory;
  private final Memory arrivingPrefixMemory;
  private final Memory sentHeadsMemory;
  private final Memory arrivingHeadsMemory;

  /**
   * Allocates it.
   *
   * @param team NVSHMEM's number of the team of ranks with the same number in their nodes
   */
  ClusterRank(
      ExpertShape shape, NodePlan plan, Rank rank, SymmetricHeap heap, int team, Owned owned) {
    this.shape = shape;
    this.plan = plan;
    this.rank = rank;
    this.team = team;
    this.owned = owned;
    me = rank.number();
    node = me / PEERS;
    nodes = shape.ranks() / PEERS;
    rdma = heap.allocate(rdmaBytes(shape, plan.channels()), "buffer for RDMA");
    Cleaned cleaned = cleaned(true);
    shared =
        memory((long) (cleaned.shared + cleaned.sharedWords) * Integer.BYTES, "buffer of the node");
    signals = numbers(PEERS, "barrier signals");
    buffers = memory((long) PEERS * Long.BYTES, "buffers of the node's ranks");
    allSignals = memory((long) PEERS * Long.BYTES, "barrier signals of the node's ranks");
    experts = holding(MemorySegment.ofArray(plan.routing().experts(me)), "experts of tokens");
    ofRank = numbers(shape.ranks(), "tokens of each rank");
    ofNode = numbers(nodes, "tokens of each node");
    ofExpert = numbers(shape.experts(), "tokens of each expert");
    goes = memory((long) shape.tokens() * shape.ranks(), "which token goes where");
    counter = host(1, "count of received tokens");
    nodeCounter = host(1, "count of tokens received by RDMA");
    expertCounters = host(shape.localExperts(), "counts of the experts' tokens");
    nodeChannels = numbers(nodes * plan.channels(), "prefix sums over channels, by node");
    nodePrefix = numbers(nodes, "prefix sums over nodes");
    channels = numbers(shape.ranks() * plan.channels(), "prefix sums over channels, by rank");
    prefix = numbers(shape.ranks(), "prefix sums over ranks");
    arrivingChannels =
        each(nodes * plan.channels(), i -> arriving(i / plan.channels(), i % plan.channels() + 1));
    arrivingPrefix = each(nodes, i -> IntStream.rangeClosed(0, i).map(this::arriving).sum());
    sentHeads = sentHeads();
    arrivingHeads = arrivingHeads();
    arrivingChannelsMemory = holding(MemorySegment.ofArray(arrivingChannels), "arriving channels");
    arrivingPrefixMemory = holding(MemorySegment.ofArray(arrivingPrefix), "arriving tokens");
    sentHeadsMemory = holding(MemorySegment.ofArray(sentHeads), "places of sent tokens");
    arrivingHeadsMemory =
        holding(
            MemorySegment.ofArray(arrivingHeads.length == 0 ? new int[PEERS] : arrivingHeads),
            "places of arriving tokens");
  }

  private static int[] each(int count, IntUnaryOperator value) {
    return IntStream.range(0, count).map(value).toArray();
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

  Rank rank() {
    return rank;
  }

  /** Lists where the buffers and signals of the node's ranks are. */
  void connect(List<ClusterRank> all) {
    for (int peer = 0; peer < PEERS; peer++) {
      ClusterRank other = all.get(node * PEERS + peer);
      buffers.putLong((long) peer * Long.BYTES, other.shared.address());
      allSignals.putLong((long) peer * Long.BYTES, other.signals.address());
    }
  }

  /**
   * What a notify zeroes, in words: begin and length in both buffers (source: {@code
   * get_rdma_clean_meta}, {@code get_nvl_clean_meta}).
   */
  private record Cleaned(int rdma, int rdmaWords, int shared, int sharedWords) {
    static Cleaned of(ExpertShape shape, int channels, int experts) {
      int bytes = shape.tokenBytes() + SOURCE_META + (experts + shape.top()) * Integer.BYTES;
      int token = (bytes + INT4 - 1) / INT4 * INT4;
      int nodes = shape.ranks() / PEERS;
      return new Cleaned(
          token * QUEUE * nodes * 2 * channels / Integer.BYTES,
          (PEERS * 2 + 4) * nodes * 2 * channels,
          token * QUEUE * PEERS * channels / Integer.BYTES,
          PEERS * (2 * nodes + 2) * channels);
    }
  }

  /**
   * Of a dispatch, whose messages have experts and weights, or of a combine, with weights alone.
   */
  private Cleaned cleaned(boolean dispatch) {
    return Cleaned.of(shape, plan.channels(), dispatch ? shape.top() : 0);
  }

  /** The bytes of the buffer for RDMA. */
  static long rdmaBytes(ExpertShape shape, int channels) {
    Cleaned cleaned = Cleaned.of(shape, channels, shape.top());
    return (long) (cleaned.rdma + cleaned.rdmaWords) * Integer.BYTES;
  }

  private boolean goesToNode(int from, int token, int to) {
    return IntStream.range(to * PEERS, (to + 1) * PEERS).anyMatch(r -> plan.goes(from, token, r));
  }

  /** Tokens of the first {@code before} channels of a rank that go to a node. */
  private int toNode(int from, int to, int before) {
    return (int)
        IntStream.range(0, plan.start(before)).filter(t -> goesToNode(from, t, to)).count();
  }

  /** Tokens that the rank with the same number in another node sends here. */
  private int arriving(int from) {
    return arriving(from, plan.channels());
  }

  private int arriving(int from, int before) {
    return toNode(from * PEERS + me % PEERS, node, before);
  }

  /** Arguments of {@code get_dispatch_layout}. */
  KernelArguments layout() {
    return new KernelArguments()
        .add(experts)
        .add(ofRank)
        .add(ofNode)
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
    return NodeRank.first(
        NodeRank.differs("tokens for rank", ofRank, shape.ranks(), to -> plan.sent(me, to).size()),
        NodeRank.differs("tokens for node", ofNode, nodes, to -> toNode(me, to, plan.channels())),
        NodeRank.differs(
            "tokens for expert",
            ofExpert,
            shape.experts(),
            expert -> plan.routing().sent(me, expert).size()),
        NodeRank.matrix(
            "whether token goes to rank",
            shape.tokens(),
            shape.ranks(),
            (token, to) -> flags[token * shape.ranks() + to],
            (token, to) -> plan.goes(me, token, to) ? 1 : 0));
  }

  /** Fills what a kernel has to zero with something else. */
  private void soil(Cleaned cleaned) {
    rdma.fill((long) cleaned.rdma * Integer.BYTES, (long) cleaned.rdmaWords * Integer.BYTES, STALE);
    shared.fill(
        (long) cleaned.shared * Integer.BYTES, (long) cleaned.sharedWords * Integer.BYTES, STALE);
  }

  private @Nullable String wrongZeros(Cleaned cleaned) {
    return NodeRank.first(
        NodeRank.matrix(
            "word of the buffer for RDMA",
            1,
            cleaned.rdmaWords,
            (_, i) -> NodeRank.number(rdma, cleaned.rdma + i),
            (_, _) -> 0),
        NodeRank.matrix(
            "word of the node's buffer",
            1,
            cleaned.sharedWords,
            (_, i) -> NodeRank.number(shared, cleaned.shared + i),
            (_, _) -> 0));
  }

  /** Arguments of {@code notify_dispatch}; the counters are reset as the host function does. */
  KernelArguments notifyDispatch() {
    for (Memory memory : List.of(counter, nodeCounter, expertCounters)) {
      memory.fill(0, memory.size(), (byte) -1);
    }
    Cleaned cleaned = cleaned(true);
    soil(cleaned);
    return new KernelArguments()
        .add(ofRank)
        .add(counter)
        .add(shape.ranks())
        .add(ofNode)
        .add(nodeCounter)
        .add(ofExpert)
        .add(expertCounters)
        .add(shape.experts())
        .add(goes)
        .add(shape.tokens())
        .add(0) // num_worst_tokens
        .add(plan.channels())
        .add(ALIGNMENT)
        .add(cleaned.rdma)
        .add(cleaned.rdmaWords)
        .add(cleaned.shared)
        .add(cleaned.sharedWords)
        .add(nodeChannels)
        .add(nodePrefix)
        .add(channels)
        .add(prefix)
        .add(rdma)
        .add(buffers)
        .add(allSignals)
        .add(me)
        .add(team);
  }

  /** What a {@code notify_dispatch} left otherwise than it should have, or null. */
  @Nullable String wrongNotifyDispatch() {
    int first = me * shape.localExperts();
    return NodeRank.first(
        NodeRank.differs("counter", counter, 1, _ -> plan.prefix(shape.ranks() - 1, me)),
        NodeRank.differs("counter of RDMA", nodeCounter, 1, _ -> arrivingPrefix[nodes - 1]),
        NodeRank.differs(
            "counter of local expert",
            expertCounters,
            shape.localExperts(),
            local -> (plan.ofExpert(first + local) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT),
        NodeRank.differs("prefix sum of node", nodePrefix, nodes, i -> arrivingPrefix[i]),
        NodeRank.differs("prefix sum of rank", prefix, shape.ranks(), i -> plan.prefix(i, me)),
        NodeRank.differs(
            "prefix sum of node and channel",
            nodeChannels,
            nodes * plan.channels(),
            i -> toNode(me, i / plan.channels(), i % plan.channels() + 1)),
        NodeRank.differs(
            "prefix sum of rank and channel",
            channels,
            shape.ranks() * plan.channels(),
            i -> plan.sent(me, i / plan.channels(), i % plan.channels() + 1).size()),
        wrongZeros(cleaned(true)));
  }

  /**
   * Arguments of {@code cached_notify}.
   *
   * @param dispatch before a dispatch, not before a combine
   */
  KernelArguments cachedNotify(boolean dispatch) {
    Cleaned cleaned = cleaned(dispatch);
    soil(cleaned);
    KernelArguments arguments =
        new KernelArguments()
            .add(cleaned.rdma)
            .add(cleaned.rdmaWords)
            .add(cleaned.shared)
            .add(cleaned.sharedWords);
    NodeRank.unless(dispatch, arguments, sentHeadsMemory);
    arguments.add(dispatch ? 0 : shape.tokens()).add(plan.channels());
    NodeRank.unless(dispatch, arguments, arrivingChannelsMemory);
    NodeRank.unless(dispatch, arguments, arrivingPrefixMemory);
    NodeRank.unless(dispatch, arguments, arrivingHeadsMemory);
    return arguments
        .add(rdma)
        .add(buffers)
        .add(allSignals)
        .add(me)
        .add(shape.ranks())
        .add(new byte[] {(byte) (dispatch ? 1 : 0)})
        .add(team);
  }

  /** What a {@code cached_notify} left otherwise than it should have, or null. */
  @Nullable String wrongCachedNotify(boolean dispatch) {
    String zeros = wrongZeros(cleaned(dispatch));
    if (dispatch || zeros != null) {
      return zeros;
    }
    int[] sent = sentHeads.clone();
    int[] arrived = arrivingHeads.clone();
    for (int channel = 0; channel < plan.channels(); channel++) {
      for (int to = 0; to < nodes; to++) {
        link(sent, plan.start(channel), plan.start(channel + 1), nodes, to);
        for (int peer = 0; peer < PEERS; peer++) {
          link(arrived, row(to, channel), row(to, channel + 1), PEERS, peer);
        }
      }
    }
    return NodeRank.first(
        NodeRank.differs("place of sent token", sentHeadsMemory, sent.length, i -> sent[i]),
        NodeRank.differs(
            "place of arriving token", arrivingHeadsMemory, arrived.length, i -> arrived[i]));
  }

  /** The first row of what arrives from a node through a channel. */
  private int row(int from, int channel) {
    int first = from == 0 ? 0 : arrivingPrefix[from - 1];
    return first + (channel == 0 ? 0 : arrivingChannels[from * plan.channels() + channel - 1]);
  }

  /** Replaces each -1 of a column by what names the next place behind it. */
  private static void link(int[] heads, int begin, int end, int width, int column) {
    int next = NO_HEAD;
    for (int row = end - 1; row >= begin; row--) {
      int at = row * width + column;
      if (heads[at] < 0) {
        heads[at] = -next - 1;
      } else {
        next = heads[at];
      }
    }
  }

  /** For each token and node the token's place in its channel's queue, or -1. */
  private int[] sentHeads() {
    int[] heads = new int[shape.tokens() * nodes];
    Arrays.fill(heads, -1);
    for (int channel = 0; channel < plan.channels(); channel++) {
      for (int to = 0; to < nodes; to++) {
        int next = 0;
        for (int token = plan.start(channel); token < plan.start(channel + 1); token++) {
          if (goesToNode(me, token, to)) {
            heads[token * nodes + to] = next++;
          }
        }
      }
    }
    return heads;
  }

  /** For each token that arrives by RDMA and rank of the node its place in a queue, or -1. */
  private int[] arrivingHeads() {
    int[] heads = new int[arrivingPrefix[nodes - 1] * PEERS];
    Arrays.fill(heads, -1);
    for (int from = 0; from < nodes; from++) {
      int sender = from * PEERS + me % PEERS;
      for (int channel = 0; channel < plan.channels(); channel++) {
        int row = row(from, channel);
        int[] next = new int[PEERS];
        for (int token = plan.start(channel); token < plan.start(channel + 1); token++) {
          if (goesToNode(sender, token, node)) {
            for (int peer = 0; peer < PEERS; peer++) {
              if (plan.goes(sender, token, node * PEERS + peer)) {
                heads[row * PEERS + peer] = next[peer]++;
              }
            }
            row++;
          }
        }
      }
    }
    return heads;
  }
}
