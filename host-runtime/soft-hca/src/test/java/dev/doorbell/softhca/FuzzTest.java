package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.EndpointWqe;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.DcTarget;
import dev.doorbell.core.hca.DcTargetAttributes;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.SharedReceiveSegment;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.packet.Packet;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Packets, WQEs and doorbells that nobody in his right mind makes. They may break queue pairs. They
 * may not hang or crash the HCA, lose packets of its pool, or write a byte that no key allows.
 */
class FuzzTest {
  private static final List<Transport> TRANSPORTS = List.of(Transport.values());
  private static final int BYTES = 1 << 16;
  private static final int MTU = 256;
  private static final int EVERYDAY_ROUNDS = 150;
  private static final long ACCESS_KEY = 0x600d_0000_c0ffeeL;
  private static final long SECOND = 1_000_000_000L;

  @Test
  void garbage_hangs_nothing_and_writes_nowhere_else() {
    try (SteppedWorld world = SteppedWorld.withMtu(MTU)) {
      for (int seed = 1; seed <= EVERYDAY_ROUNDS; seed++) {
        new Round(world, seed).run();
      }
    }
  }

  /** {@code -Ddoorbell.fuzz.rounds=} of them, from {@code -Ddoorbell.fuzz.seed=} on. */
  @Test
  @Tag("slow")
  void much_garbage_hangs_nothing_and_writes_nowhere_else() {
    long seed = Long.getLong("doorbell.fuzz.seed", 1_000_000);
    long end = seed + Long.getLong("doorbell.fuzz.rounds", 8_000);
    while (seed < end) {
      try (SteppedWorld world = SteppedWorld.withMtu(MTU)) {
        for (int i = 0; i < 1_000 && seed < end; i++) {
          new Round(world, seed++).run();
        }
      }
    }
  }

  /** One victim, one attacker that knows the victim's numbers and keys, and a bystander. */
  private static final class Round {
    private final SteppedWorld world;
    private final long seed;
    private final Random random;
    private final ProtectionDomain[] domains;
    private final Transport transport;
    private final Endpoint attacker;
    private final Endpoint victim;
    private final SharedReceiveQueue receives;

    /** Null on other transports than dynamic connections. */
    private final @Nullable DcTarget target;

    /** What no remote key opens: the victim's own memory, and memory of another domain. */
    private final Memory secret;

    private final Endpoint stranger;
    private final byte[] secretBytes = new byte[BYTES];
    private final byte[] strangerBytes = new byte[BYTES];
    private final byte[] protectedBytes = new byte[BYTES];
    private final Memory readable;
    private final dev.doorbell.core.hca.MemoryRegion readOnly;

