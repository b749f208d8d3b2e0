package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.Probe;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.InlineSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.generated.AtomicSegment;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.verbs.library.VerbsProbe;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Compares our formats with what libmlx5 writes for the same requests: WQEs in the rings, doorbell
 * records, and, where the device is a served one whose registers can be read back, what is stored
 * to them.
 */
class PostSendEqualityTest {
  private static final long SEED = Long.getLong("verbs.seed", 20261121L);
  private static final int ROUNDS = Integer.getInteger("verbs.rounds", 400);
  private static final int CHAIN = 4;
  private static final boolean SERVED = System.getenv("DOORBELL_HCA") != null;

  /** Opcodes of mlx5, indexed by {@code enum ibv_wr_opcode}. */
  private static final int[] OPCODES = {
    Opcode.RDMA_WRITE,
    Opcode.RDMA_WRITE_IMM,
    Opcode.SEND,
    Opcode.SEND_IMM,
    Opcode.RDMA_READ,
    Opcode.ATOMIC_CS,
    Opcode.ATOMIC_FA
  };

  /** One request, as verbs and as a WQE of ours. */
  private record Posted(int units, int inlineUnit, int inlineBytes, boolean takesReceive) {}

  @BeforeEach
  void requireDevice() {
    Probe probe = VerbsProbe.probeMlx5();
    assumeTrue(probe instanceof Probe.Ready, probe.describe());
  }

  @Test
  void requests_become_the_wqes_records_and_doorbells_that_libmlx5_writes() {
    SplittableRandom random = new SplittableRandom(SEED);
    try (LibMlx5QueuePair theirs = new LibMlx5QueuePair();
        InterposedPage page = SERVED ? new InterposedPage(theirs.register) : null) {
      MemorySegment image = theirs.arena.allocate(1024, SendQueue.BLOCK);
      MemorySegment copy = theirs.arena.allocate(1024, SendQueue.BLOCK);
      MemorySegment requests = theirs.arena.allocate(CHAIN * 256L, Long.BYTES);
      MemorySegment bad = theirs.arena.allocate(Long.BYTES);
      long index = 0;
      long received = 0;
      int blueFlames = 0;
      for (int round = 0; round < ROUNDS; round++) {
        int count = random.nextInt(4) == 0 ? 1 + random.nextInt(CHAIN) : 1;
        String what = "seed %d round %d".formatted(SEED, round);
        List<Posted> posted = new ArrayList<>();
        List<byte[]> ours = new ArrayList<>();
        long at = index;
        for (int i = 0; i < count; i++) {
          Posted one = request(random, theirs, requests, i, count, image, at);
          ours.add(image.asSlice(0, 16L * one.units).toArray(ValueLayout.JAVA_BYTE));
          posted.add(one);
          at += SendQueue.blocks(one.units);
        }
        for (Posted one : posted) {
          if (one.takesReceive) {
            receive(random, theirs, received++, what);
          }
        }
        if (page != null) {
          page.clear();
        }
        assertThat(theirs.postSend(requests, bad)).as(what).isZero();
        for (int i = 0; i < count; i++) {
          Posted one = posted.get(i);
          for (int unit = 0; unit < one.units; unit++) {
            RawMemory.copy(
                SendQueue.unitAddress(theirs.sendRing, theirs.sendBlocks, index, unit),
                copy.address() + 16L * unit,
                16);
          }
          byte[] wqe = copy.asSlice(0, 16L * one.units).toArray(ValueLayout.JAVA_BYTE);
          forgetUnwritten(one, wqe, ours.get(i));
          assertThat(hex(wqe))
              .as("%s: WQE %d of %d", what, i + 1, count)
              .isEqualTo(hex(ours.get(i)));
          index += SendQueue.blocks(one.units);
        }
        assertThat(RawMemory.getInt(theirs.record + DoorbellRecord.SEND_OFFSET))
            .as("%s: doorbell record", what)
            .isEqualTo(DoorbellRecord.encode(index));
        if (page != null) {
          blueFlames += doorbell(theirs, page, posted.getLast(), ours.getLast(), index, what);
        }
        theirs.await(1 + (int) posted.stream().filter(Posted::takesReceive).count());
      }
      assertThat(index).as("blocks posted, in rings of %d", theirs.sendBlocks).isGreaterThan(256);
      assertThat(blueFlames > 0 || !SERVED).as("WQEs went by BlueFlame").isTrue();
    }
  }

  @Test
  void arming_a_completion_queue_writes_the_record_and_the_doorbell_that_ours_are() {
    try (LibMlx5QueuePair theirs = new LibMlx5QueuePair();
        InterposedPage page = SERVED ? new InterposedPage(theirs.armRegister) : null) {
      for (boolean solicitedOnly : new boolean[] {true, false}) {
        if (page != null) {
          page.clear();
        }
        assertThat(theirs.arm(solicitedOnly)).isZero();
        long expected = Doorbell.encodeArm(0, solicitedOnly, 0, theirs.completionNumber);
        assertThat(RawMemory.getInt(theirs.completionRecord + DoorbellRecord.ARM_OFFSET))
            .isEqualTo((int) expected);
        if (page != null) {
          assertThat(RawMemory.getLongOpaque(theirs.armRegister + Doorbell.ARM_OFFSET))
              .isEqualTo(expected);
        }
      }
    }
  }

