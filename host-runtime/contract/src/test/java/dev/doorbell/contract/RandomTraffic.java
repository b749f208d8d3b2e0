package dev.doorbell.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random requests of every opcode from one endpoint to another, beside a model of both buffers that
 * is two byte arrays. Every request is fenced, so that the model is sequential.
 */
public final class RandomTraffic {
  private static final int BYTES = 1 << 16;
  private static final int LARGEST = 12_000;
  private static final int LARGEST_INLINE = 220;
  private static final int LARGEST_INLINE_PIECE = 64;
  private static final int MOST_BLOCKS = 4;

  private final HcaWorld world;
  private final Endpoint a;
  private final Endpoint b;
  private final long seed;
  private final Random random;
  private final List<Integer> opcodes;
  private final byte[] modelA = new byte[BYTES];
  private final byte[] modelB = new byte[BYTES];
  private final List<Integer> posted = new ArrayList<>();
  private final List<Long> indices = new ArrayList<>();
  private int receives;

  public RandomTraffic(HcaWorld world, Endpoint a, Endpoint b, long seed) {
    this.world = world;
    this.a = a;
    this.b = b;
    this.seed = seed;
    this.random = new Random(seed);
    this.opcodes =
        new ArrayList<>(
            List.of(
                Opcode.NOP,
                Opcode.RDMA_WRITE,
                Opcode.RDMA_WRITE_IMM,
                Opcode.RDMA_READ,
                Opcode.SEND,
                Opcode.SEND_IMM,
                Opcode.ATOMIC_FA,
                Opcode.ATOMIC_CS,
                Opcode.ATOMIC_MASKED_FA,
                Opcode.ATOMIC_MASKED_CS,
                Opcode.DUMP));
    if (world.lacks().contains(HcaWorld.Feature.MASKED_ATOMICS)) {
      opcodes.removeAll(List.of(Opcode.ATOMIC_MASKED_FA, Opcode.ATOMIC_MASKED_CS));
    }
    if (world.lacks().contains(HcaWorld.Feature.DUMP)) {
      opcodes.remove(Integer.valueOf(Opcode.DUMP));
    }
  }

  public void run(int rounds) {
    random.nextBytes(modelA);
    random.nextBytes(modelB);
    a.buffer.putBytes(0, modelA);
    b.buffer.putBytes(0, modelB);
    int blocks = a.queuePair.attributes().sendBlocks();
    for (int round = 0; round < rounds; round++) {
      int burst = 1 + random.nextInt(Math.max(1, blocks / MOST_BLOCKS));
      for (int i = 0; i < burst; i++) {
        post();
      }
      a.record();
      a.ring();
      for (int i = 0; i < posted.size(); i++) {
        Endpoint.Completion completion = a.pollSend();
        assertThat(completion.opcode())
            .as("seed %d round %d request %d: %s", seed, round, i, completion)
            .isEqualTo(Cqe.REQUESTER);
        assertThat(completion.wqeOpcode()).as("seed %d", seed).isEqualTo(posted.get(i));
        assertThat(completion.counter())
            .as("seed %d", seed)
            .isEqualTo((int) (indices.get(i) & 0xffff));
      }
      posted.clear();
      indices.clear();
      for (; receives > 0; receives--) {
        assertThat(b.pollReceive().isError()).as("seed %d", seed).isFalse();
      }
      world.settle();
      assertThat(b.buffer.getBytes(0, BYTES))
          .as("target, seed %d round %d", seed, round)
          .isEqualTo(modelB);
      assertThat(a.buffer.getBytes(0, BYTES))
          .as("source, seed %d round %d", seed, round)
          .isEqualTo(modelA);
    }
  }

  private void post() {
    int opcode = opcodes.get(random.nextInt(opcodes.size()));
    EndpointWqe wqe =
        a.wqe(opcode)
            .flags(ControlSegment.CQ_UPDATE | ControlSegment.FENCE_READS)
            .immediate(random.nextInt());
    switch (opcode) {
      case Opcode.NOP -> {}
      case Opcode.RDMA_READ -> read(wqe);
      case Opcode.DUMP -> wqe.local(random.nextInt(BYTES - LARGEST), 1 + random.nextInt(LARGEST));
      case Opcode.RDMA_WRITE, Opcode.RDMA_WRITE_IMM -> {
        int to = random.nextInt(BYTES - LARGEST);
        wqe.remote(b.address(to), b.region.rkey());
        byte[] payload = payload(wqe);
        System.arraycopy(payload, 0, modelB, to, payload.length);
        if (opcode == Opcode.RDMA_WRITE_IMM) {
          b.postReceive(0, 1);
          receives++;
        }
      }
      case Opcode.SEND, Opcode.SEND_IMM -> {
        int to = random.nextInt(BYTES - LARGEST);
        b.postReceive(to, LARGEST);
        receives++;
        byte[] payload = payload(wqe);
        System.arraycopy(payload, 0, modelB, to, payload.length);
      }
      default -> atomic(opcode, wqe);
    }
    indices.add(wqe.write());
    posted.add(opcode);
  }