    Round(SteppedWorld world, long seed) {
      this.world = world;
      this.seed = seed;
      this.random = new Random(seed);
      this.transport = TRANSPORTS.get(random.nextInt(TRANSPORTS.size()));
      domains =
          new ProtectionDomain[] {
            world.hca(0).allocateProtectionDomain(), world.hca(1).allocateProtectionDomain()
          };
      Endpoint.Shape shape =
          new Endpoint.Shape(
                  16,
                  8,
                  CompletionQueueAttributes.ring(64, MemoryKind.HOST),
                  MemoryKind.HOST,
                  MemoryKind.HOST,
                  MemoryKind.HOST,
                  BYTES,
                  Endpoint.ALL,
                  Endpoint.ALL)
              .withTransport(transport, null);
      boolean dynamic = transport == Transport.DC;
      attacker =
          new Endpoint(
              world,
              0,
              dynamic ? shape.withReceives(0).withTransport(transport, null) : shape,
              domains[0]);
      // A target takes the place of the victim's queue pair, which is idle then.
      victim = new Endpoint(world, 1, dynamic ? Endpoint.Shape.usual() : shape, domains[1]);
      receives =
          domains[1].createSharedReceiveQueue(
              new SharedReceiveQueueAttributes(4, 1, MemoryKind.HOST, MemoryKind.HOST),
              world.memory(1));
      target =
          dynamic
              ? domains[1].createDcTarget(
                  new DcTargetAttributes(
                      ACCESS_KEY, receives, victim.receiveQueue, Endpoint.ALL, MTU, 1))
              : null;
      stranger = new Endpoint(world, 1, shape);
      secret = world.memory(1).allocate(MemoryKind.HOST, BYTES, "secret");
      readable = world.memory(1).allocate(MemoryKind.HOST, BYTES, "readable");
      readOnly = domains[1].register(readable, Set.of(AccessRight.REMOTE_READ));
      ConnectionAttributes attributes = new ConnectionAttributes(3, 2, 2, 1, 4, 4, 0);
      if (transport == Transport.UD || dynamic) {
        for (Endpoint end : dynamic ? List.of(attacker) : List.of(attacker, victim)) {
          end.queuePair.toInit(Endpoint.ALL);
          end.queuePair.toRtr(attributes);
          end.queuePair.toRts(attributes);
        }
      } else {
        Endpoint.connect(attacker, victim, attributes);
      }
      random.nextBytes(secretBytes);
      random.nextBytes(strangerBytes);
      random.nextBytes(protectedBytes);
      secret.putBytes(0, secretBytes);
      stranger.buffer.putBytes(0, strangerBytes);
      readable.putBytes(0, protectedBytes);
      world.wire.plan(seed, 0.2, random.nextInt(20));
    }

    /** Where the attacker's memory has eight bytes of {@code hidden}, or -1. */
    private int learned(byte[] hidden) {
      ByteBuffer secrets = ByteBuffer.wrap(hidden);
      Set<Long> words = new HashSet<>();
      for (int at = 0; at < BYTES; at += Long.BYTES) {
        words.add(secrets.getLong(at));
      }
      ByteBuffer known = ByteBuffer.wrap(attacker.buffer.getBytes(0, BYTES));
      for (int at = 0; at <= BYTES - Long.BYTES; at++) {
        if (words.contains(known.getLong(at))) {
          return at;
        }
      }
      return -1;
    }

    void run() {
      for (int i = 0; i < 4; i++) {
        int offset = random.nextInt(BYTES / 2);
        int bytes = random.nextInt(BYTES / 2);
        if (target == null) {
          victim.postReceive(offset, bytes);
        } else {
          long wqe = receives.ringAddress() + (long) i * receives.attributes().stride();
          SharedReceiveSegment.write(wqe, i + 1 & 3);
          DataSegment.write(
              wqe + SharedReceiveSegment.BYTES,
              bytes,
              victim.region.lkey(),
              victim.address(offset));
          DoorbellRecord.putReceiveIndex(receives.recordAddress(), i + 1);
        }
      }
      for (int i = 0, n = 1 + random.nextInt(30); i < n; i++) {
        switch (random.nextInt(3)) {
          case 0 -> packet();
          case 1 -> wqe();
          default -> doorbells();
        }
        if (random.nextBoolean()) {
          world.settle();
        }
      }
      world.run(20 * SECOND);
      assertThat(secret.getBytes(0, BYTES)).as("seed %d: no key", seed).isEqualTo(secretBytes);
      assertThat(stranger.buffer.getBytes(0, BYTES))
          .as("seed %d: another domain's", seed)
          .isEqualTo(strangerBytes);
      assertThat(readable.getBytes(0, BYTES))
          .as("seed %d: to be read only", seed)
          .isEqualTo(protectedBytes);
      assertThat(learned(secretBytes)).as("seed %d: bytes read without a key", seed).isEqualTo(-1);
      assertThat(learned(strangerBytes))
          .as("seed %d: bytes of another domain read", seed)
          .isEqualTo(-1);
      for (Endpoint end : List.of(attacker, victim)) {
        end.queuePair.toReset();
      }
      if (target != null) {
        target.close();
      }
      world.run(SECOND);
      assertThat(world.soft(0).packets().out() + world.soft(1).packets().out())
          .as("seed %d: packets that nobody gave back", seed)
          .isZero();
      readOnly.close();
      readable.close();
      secret.close();
      receives.close();
      for (Endpoint end : List.of(attacker, victim, stranger)) {
        end.close();
      }
      domains[0].close();
      domains[1].close();
      while (world.hca(0).pollAsyncEvent() != null || world.hca(1).pollAsyncEvent() != null) {
        // What was raised is nobody's concern here.
      }
    }