  /** Writes request {@code i} of a chain for libmlx5, and the same as a WQE into the image. */
  private static Posted request(
      SplittableRandom random,
      LibMlx5QueuePair to,
      MemorySegment requests,
      int i,
      int count,
      MemorySegment image,
      long index) {
    int verb = random.nextInt(OPCODES.length);
    boolean last = i == count - 1;
    boolean atomic = verb >= SendRequestLayout.ATOMIC_CMP_AND_SWP;
    boolean withImmediate =
        verb == SendRequestLayout.RDMA_WRITE_WITH_IMM || verb == SendRequestLayout.SEND_WITH_IMM;
    boolean sends = verb == SendRequestLayout.SEND || verb == SendRequestLayout.SEND_WITH_IMM;
    boolean inline = verb < SendRequestLayout.RDMA_READ && random.nextBoolean();
    boolean fence = random.nextInt(4) == 0;
    boolean solicited = (sends || withImmediate) && random.nextBoolean();
    int immediate = withImmediate ? random.nextInt() : 0;

    image.fill((byte) 0);
    long request = requests.address() + 256L * i;
    RawMemory.fill(request, 256, (byte) 0);
    int flags =
        (last ? SendRequestLayout.SIGNALED : 0)
            | (fence ? SendRequestLayout.FENCE : 0)
            | (solicited ? SendRequestLayout.SOLICITED : 0)
            | (inline ? SendRequestLayout.INLINE : 0);
    RawMemory.putLong(request + SendRequestLayout.NEXT_OFFSET, last ? 0 : request + 256);
    RawMemory.putInt(request + SendRequestLayout.OPCODE_OFFSET, verb);
    RawMemory.putInt(request + SendRequestLayout.FLAGS_OFFSET, flags);
    RawMemory.putInt(request + SendRequestLayout.IMMEDIATE_OFFSET, Integer.reverseBytes(immediate));
    int unit = 1;
    if (!sends) {
      long remote = to.buffer.address() + 32_768 + 8L * random.nextInt(2048);
      RawMemory.putLong(request + SendRequestLayout.REMOTE_ADDRESS_OFFSET, remote);
      RawMemory.putInt(
          request
              + (atomic ? SendRequestLayout.ATOMIC_KEY_OFFSET : SendRequestLayout.RDMA_KEY_OFFSET),
          to.key);
      RemoteAddressSegment.write(at(image, unit++), remote, to.key);
    }
    if (atomic) {
      long first = random.nextLong();
      long second = random.nextLong();
      boolean add = verb == SendRequestLayout.ATOMIC_FETCH_AND_ADD;
      RawMemory.putLong(request + SendRequestLayout.ATOMIC_COMPARE_ADD_OFFSET, first);
      RawMemory.putLong(request + SendRequestLayout.ATOMIC_SWAP_OFFSET, second);
      AtomicSegment.write(at(image, unit++), add ? first : second, add ? 0 : first);
    }
    int inlineUnit = unit;
    int segments = atomic ? 1 : 1 + random.nextInt(LibMlx5QueuePair.SEGMENTS);
    int room = inline ? LibMlx5QueuePair.INLINE_BYTES : 4096;
    int bytes = 0;
    long list = request + SendRequestLayout.BYTES;
    RawMemory.putLong(request + SendRequestLayout.SEGMENTS_OFFSET, list);
    RawMemory.putInt(request + SendRequestLayout.SEGMENT_COUNT_OFFSET, segments);
    long inlinePayload = at(image, inlineUnit) + InlineSegment.DATA_OFFSET;
    for (int segment = 0; segment < segments; segment++) {
      int length = atomic ? 8 : 1 + random.nextInt(room / segments);
      long source = to.buffer.address() + random.nextInt(8192);
      RawMemory.putLong(list + SendRequestLayout.SEGMENT_ADDRESS_OFFSET, source);
      RawMemory.putInt(list + SendRequestLayout.SEGMENT_LENGTH_OFFSET, length);
      RawMemory.putInt(list + SendRequestLayout.SEGMENT_KEY_OFFSET, to.key);
      list += SendRequestLayout.SEGMENT_BYTES;
      if (inline) {
        RawMemory.copy(source, inlinePayload + bytes, length);
      } else {
        DataSegment.write(at(image, unit++), length, to.key, source);
      }
      bytes += length;
    }
    if (inline) {
      InlineSegment.writeHeader(at(image, inlineUnit), bytes);
      unit += InlineSegment.units(bytes);
    }
    ControlSegment.write(
        image.address(),
        0,
        (int) index,
        OPCODES[verb],
        to.number,
        unit,
        (last ? ControlSegment.CQ_UPDATE : 0)
            | (fence ? ControlSegment.FENCE_READS_AND_SMALL : 0)
            | (solicited ? ControlSegment.SOLICITED : 0),
        immediate);
    return new Posted(unit, inline ? inlineUnit : 0, bytes, sends || withImmediate);
  }

