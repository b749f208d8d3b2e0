package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.EndpointWqe;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Messages that are copied whole, where nobody looks, and those that go as packets leave the same
 * statuses, events, states, counters and bytes, hostile ones too: a capture changes no verdict.
 */
class EitherPathTest {
  private static final int EVERYDAY = 600;
  private static final int SLOW = 40_000;
  private static final int PER_WORLD = 300;
  private static final int MOST_BYTES = 9_000;

  // Parts of each buffer: sources and receives, what peers access, where responses land. A WRITE
  // may leave before the response to a READ in front of it, so it must not send what that brings.
  private static final int TARGET = 20_000;
  private static final int LANDING = 40_000;
  private static final int BUFFER_BYTES = 60_000;

  @Test
  void random_sequences_end_the_same_with_packets_and_without() {
    run(1, EVERYDAY);
  }

  /**
   * {@code -Ddoorbell.paths.sequences} chooses how many, {@code -Ddoorbell.paths.seed} where to
   * begin.
   */
  @Test
  @Tag("slow")
  void many_random_sequences_end_the_same_with_packets_and_without() {
    run(
        Long.getLong("doorbell.paths.seed", 1_000_000),
        Integer.getInteger("doorbell.paths.sequences", SLOW));
  }

  private static void run(long firstSeed, int sequences) {
    long direct = 0;
    for (int from = 0; from < sequences; from += PER_WORLD) {
      try (World whole = new World(true);
          World packets = new World(false)) {
        for (int i = from; i < Math.min(sequences, from + PER_WORLD); i++) {
          long seed = firstSeed + i;
          assertThat(whole.run(seed).lines())
              .as("seed %d", seed)
              .containsExactlyElementsOf(packets.run(seed).lines().toList());
        }
        direct += packets.wire.packets - whole.wire.packets;
      }
    }
    assertThat(direct).as("packets that were not needed").isGreaterThan(2L * sequences);
  }

  /** Two HCAs, and a wire that needs packets or none. */
  private static final class World implements AutoCloseable {
    private static final long IDLE_NANOS = 1_000_000_000_000L;

    private final SwitchingWire wire;
    private final SteppedFabric fabric = new SteppedFabric(1L << 31, true);
    private final SoftWorld world;
    private final ProtectionDomain[] domains = new ProtectionDomain[2];

    World(boolean immediate) {
      wire = new SwitchingWire(() -> immediate);
      SoftHcaOptions.Limits d = SoftHcaOptions.Limits.DEFAULT;
      SoftHcaOptions.Limits small =
          new SoftHcaOptions.Limits(
              d.queuePairs(),
              d.minSendBlocks(),
              d.maxSendBlocks(),
              d.completionEntries(),
              d.inlineBytes(),
              d.onChipBytes(),
              d.blueFlameBytes(),
              MOST_BYTES,
              d.readAtomic(),
              d.receiveSegments());
      world = new SoftWorld(fabric, SoftHcaTest.withLimits(small), (hca, side) -> wire.join(hca));
      for (int side = 0; side < 2; side++) {
        domains[side] = world.hca(side).allocateProtectionDomain();
      }
    }

    String run(long seed) {
      return new Sequence(this, seed).run();
    }

    private void idle() {
      fabric.run(() -> false, IDLE_NANOS);
    }

    @Override
    public void close() {
      world.close();
    }
  }

  /** One sequence of requests; everything follows from the seed. */
  private static final class Sequence {
    private static final int[] OPCODES = {
      Opcode.NOP,
      Opcode.RDMA_WRITE,
      Opcode.RDMA_WRITE,
      Opcode.RDMA_WRITE_IMM,
      Opcode.RDMA_READ,
      Opcode.SEND,
      Opcode.SEND,
      Opcode.SEND_IMM,
      Opcode.SEND_INVAL,
      Opcode.ATOMIC_FA,
      Opcode.ATOMIC_CS,
      Opcode.ATOMIC_MASKED_FA
    };
    private static final byte[] NOISE = new byte[2 * BUFFER_BYTES];

    static {
      new Random(1).nextBytes(NOISE);
    }

    private static final List<Integer> MTUS = List.of(256, 1024, 4096);