    private int key() {
      return switch (random.nextInt(6)) {
        case 0 -> readOnly.rkey();
        case 1 -> stranger.region.rkey();
        case 2 -> random.nextInt();
        default -> victim.region.rkey();
      };
    }

    private long address() {
      long base =
          switch (random.nextInt(5)) {
            case 0 -> secret.address();
            case 1 -> stranger.address(0);
            case 2 -> readable.address();
            default -> victim.address(0);
          };
      return random.nextInt(20) == 0 ? random.nextLong() : base + random.nextInt(BYTES + 512) - 256;
    }

    /** Of what the attacker sends to. */
    private int number() {
      return target == null ? victim.queuePair.number() : target.number();
    }

    private int length() {
      return switch (random.nextInt(8)) {
        case 0 -> random.nextInt();
        case 1 -> BYTES;
        default -> random.nextInt(3 * MTU);
      };
    }

    /** Hands the victim a packet as if the wire had brought it. */
    private void packet() {
      Packet packet = world.soft(0).packets().takeSpare();
      boolean own = random.nextInt(4) > 0;
      int bits =
          switch (transport) {
            case RC, DC -> BthOpcode.RC;
            case UC -> BthOpcode.UC;
            case UD -> BthOpcode.UD;
          };
      packet.opcode = own ? bits | random.nextInt(0x20) : random.nextInt(0x100);
      packet.destination = random.nextInt(8) == 0 ? random.nextInt(1 << 24) : number();
      int start = attacker.queuePair.address().startPsn();
      packet.psn =
          random.nextInt(4) == 0 ? random.nextInt(1 << 24) : start + random.nextInt(8) & 0xffffff;
      if (target != null) {
        packet.dynamic = random.nextInt(8) > 0;
        packet.accessKey = random.nextInt(8) == 0 ? random.nextLong() : ACCESS_KEY;
        packet.mtu = random.nextInt(8) == 0 ? random.nextInt() : MTU;
        packet.firstPsn = start + random.nextInt(4) & 0xffffff;
        packet.connection = random.nextInt(4);
        packet.sourceQueuePair =
            random.nextBoolean() ? attacker.queuePair.number() : random.nextInt(1 << 24);
        packet.sourceGidHigh = world.soft(0).gidHigh();
        packet.sourceGidLow = world.soft(0).gidLow();
      }
      packet.partitionKey = random.nextInt(8) == 0 ? random.nextInt(1 << 16) : 0xffff;
      packet.ackRequest = random.nextBoolean();
      packet.solicited = random.nextBoolean();
      packet.remoteAddress = address();
      packet.rkey = key();
      packet.invalidatedKey = random.nextInt(4) == 0 ? stranger.region.rkey() : random.nextInt();
      packet.dmaLength = length();
      packet.queueKey = random.nextInt(2);
      packet.syndrome = random.nextInt(0x100);
      packet.msn = random.nextInt(1 << 24);
      packet.cellBytes = random.nextInt(4) == 0 ? random.nextInt(16) : 8;
      packet.swapAdd = random.nextLong();
      packet.compare = random.nextLong();
      packet.bytes = random.nextBoolean() ? MTU : random.nextInt(Packet.MAX_PAYLOAD + 1);
      if (random.nextBoolean()) {
        packet.dmaLength = packet.bytes;
      }
      packet.payload = packet.buffer();
      RawMemory.fill(packet.payload, packet.bytes, (byte) random.nextInt());
      world.soft(1).deliver(packet);
    }

