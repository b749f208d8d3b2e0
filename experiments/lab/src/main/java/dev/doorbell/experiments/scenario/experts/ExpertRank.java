package dev.doorbell.experiments.scenario.experts;

import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.scenario.foreign.ApiAdapter;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one rank, the arguments that the kernels get of it, and what they must leave in it.
 * Names and order of arguments are those of {@code internode_ll.cu}.
 *
 * <p>The symmetric heap has, from its start: counts that a dispatch sends, flags that a combine
 * sends, and the messages of both, each where they are sent from and where they arrive.
 */
final class ExpertRank {
  private static final int ALIGN = 128;
  private static final int SEND_AND_RECEIVE = 3;
  private static final byte[] NO = {0};

  private final ExpertShape shape;
  private final Routing routing;
  private final Rank rank;
  private final Owned owned;
  private final Memory heap;
  private final MemoryRegion region;
  private long heapBytes;
  private final long counts;
  private final long flags;
  private final long dispatchSend;
  private final long combineSend;
  private final long dispatchReceive;
  private final long combineReceive;
  private final Memory tokens;
  private final Memory experts;
  private final Memory weights;
  private final Memory packed;
  private final Memory scales;
  private final Memory sources;
  private final Memory ranges;
  private final Memory received;
  private final Memory outputs;
  private final Memory combined;
  private final Memory workspace;

  ExpertRank(ExpertShape shape, Routing routing, Rank rank, Owned owned) {
    this.shape = shape;
    this.routing = routing;
    this.rank = rank;
    this.owned = owned;
    long all = (long) shape.experts() * shape.tokens();
    counts = place((long) shape.experts() * Integer.BYTES);
    flags = place((long) shape.experts() * Integer.BYTES);
    dispatchSend = place((long) shape.tokens() * shape.dispatchMessage());
    combineSend = place(all * shape.combineMessage());
    dispatchReceive = place(all * shape.dispatchMessage());
    combineReceive = place(all * shape.combineMessage());
    heap = memory(heapBytes, "symmetric heap");
    region = owned.add(rank.domain().register(heap, Endpoint.ALL_RIGHTS));
    tokens = holding(MemorySegment.ofArray(routing.tokens(rank.number())), "tokens");
    experts = holding(MemorySegment.ofArray(routing.experts(rank.number())), "experts of tokens");
    weights = holding(MemorySegment.ofArray(routing.weights(rank.number())), "weights");
    packed = memory(all * shape.packedBytes(), "received tokens");
    scales = memory(all * shape.scales() * Float.BYTES, "received scales");
    sources = memory(all * Integer.BYTES, "numbers of received tokens");
    ranges = memory((long) shape.experts() * Long.BYTES, "ranges of received tokens");
    received = memory((long) shape.localExperts() * Integer.BYTES, "received counts");
    outputs = memory(all * shape.tokenBytes(), "outputs of experts");
    combined = memory((long) shape.tokens() * shape.tokenBytes(), "combined tokens");
    workspace = memory(2L * shape.experts() * Integer.BYTES, "workspace");
  }

  private long place(long bytes) {
    long at = heapBytes;
    heapBytes += (bytes + ALIGN - 1) & -ALIGN;
    return at;
  }

  private Memory memory(long bytes, String label) {
    Gpu gpu = rank.gpu();
    return owned.add(gpu.allocate(MemoryKind.DEVICE, bytes, label));
  }

  private Memory holding(MemorySegment values, String label) {
    Memory memory = memory(values.byteSize(), label);
    memory.write(0, values);
    return memory;
  }

  Rank rank() {
    return rank;
  }

  /** The heap with its lkey. */
  ApiAdapter.Span local() {
    return new ApiAdapter.Span(heap.address(), heap.size(), region.lkey());
  }

  /** The heap with its rkey. */
  ApiAdapter.Span remote() {
    return new ApiAdapter.Span(heap.address(), heap.size(), region.rkey());
  }

  /** Arguments of {@code dispatch}. */
  KernelArguments dispatch() {
    return new KernelArguments()
        .add(packed)
        .add(scales)
        .add(sources)
        .add(ranges)
        .add(received)
        .add(0L) // mask_buffer_ptr
        .add(0L) // cumulative_local_expert_recv_stats
        .add(0L) // dispatch_wait_recv_cost_stats
        .add(heap.address() + dispatchReceive)
        .add(heap.address() + counts)
        .add(heap.address() + dispatchSend)
        .add(tokens)
        .add(experts)
        .add(workspace)
        .add(workspace.address() + (long) shape.experts() * Integer.BYTES)
        .add(heap.address() + flags)
        .add(shape.experts())
        .add(shape.tokens())
        .add(shape.tokens())
        .add(shape.top())
        .add(shape.experts())
        .add(rank.number())
        .add(shape.ranks())
        .add(shape.warpGroups())
        .add(shape.warpsOfGroup())
        .add(NO) // round_scale
        .add(SEND_AND_RECEIVE);
  }

  /** Arguments of {@code combine}. */
  KernelArguments combine() {
    return new KernelArguments()
        .add(combined)
        .add(heap.address() + combineReceive)
        .add(heap.address() + flags)
        .add(heap.address() + combineSend)
        .add(outputs)
        .add(experts)
        .add(weights)
        .add(sources)
        .add(ranges)
        .add(0L) // mask_buffer_ptr
        .add(0L) // combine_wait_recv_cost_stats
        .add(heap.address() + counts)
        .add(shape.experts())
        .add(workspace)
        .add(shape.tokens())
        .add(shape.hidden())
        .add(shape.top())
        .add(shape.tokens())
        .add(shape.experts())
        .add(rank.number())
        .add(shape.ranks())
        .add(shape.warpGroups())
        .add(shape.warpsOfGroup())
        .add(SEND_AND_RECEIVE)
        .add(NO); // zero_copy
  }