  /** A line for every 16 bytes. */
  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes).replaceAll("(.{32})", "$1\n");
  }

  private static long at(MemorySegment image, int unit) {
    return image.address() + (long) unit * SendQueue.UNIT;
  }

  /**
   * Clears what libmlx5 leaves unchanged: the bytes behind an inline payload, up to the next unit,
   * and the compare word of a fetch-and-add.
   */
  private static void forgetUnwritten(Posted one, byte[] theirs, byte[] ours) {
    if (one.inlineUnit != 0) {
      int end = one.inlineUnit * SendQueue.UNIT + InlineSegment.DATA_OFFSET + one.inlineBytes;
      System.arraycopy(ours, end, theirs, end, ours.length - end);
    }
    if ((ours[ControlSegment.OPCODE_OFFSET] & 0xff) == Opcode.ATOMIC_FA) {
      int compare = 2 * SendQueue.UNIT + Long.BYTES;
      System.arraycopy(ours, compare, theirs, compare, Long.BYTES);
    }
  }

  private static void receive(
      SplittableRandom random, LibMlx5QueuePair to, long index, String what) {
    int length = 8192 + random.nextInt(1024);
    long target = to.buffer.address() + 16_384;
    MemorySegment bad = to.arena.allocate(Long.BYTES);
    MemorySegment request = to.arena.allocate(SendRequestLayout.RECEIVE_BYTES + 16L, Long.BYTES);
    long segment = request.address() + SendRequestLayout.RECEIVE_BYTES;
    RawMemory.putLong(request.address() + SendRequestLayout.SEGMENTS_OFFSET, segment);
    RawMemory.putInt(request.address() + SendRequestLayout.SEGMENT_COUNT_OFFSET, 1);
    RawMemory.putLong(segment + SendRequestLayout.SEGMENT_ADDRESS_OFFSET, target);
    RawMemory.putInt(segment + SendRequestLayout.SEGMENT_LENGTH_OFFSET, length);
    RawMemory.putInt(segment + SendRequestLayout.SEGMENT_KEY_OFFSET, to.key);
    assertThat(to.postReceive(request, bad)).isZero();
    MemorySegment ours = to.arena.allocate(ReceiveSegment.BYTES, 16);
    ReceiveSegment.write(ours.address(), length, to.key, target);
    long theirs =
        ReceiveSegment.wqeAddress(to.receiveRing, to.receiveEntries, to.receiveStride, index);
    for (int i = 0; i < ReceiveSegment.BYTES; i += Long.BYTES) {
      assertThat(RawMemory.getLong(theirs + i))
          .as("%s: receive WQE %d, bytes from %d", what, index, i)
          .isEqualTo(RawMemory.getLong(ours.address() + i));
    }
    assertThat(DoorbellRecord.receiveIndex(to.record))
        .as("%s: receive counter", what)
        .isEqualTo((int) (index + 1) & SendQueue.INDEX_MASK);
  }

  /**
   * The doorbell of a post: the beginning of the last WQE, which names the same queue pair as our
   * doorbell and an index as many blocks before ours as that WQE has; or all of that WQE.
   *
   * @return 1 when all of the WQE was stored
   */
  private static int doorbell(
      LibMlx5QueuePair of, InterposedPage page, Posted last, byte[] wqe, long index, String what) {
    long first = RawMemory.getLong(of.register);
    long second = RawMemory.getLong(of.register + of.halfBytes);
    assertThat((first == 0) != (second == 0))
        .as(
            "%s: one half is stored to; %d bytes, at 0x%x: 0x%x, 0x%x",
            what, of.halfBytes, of.register, first, second)
        .isTrue();
    long half = first == 0 ? of.register + of.halfBytes : of.register;
    byte[] stored =
        MemorySegment.ofAddress(half).reinterpret(of.halfBytes).toArray(ValueLayout.JAVA_BYTE);
    long value = first == 0 ? second : first;
    long ours = Doorbell.encode(index, of.number);
    MemorySegment aligned = of.arena.allocate(wqe.length, 16);
    aligned.copyFrom(MemorySegment.ofArray(wqe));
    assertThat(value).as("%s: doorbell", what).isEqualTo(Doorbell.read(aligned.address()));
    assertThat(Doorbell.qpn(value)).as("%s: doorbell's QPN", what).isEqualTo(Doorbell.qpn(ours));
    assertThat(SendQueue.distance(Doorbell.index(value), Doorbell.index(ours)))
        .as("%s: blocks between the doorbells", what)
        .isEqualTo(SendQueue.blocks(last.units));
    page.passOn(half);
    boolean whole = false;
    for (int i = Doorbell.BYTES; i < stored.length; i++) {
      whole |= stored[i] != 0;
    }
    if (whole) {
      byte[] brought = java.util.Arrays.copyOf(stored, wqe.length);
      forgetUnwritten(last, brought, wqe);
      assertThat(brought).as("%s: WQE by BlueFlame", what).isEqualTo(wqe);
    }
    return whole ? 1 : 0;
  }
}