  /** Random payload of the source: inline, or up to three pieces, some of which are inline. */
  private byte[] payload(EndpointWqe wqe) {
    if (random.nextInt(3) == 0) {
      byte[] inline = new byte[random.nextInt(LARGEST_INLINE + 1)];
      random.nextBytes(inline);
      wqe.inline(inline);
      return inline;
    }
    ByteBuffer all = ByteBuffer.allocate(LARGEST);
    int pieces = 1 + random.nextInt(3);
    for (int i = 0; i < pieces; i++) {
      int bytes = size();
      if (bytes <= LARGEST_INLINE_PIECE && random.nextInt(3) == 0) {
        byte[] inline = new byte[bytes];
        random.nextBytes(inline);
        wqe.inline(inline);
        all.put(inline);
        continue;
      }
      int from = random.nextInt(BYTES - bytes);
      wqe.local(from, bytes);
      all.put(modelA, from, bytes);
    }
    byte[] payload = new byte[all.position()];
    all.flip().get(payload);
    return payload;
  }

  private int size() {
    int largest = random.nextInt(4) == 0 ? LARGEST / 3 : 64;
    return random.nextInt(largest + 1);
  }

  private void read(EndpointWqe wqe) {
    int pieces = 1 + random.nextInt(3);
    int[] sizes = new int[pieces];
    int total = 0;
    for (int i = 0; i < pieces; i++) {
      sizes[i] = size();
      total += sizes[i];
    }
    int from = random.nextInt(BYTES - total);
    wqe.remote(b.address(from), b.region.rkey());
    byte[] got = java.util.Arrays.copyOfRange(modelB, from, from + total);
    int at = 0;
    for (int bytes : sizes) {
      int to = random.nextInt(BYTES - LARGEST);
      wqe.local(to, bytes);
      System.arraycopy(got, at, modelA, to, bytes);
      at += bytes;
    }
  }

  private void atomic(int opcode, EndpointWqe wqe) {
    boolean masked = opcode == Opcode.ATOMIC_MASKED_CS || opcode == Opcode.ATOMIC_MASKED_FA;
    int cell = masked && random.nextBoolean() ? 4 : 8;
    long mask = cell == 8 ? -1L : 0xffff_ffffL;
    int at = random.nextInt(BYTES / 8) * 8;
    int to = random.nextInt(BYTES - 8);
    ByteBuffer target = ByteBuffer.wrap(modelB).order(ByteOrder.LITTLE_ENDIAN);
    long old = (cell == 8 ? target.getLong(at) : target.getInt(at)) & mask;
    long operand = random.nextLong() & mask;
    long compare = random.nextBoolean() ? old : random.nextLong() & mask;
    long swapMask = random.nextLong() & mask;
    long compareMask = random.nextInt(3) == 0 ? 0 : random.nextLong() & mask;
    wqe.remote(b.address(at), b.region.rkey());
    long result =
        switch (opcode) {
          case Opcode.ATOMIC_FA -> {
            wqe.atomic(operand, random.nextLong());
            yield old + operand;
          }
          case Opcode.ATOMIC_CS -> {
            wqe.atomic(operand, compare);
            yield old == compare ? operand : old;
          }
          case Opcode.ATOMIC_MASKED_FA -> {
            wqe.maskedAdd(cell, operand, swapMask);
            yield addFields(old, operand, swapMask, cell);
          }
          default -> {
            wqe.maskedSwap(cell, operand, compare, swapMask, compareMask);
            yield (old & compareMask) == (compare & compareMask)
                ? (old & ~swapMask) | (operand & swapMask)
                : old;
          }
        };
    wqe.local(to, cell);
    ByteBuffer source = ByteBuffer.wrap(modelA);
    if (cell == 8) {
      target.putLong(at, result);
      source.order(ByteOrder.LITTLE_ENDIAN).putLong(to, old);
    } else {
      target.putInt(at, (int) result);
      source.order(ByteOrder.BIG_ENDIAN).putInt(to, (int) old);
    }
  }

  /** Field by field, bit by bit: the carry out of a boundary bit is dropped. */
  private static long addFields(long old, long add, long boundary, int cell) {
    long sum = 0;
    long carry = 0;
    for (int bit = 0; bit < cell * 8; bit++) {
      long total = (old >>> bit & 1) + (add >>> bit & 1) + carry;
      sum |= (total & 1) << bit;
      carry = (boundary >>> bit & 1) == 1 ? 0 : total >>> 1;
    }
    return sum;
  }
}