  /** Tokens that one rank sent to one expert: rows {@code [begin, begin + count)} of its rows. */
  private record Range(int count, int begin) {}

  private Range range(int local, int from) {
    long packedRange = ranges.getLong(((long) local * shape.ranks() + from) * Long.BYTES);
    return new Range((int) packedRange, (int) (packedRange >>> Integer.SIZE));
  }

  private int number(Memory of, long index) {
    int[] one = new int[1];
    of.read(index * Integer.BYTES, MemorySegment.ofArray(one));
    return one[0];
  }

  /** What a dispatch left otherwise than it should have, or null. */
  @Nullable String wrongDispatch() {
    for (int local = 0; local < shape.localExperts(); local++) {
      int expert = rank.number() * shape.localExperts() + local;
      BitSet taken = new BitSet();
      for (int from = 0; from < shape.ranks(); from++) {
        Range range = range(local, from);
        List<Integer> sent = routing.sent(from, expert);
        if (range.count != sent.size()) {
          return "expert %d has %d tokens of rank %d, which sent %d"
              .formatted(expert, range.count, from, sent.size());
        }
        Set<Integer> missing = new HashSet<>(sent);
        for (int row = range.begin; row < range.begin + range.count; row++) {
          Integer token = number(sources, (long) local * shape.rows() + row);
          if (taken.get(row) || !missing.remove(token)) {
            return "expert %d, row %d: token %d of rank %d, which did not send it there"
                .formatted(expert, row, token, from);
          }
          taken.set(row);
          String wrong = wrongRow(local, row, from, token);
          if (wrong != null) {
            return "expert %d, row %d, token %d of rank %d: %s"
                .formatted(expert, row, token, from, wrong);
          }
        }
      }
      if (number(received, local) != taken.cardinality()) {
        return "expert %d counts %d tokens and has %d"
            .formatted(expert, number(received, local), taken.cardinality());
      }
    }
    return null;
  }

  private @Nullable String wrongRow(int local, int row, int from, int token) {
    long index = (long) local * shape.rows() + row;
    byte[] bytes = packed.getBytes(index * shape.packedBytes(), shape.packedBytes());
    for (int h = 0; h < shape.hidden(); h++) {
      short sent = routing.tokens(from)[token * shape.hidden() + h];
      boolean right =
          shape.fp8()
              ? near(bytes[h], scale(local, row, h), Routing.value(sent))
              : (bytes[2 * h] & 0xff) == (sent & 0xff) && bytes[2 * h + 1] == sent >> Byte.SIZE;
      if (!right) {
        return "element %d is wrong".formatted(h);
      }
    }
    return null;
  }

  /**
   * Scales lie column by column: that of all rows of an expert for the first 128 elements first.
   */
  private float scale(int local, int row, int h) {
    long at = ((long) local * shape.scales() + h / ExpertShape.SCALED) * shape.rows() + row;
    return Float.intBitsToFloat(number(scales, at));
  }

  /** Within half a step of the 8-bit format: 3 bits of fraction, the smallest step 2^-9. */
  private static boolean near(byte e4m3, float scale, float sent) {
    int exponent = e4m3 >>> 3 & 0xf;
    int fraction = e4m3 & 7;
    float magnitude =
        exponent == 0 ? fraction * 0x1p-9f : Math.scalb(1 + fraction / 8f, exponent - 7);
    float value = (e4m3 < 0 ? -magnitude : magnitude) * scale;
    return Math.abs(value - sent) <= Math.abs(sent) / 16 + scale * 0x1p-9f;
  }

  /** Stores what the experts make of the tokens that they have. */
  void compute() {
    for (int local = 0; local < shape.localExperts(); local++) {
      int expert = rank.number() * shape.localExperts() + local;
      for (int from = 0; from < shape.ranks(); from++) {
        Range range = range(local, from);
        for (int row = range.begin; row < range.begin + range.count; row++) {
          long index = (long) local * shape.rows() + row;
          short[] output = routing.expertOutput(from, number(sources, index), expert);
          outputs.write(index * shape.tokenBytes(), MemorySegment.ofArray(output));
        }
      }
    }
  }

  /** What a combine left otherwise than it should have, or null. */
  @Nullable String wrongCombine() {
    for (int token = 0; token < shape.tokens(); token++) {
      short[] found = new short[shape.hidden()];
      combined.read((long) token * shape.tokenBytes(), MemorySegment.ofArray(found));
      short[] expected = routing.combined(rank.number(), token);
      for (int h = 0; h < found.length; h++) {
        if (found[h] != expected[h]) {
          return "token %d, element %d is %s and should be %s"
              .formatted(token, h, Routing.value(found[h]), Routing.value(expected[h]));
        }
      }
    }
    return null;
  }

  /** Forgets what the last exchange left. */
  void clear() {
    combined.fill(0, combined.size(), (byte) 0);
    sources.fill(0, sources.size(), (byte) -1);
    ranges.fill(0, ranges.size(), (byte) -1);
  }
}