    /** Writes a WQE of mostly plausible fields into the attacker's ring and rings for it. */
    private void wqe() {
      EndpointWqe wqe = attacker.wqe(random.nextInt(3) == 0 ? random.nextInt(0x30) : opcode());
      wqe.flags(random.nextInt(0x100)).immediate(random.nextBoolean() ? key() : random.nextInt());
      if (target != null && random.nextInt(8) > 0) {
        long key = random.nextInt(8) == 0 ? random.nextLong() : ACCESS_KEY;
        wqe.toTarget(domains[0].createAddressHandle("soft1", 0), number(), key);
      }
      for (int i = random.nextInt(4); i > 0; i--) {
        switch (random.nextInt(4)) {
          case 0 -> wqe.remote(address(), key());
          case 1 -> wqe.atomic(random.nextLong(), random.nextLong());
          case 2 -> wqe.inline(new byte[random.nextInt(100)]);
          default ->
              wqe.data(
                  length(),
                  random.nextInt(8) == 0 ? random.nextInt() : attacker.region.lkey(),
                  attacker.address(random.nextInt(BYTES)));
        }
      }
      if (random.nextInt(8) == 0) {
        wqe.ds(random.nextInt(64));
      }
      if (random.nextInt(16) == 0) {
        wqe.wrongIndex(random.nextInt(8));
      }
      wqe.post();
    }

    private int opcode() {
      int[] opcodes = {
        Opcode.RDMA_WRITE,
        Opcode.RDMA_WRITE_IMM,
        Opcode.SEND,
        Opcode.SEND_INVAL,
        Opcode.RDMA_READ,
        Opcode.ATOMIC_CS,
        Opcode.ATOMIC_FA,
        Opcode.ATOMIC_MASKED_FA,
        Opcode.DUMP
      };
      return opcodes[random.nextInt(opcodes.length)];
    }

    /** Stores anything anywhere on the doorbell pages, and garbage over the ring. */
    private void doorbells() {
      Endpoint end = random.nextBoolean() ? attacker : victim;
      long page = end.queuePair.doorbellAddress() - Doorbell.REGISTER_OFFSET;
      for (int i = random.nextInt(20); i > 0; i--) {
        long at =
            random.nextBoolean()
                ? end.queuePair.doorbellAddress() + random.nextInt(64) * 8L
                : page + random.nextInt(512) * 8L;
        long value =
            random.nextBoolean()
                ? Doorbell.encode(random.nextInt(1 << 16), attacker.queuePair.number())
                : random.nextLong();
        world.store64(end.side, at, value);
      }
      if (random.nextInt(4) == 0) {
        world.store64(
            1,
            page + Doorbell.ARM_OFFSET,
            Doorbell.encodeArm(
                random.nextInt(),
                random.nextBoolean(),
                random.nextInt(),
                random.nextBoolean() ? victim.receiveQueue.number() : random.nextInt()));
      }
      if (random.nextInt(4) == 0) {
        long block =
            attacker.queuePair.sendRingAddress() + random.nextInt(16) * (long) SendQueue.BLOCK;
        for (int at = 0; at < SendQueue.BLOCK; at += Long.BYTES) {
          RawMemory.putLong(block + at, random.nextLong());
        }
        if (random.nextBoolean()) {
          ControlSegment.write(
              block,
              0,
              random.nextInt(16),
              opcode(),
              attacker.queuePair.number(),
              3,
              ControlSegment.CQ_UPDATE,
              0);
          RemoteAddressSegment.write(block + 16, address(), key());
          DataSegment.write(block + 32, length(), attacker.region.lkey(), attacker.address(0));
        }
      }
    }
  }
}