    private final World in;
    private final Random random;
    private final Endpoint[] ends = new Endpoint[2];
    private final StringBuilder seen = new StringBuilder();

    /** A request that changes memory behind a READ needs the fence, or the READ may see it. */
    private boolean hasRead;

    Sequence(World in, long seed) {
      this.in = in;
      this.random = new Random(seed);
    }

    private boolean rarely() {
      return random.nextInt(60) == 0;
    }

    private int mtu() {
      return MTUS.get(random.nextInt(MTUS.size()));
    }

    private Set<AccessRight> rights() {
      EnumSet<AccessRight> rights = EnumSet.copyOf(Endpoint.ALL);
      if (rarely()) {
        rights.remove(AccessRight.REMOTE_WRITE);
      }
      if (rarely()) {
        rights.remove(AccessRight.REMOTE_READ);
      }
      if (rarely()) {
        rights.remove(AccessRight.REMOTE_ATOMIC);
      }
      return rights;
    }

    String run() {
      boolean scarce = random.nextInt(8) == 0;
      for (int side = 0; side < 2; side++) {
        Endpoint.Shape shape =
            new Endpoint.Shape(
                64,
                16,
                CompletionQueueAttributes.ring(scarce ? 4 : 64, MemoryKind.HOST),
                MemoryKind.HOST,
                MemoryKind.HOST,
                MemoryKind.HOST,
                BUFFER_BYTES,
                rights(),
                Endpoint.ALL);
        ends[side] = new Endpoint(in.world, side, shape, in.domains[side]);
        int at = random.nextInt(BUFFER_BYTES);
        ends[side].buffer.putBytes(0, Arrays.copyOfRange(NOISE, at, at + BUFFER_BYTES));
      }
      ConnectionAttributes attributes =
          new ConnectionAttributes(
              8, random.nextInt(3), random.nextInt(3), 1 + random.nextInt(6), 4, 4, 0);
      int mtu = mtu();
      int other = random.nextInt(4) == 0 ? mtu() : mtu;
      connect(ends[0], ends[1], rights(), mtu, attributes);
      connect(ends[1], ends[0], rights(), other, attributes);
      // One side after the other: what is under way in both directions ends in either order.
      for (int turn = 0, turns = 1 + random.nextInt(3); turn < turns; turn++) {
        receives(ends[1 - turn % 2]);
        post(ends[turn % 2], ends[1 - turn % 2]);
        in.idle();
        if (random.nextInt(4) != 0) {
          poll();
        }
      }
      poll();
      report();
      for (Endpoint end : ends) {
        end.close();
      }
      seen.append(in.world.soft(0).packets().out() + in.world.soft(1).packets().out());
      return seen.toString();
    }

    private static void connect(
        Endpoint end,
        Endpoint peer,
        Set<AccessRight> rights,
        int mtu,
        ConnectionAttributes attributes) {
      QueuePairAddress to = peer.queuePair.address();
      end.queuePair.connect(
          new QueuePairAddress(to.hca(), to.number(), to.startPsn(), mtu), rights, attributes);
    }

    private void receives(Endpoint end) {
      for (int i = random.nextInt(6); i > 0; i--) {
        int bytes = random.nextInt(4) == 0 ? random.nextInt(300) : random.nextInt(MOST_BYTES);
        int key = end.region.lkey() ^ (rarely() ? 0x80 : 0);
        end.postReceive(bytes, key, end.address(random.nextInt(TARGET - MOST_BYTES)));
      }
    }

    private void post(Endpoint end, Endpoint peer) {
      hasRead = false;
      for (int i = 1 + random.nextInt(6); i > 0; i--) {
        request(end, peer);
      }
      end.record();
      end.ring();
    }

    private void request(Endpoint end, Endpoint peer) {
      int opcode = OPCODES[random.nextInt(OPCODES.length)];
      EndpointWqe wqe =
          end.wqe(opcode)
              .immediate(
                  opcode == Opcode.SEND_INVAL
                      ? peer.region.rkey() ^ (random.nextBoolean() ? 0x80 : 0)
                      : random.nextInt())
              .flags(
                  (random.nextInt(3) > 0 ? ControlSegment.CQ_UPDATE : 0)
                      | (random.nextBoolean() ? ControlSegment.SOLICITED : 0)
                      | (hasRead || random.nextInt(6) == 0 ? ControlSegment.FENCE_READS : 0));
      hasRead |= opcode == Opcode.RDMA_READ;
      boolean atomic = Opcode.isAtomic(opcode);
      int bytes = atomic ? opcode == Opcode.ATOMIC_MASKED_FA ? 4 : 8 : length();
      if (Opcode.hasRemoteAddress(opcode)) {
        int at = random.nextInt((TARGET - MOST_BYTES) / 8) * 8;
        long address = peer.address(TARGET + (long) at + (atomic && rarely() ? 4 : 0));
        if (rarely()) {
          // The range begins before the region, or ends behind it.
          address = peer.address(random.nextBoolean() ? -1 : BUFFER_BYTES - 1);
        }
        wqe.remote(address, peer.region.rkey() ^ (rarely() ? 0x80 : 0));
      }
      switch (opcode) {
        case Opcode.ATOMIC_FA, Opcode.ATOMIC_CS -> wqe.atomic(random.nextLong(), random.nextLong());
        case Opcode.ATOMIC_MASKED_FA -> wqe.maskedAdd(4, random.nextInt(), random.nextInt());
        default -> {}
      }
      payload(end, wqe, opcode, bytes);
      if (rarely()) {
        wqe.wrongIndex(3);
      }
      wqe.write();
    }

    /** Lengths around those at which something changes. */
    private int length() {
      int[] around = {0, 256, 1024, 4096, 8192, MOST_BYTES};
      return switch (random.nextInt(3)) {
        case 0 -> Math.max(0, around[random.nextInt(around.length)] + random.nextInt(3) - 1);
        case 1 -> random.nextInt(64);
        default -> random.nextInt(MOST_BYTES);
      };
    }

    private void payload(Endpoint end, EndpointWqe wqe, int opcode, int bytes) {
      if (opcode == Opcode.NOP) {
        return;
      }
      boolean lands = opcode == Opcode.RDMA_READ || Opcode.isAtomic(opcode);
      if (!lands && bytes <= 100 && random.nextBoolean()) {
        byte[] inline = new byte[bytes];
        random.nextBytes(inline);
        wqe.inline(inline);
        return;
      }
      int first =
          !Opcode.isAtomic(opcode) && random.nextInt(3) == 0 ? random.nextInt(bytes + 1) : 0;
      int area = lands ? LANDING : 0;
      piece(end, wqe, area, first);
      piece(end, wqe, area + first, bytes - first);
    }

    private void piece(Endpoint end, EndpointWqe wqe, int from, int bytes) {
      if (bytes == 0) {
        return;
      }
      long address = end.address((long) random.nextInt(TARGET - MOST_BYTES - 8) + from);
      if (rarely()) {
        address = end.address(BUFFER_BYTES - bytes + 1L);
      }
      wqe.data(bytes, end.region.lkey() ^ (rarely() ? 0x80 : 0), address);
    }

    private void poll() {
      for (Endpoint end : ends) {
        while (end.hasSendCompletion()) {
          seen.append(end.side).append(" sent ").append(end.pollSend()).append('\n');
        }
        while (end.hasReceiveCompletion()) {
          seen.append(end.side).append(" received ").append(end.pollReceive()).append('\n');
        }
      }
    }

    /** Requests behind one that fails may have begun or not. */
    private void report() {
      for (Endpoint end : ends) {
        for (Counter counter : Counter.values()) {
          // How many packets were under way behind one that was refused differs.
          if (counter.path().startsWith("hw_") && counter != Counter.OUT_OF_SEQUENCE) {
            seen.append(in.world.soft(end.side).counters().get(counter)).append(' ');
          }
        }
        List<AsyncEvent> events = new ArrayList<>();
        for (AsyncEvent event = in.world.hca(end.side).pollAsyncEvent();
            event != null;
            event = in.world.hca(end.side).pollAsyncEvent()) {
          events.add(event);
        }
        seen.append(
            "%d %s %s %s %08x%n"
                .formatted(
                    end.side,
                    end.queuePair.state(),
                    events,
                    end.queuePair.executed(),
                    Arrays.hashCode(end.buffer.getBytes(0, BUFFER_BYTES))));
      }
    }
  }
}
