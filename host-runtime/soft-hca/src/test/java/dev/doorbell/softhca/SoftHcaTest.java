package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.EndpointWqe;
import dev.doorbell.contract.RandomTraffic;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.wire.InProcessWire;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is the software HCA's own and not every HCA's. */
class SoftHcaTest {
  private final AddressSpace memory = AddressSpace.reserve(1L << 30);
  private final DirectFabric fabric = new DirectFabric(memory, 0);
  private final ThreadPort cpu = fabric.attachThread(Locus.cpu(0), (Agent) budget -> 0);
  private SoftWorld world = new SoftWorld(fabric, SoftHcaOptions.DEFAULT, new InProcessWire());

  @AfterEach
  void close() {
    world.close();
    memory.close();
  }

  private Endpoint[] pair(SoftHcaOptions options) {
    world = new SoftWorld(fabric, options, new InProcessWire());
    Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
    Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
    Endpoint.connect(a, b);
    return new Endpoint[] {a, b};
  }

  // BlueFlame.

  /** Stores the blocks of a WQE to a BlueFlame half, 8 bytes at a time in random order. */
  private void blueFlame(Endpoint end, long index, int blocks, int half, Random random, int drop) {
    List<Integer> words = new ArrayList<>();
    for (int i = 0; i < blocks * 8; i++) {
      words.add(i);
    }
    Collections.shuffle(words, random);
    long ring = end.queuePair.sendRingAddress();
    int size = end.queuePair.attributes().sendBlocks() * SendQueue.BLOCK;
    long register = end.queuePair.doorbellAddress() + (long) half * end.queuePair.blueFlameBytes();
    for (int word : words.subList(drop, words.size())) {
      long source = ring + ((index * SendQueue.BLOCK + word * 8L) & (size - 1));
      cpu.store64(register + word * 8L, RawMemory.getLong(source), Access.MMIO);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void wqes_stored_to_blueflame_in_any_order_are_carried_out_once(long seed) {
    Random random = new Random(seed);
    Endpoint[] ends = pair(SoftHcaOptions.DEFAULT);
    for (int i = 0; i < 200; i++) {
      byte[] payload = new byte[1 + random.nextInt(200)];
      random.nextBytes(payload);
      EndpointWqe wqe =
          ends[0]
              .wqe(Opcode.RDMA_WRITE)
              .remote(ends[1].address(64), ends[1].region.rkey())
              .inline(payload);
      long index = wqe.write();
      ends[0].record();
      // Sometimes some of the stores are lost: record and ring still say what to do.
      int drop = random.nextInt(3) == 0 ? 1 : 0;
      blueFlame(ends[0], index, SendQueue.blocks(wqe.units()), i & 1, random, drop);
      if (drop > 0) {
        ends[0].ring();
      }
      Endpoint.Completion completion = ends[0].pollSend();
      assertThat(completion.isError()).as("seed %d WQE %d: %s", seed, i, completion).isFalse();
      assertThat(completion.counter()).as("seed %d", seed).isEqualTo((int) index & 0xffff);
      assertThat(ends[1].buffer.getBytes(64, payload.length))
          .as("seed %d", seed)
          .isEqualTo(payload);
    }
    world.settle();
    assertThat(ends[0].hasSendCompletion()).isFalse();
  }

  @Test
  void a_doorbell_as_libmlx5_writes_it_makes_the_hca_look_at_the_record() {
    Endpoint[] ends = pair(SoftHcaOptions.DEFAULT);
    ends[0].rdmaWrite(ends[1], 0, 64, 8).write();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).write();
    ends[0].record();
    // The first 8 bytes of the last WQE: its index is where it starts.
    long wqe = ends[0].queuePair.sendRingAddress() + SendQueue.BLOCK;
    cpu.store64(ends[0].queuePair.doorbellAddress(), RawMemory.getLong(wqe), Access.MMIO);
    assertThat(ends[0].pollSend().counter()).isZero();
    assertThat(ends[0].pollSend().counter()).isEqualTo(1);
  }

  @Test
  void stores_elsewhere_on_the_page_and_for_nobody_are_ignored() {
    Endpoint[] ends = pair(SoftHcaOptions.DEFAULT);
    long page = ends[0].queuePair.doorbellAddress() - 0x800;
    Random random = new Random(5);
    for (int i = 0; i < 2_000; i++) {
      int bytes = 1 << (2 + random.nextInt(3));
      long at = page + random.nextInt(4096 / bytes) * (long) bytes;
      switch (bytes) {
        case 4 -> cpu.store32(at, random.nextInt(), Access.MMIO);
        case 8 -> cpu.store64(at, random.nextLong(), Access.MMIO);
        default -> cpu.store128(at, random.nextLong(), random.nextLong(), Access.MMIO);
      }
    }
    world.settle();
    assertThat(ends[0].hasSendCompletion()).isFalse();
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
  }

  // Back-pressure and scheduling.

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 7})
  void few_packets_slow_down_but_never_stop_traffic_both_ways(int packets) {
    Endpoint[] ends =
        pair(SoftHcaOptions.DEFAULT.withEngine(new SoftHcaOptions.Engine(256, 64, 32, packets)));
    byte[] bytes = new byte[50_000];
    new Random(packets).nextBytes(bytes);
    for (Endpoint end : ends) {
      Endpoint peer = end == ends[0] ? ends[1] : ends[0];
      end.buffer.putBytes(0, bytes);
      for (int i = 0; i < 4; i++) {
        end.rdmaWrite(peer, 0, 100_000 + i * 50_000L, 50_000).write();
        end.wqe(Opcode.RDMA_READ)
            .remote(peer.address(0), peer.region.rkey())
            .local(400_000 + i * 50_000L, 50_000)
            .write();
      }
      end.record();
      end.ring();
    }
    for (Endpoint end : ends) {
      for (int i = 0; i < 8; i++) {
        assertThat(end.pollSend().isError()).isFalse();
      }
    }
    world.settle();
    for (Endpoint end : ends) {
      for (int i = 0; i < 4; i++) {
        for (long at : new long[] {100_000 + i * 50_000L, 400_000 + i * 50_000L}) {
          assertThat(Arrays.equals(end.buffer.getBytes(at, 50_000), bytes))
              .as("bytes at %d", at)
              .isTrue();
        }
      }
    }
    assertThat(world.soft(0).packets().out()).isZero();
    assertThat(world.soft(1).packets().out()).isZero();
  }

  /** All packets for requests wait behind an atomic or a READ, both ends of one HCA. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void an_answer_leaves_while_requests_have_taken_all_of_their_packets(boolean isAtomic) {
    int packets = 16;
    SoftHcaOptions.Engine engine = new SoftHcaOptions.Engine(256, 64, 32, packets);
    SwitchingWire wire = new SwitchingWire(() -> false);
    world =
        new SoftWorld(
            fabric, SoftHcaOptions.DEFAULT.withEngine(engine), (hca, side) -> wire.join(hca));
    Endpoint from = new Endpoint(world, 0, Endpoint.Shape.usual());
    Endpoint to = new Endpoint(world, 0, Endpoint.Shape.usual());
    Endpoint.connect(from, to);
    byte[] sent = new byte[4 * packets * 256];
    new Random(3).nextBytes(sent);
    from.buffer.putBytes(1024, sent);
    to.buffer.putLong(0, 40);
    EndpointWqe first =
        from.wqe(isAtomic ? Opcode.ATOMIC_FA : Opcode.RDMA_READ)
            .flags(ControlSegment.CQ_UPDATE)
            .remote(to.address(0), to.region.rkey());
    (isAtomic ? first.atomic(2, 0) : first).local(512, 8).write();
    from.rdmaWrite(to, 1024, 100_000, sent.length).post();
    assertThat(from.pollSend().isError()).isFalse();
    assertThat(from.pollSend().isError()).isFalse();
    assertThat(from.buffer.getLong(512)).isEqualTo(40);
    assertThat(to.buffer.getLong(0)).isEqualTo(isAtomic ? 42 : 40);
    assertThat(to.buffer.getBytes(100_000, sent.length)).isEqualTo(sent);
    assertThat(world.soft(0).packets().out()).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14})
  void any_order_of_steps_leaves_the_same_bytes(long seed) {
    world =
        new SoftWorld(
            new DirectFabric(AddressSpace.reserve(1L << 28), seed),
            SoftHcaOptions.DEFAULT.withEngine(new SoftHcaOptions.Engine(512, 4, 2, 16)),
            new InProcessWire());
    Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
    Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
    Endpoint.connect(a, b);
    new RandomTraffic(world, a, b, seed).run(60);
  }

  /** The default options with other limits. */
  static SoftHcaOptions withLimits(SoftHcaOptions.Limits limits) {
    SoftHcaOptions d = SoftHcaOptions.DEFAULT;
    return new SoftHcaOptions(
        limits,
        d.engine(),
        d.timing(),
        d.randomNumbers(),
        d.timestamps(),
        d.adapter(),
        d.congestion());
  }

  // Receives of several segments.

  @Test
  void a_receive_of_several_segments_is_filled_up_to_its_terminator() {
    SoftHcaOptions.Limits d = SoftHcaOptions.Limits.DEFAULT;
    Endpoint[] ends =
        pair(
            withLimits(
                new SoftHcaOptions.Limits(
                    d.queuePairs(),
                    d.minSendBlocks(),
                    d.maxSendBlocks(),
                    d.completionEntries(),
                    d.inlineBytes(),
                    d.onChipBytes(),
                    d.blueFlameBytes(),
                    d.messageBytes(),
                    d.readAtomic(),
                    4)));
    byte[] payload = new byte[5_000];
    new Random(3).nextBytes(payload);
    ends[0].buffer.putBytes(0, payload);
    QueuePair to = ends[1].queuePair;
    int lkey = ends[1].region.lkey();
    for (int index = 0; index < 2; index++) {
      long wqe = ReceiveSegment.wqeAddress(to.receiveRingAddress(), 4, 64, index);
      DataSegment.write(wqe, 100, lkey, ends[1].address(10_000));
      DataSegment.write(wqe + 16, 0, lkey, ends[1].address(0));
      DataSegment.write(wqe + 32, 4_900, lkey, ends[1].address(20_000));
      ReceiveSegment.write(wqe + 48, 0, ReceiveSegment.INVALID_LKEY, 0);
    }
    DoorbellRecord.putReceiveIndex(to.recordAddress(), 2);
    ends[0].wqe(Opcode.SEND).local(0, 5_000).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[1].pollReceive().bytes()).isEqualTo(5_000);
    assertThat(ends[1].buffer.getBytes(10_000, 100)).isEqualTo(Arrays.copyOf(payload, 100));
    assertThat(ends[1].buffer.getBytes(20_000, 4_900))
        .isEqualTo(Arrays.copyOfRange(payload, 100, 5_000));
    ends[0].wqe(Opcode.SEND).local(0, 5_001).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.REMOTE_INVALID_REQUEST);
    assertThat(ends[1].pollReceive().syndrome()).isEqualTo(Syndrome.LOCAL_LENGTH);
  }

  // Faults of the host.

  @Test
  void memory_freed_under_a_region_is_an_error_cqe_and_no_crash() {
    Endpoint[] ends = pair(SoftHcaOptions.DEFAULT);
    Memory gone = world.memory(0).allocate(MemoryKind.HOST, 4096, "gone");
    MemoryRegion region = ends[0].domain.register(gone, Endpoint.ALL);
    gone.close();
    ends[0]
        .wqe(Opcode.RDMA_WRITE)
        .remote(ends[1].address(0), ends[1].region.rkey())
        .data(64, region.lkey(), region.address())
        .post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.LOCAL_PROTECTION);
    long entry = ends[0].sendQueue.ringAddress();
    assertThat(dev.doorbell.core.mlx5.ErrorCqe.vendorSyndrome(entry))
        .isEqualTo(VendorSyndrome.MEMORY_GONE);
  }

  @Test
  void remote_memory_freed_under_a_region_is_the_peers_fault() {
    Endpoint[] ends = pair(SoftHcaOptions.DEFAULT);
    Memory gone = world.memory(1).allocate(MemoryKind.HOST, 4096, "gone");
    MemoryRegion region = ends[1].domain.register(gone, Endpoint.ALL);
    gone.close();
    ends[0].wqe(Opcode.RDMA_WRITE).remote(region.address(), region.rkey()).local(0, 64).post();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.REMOTE_OPERATION);
    AsyncEvent event = world.hca(1).pollAsyncEvent();
    assertThat(event)
        .isEqualTo(new AsyncEvent(AsyncEvent.Type.QP_FATAL, ends[1].queuePair.number()));
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22, 23, 24, 25, 26, 27, 28})
  void garbage_in_the_ring_never_leaves_a_trace_at_the_target(long seed) {
    Random random = new Random(seed);
    Endpoint[] ends = pair(SoftHcaOptions.DEFAULT);
    Endpoint.Shape readOnly =
        Endpoint.Shape.usual().withRights(Set.of(AccessRight.REMOTE_READ), Endpoint.ALL);
    for (int round = 0; round < 50; round++) {
      Endpoint a = new Endpoint(world, 0, readOnly);
      Endpoint b = new Endpoint(world, 1, readOnly);
      Endpoint.connect(a, b);
      byte[] ring = new byte[a.queuePair.attributes().sendBlocks() * SendQueue.BLOCK];
      random.nextBytes(ring);
      for (int block = 0; block < ring.length; block += SendQueue.BLOCK) {
        // A header that passes, so that the rest of the WQE is looked at.
        int index = block / SendQueue.BLOCK;
        int opcode = random.nextInt(0x26);
        int ds = random.nextInt(8);
        java.nio.ByteBuffer wqe = java.nio.ByteBuffer.wrap(ring);
        wqe.putInt(block, (random.nextInt(4) == 0 ? 9 << 24 : 0) | index << 8 | opcode);
        wqe.putInt(block + 4, a.queuePair.number() << 8 | ds);
        if (random.nextBoolean()) {
          wqe.putLong(block + 16, b.address(random.nextInt(4096)));
          wqe.putInt(block + 24, b.region.rkey());
          wqe.putInt(block + 32, random.nextInt(4096));
          wqe.putInt(block + 36, a.region.lkey());
          wqe.putLong(block + 40, a.address(random.nextInt(4096)));
        }
      }
      RawMemory.copyIn(
          java.lang.foreign.MemorySegment.ofArray(ring),
          0,
          a.queuePair.sendRingAddress(),
          ring.length);
      RawMemory.putInt(
          a.queuePair.recordAddress() + 4, DoorbellRecord.encode(ring.length / SendQueue.BLOCK));
      a.ring(ring.length / SendQueue.BLOCK);
      world.settle();
      assertThat(b.buffer.getBytes(0, 8192)).as("seed %d round %d", seed, round).containsOnly(0);
      assertThat(a.buffer.getBytes(0, 8192)).as("seed %d round %d", seed, round).containsOnly(0);
      a.close();
      b.close();
    }
    ends[0].rdmaWrite(ends[1], 0, 0, 8).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
  }

  // Leaks and limits.

  @Test
  void closing_an_hca_gives_everything_back() {
    long before = memory.bytesInUse();
    Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
    Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
    Endpoint.connect(a, b);
    a.domain.allocateOnChip(100);
    a.rdmaWrite(b, 0, 0, 100_000).post();
    world.hca(0).close();
    world.hca(1).close();
    a.buffer.close();
    b.buffer.close();
    assertThat(memory.bytesInUse()).isEqualTo(before);
    world.hca(0).close();
    assertThatThrownBy(() -> world.hca(0).allocateProtectionDomain())
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void queue_pairs_come_and_go_without_end_and_numbers_rest_before_they_return() {
    ProtectionDomain domain = world.hca(0).allocateProtectionDomain();
    long before = memory.bytesInUse();
    int previous = -1;
    for (int i = 0; i < 3_000; i++) {
      Endpoint end = new Endpoint(world, 0, Endpoint.Shape.usual(), domain);
      assertThat(end.queuePair.number()).isNotEqualTo(previous);
      previous = end.queuePair.number();
      end.close();
    }
    assertThat(memory.bytesInUse()).isEqualTo(before);
  }

  @Test
  void a_store_to_the_page_of_a_closed_queue_pair_is_an_error() {
    Endpoint[] ends = pair(SoftHcaOptions.DEFAULT);
    long doorbell = ends[0].queuePair.doorbellAddress();
    ends[0].close();
    assertThatThrownBy(() -> cpu.store64(doorbell, 1, Access.MMIO))
        .isInstanceOf(dev.doorbell.core.memory.AccessFault.class);
  }

  @Test
  void two_hcas_of_one_name_do_not_fit_on_a_wire() {
    InProcessWire wire = new InProcessWire();
    SoftHca one = new SoftHca(fabric, Locus.nic(5, 0), "same");
    SoftHca two = new SoftHca(fabric, Locus.nic(6, 0), "same");
    wire.join(one);
    assertThatThrownBy(() -> wire.join(two))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("'same'");
    one.close();
    two.close();
  }

  @Test
  void an_hca_without_a_wire_reaches_itself() {
    Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
    Endpoint b = new Endpoint(world, 0, Endpoint.Shape.usual());
    Endpoint.connect(a, b);
    a.buffer.putLong(0, 9);
    a.rdmaWrite(b, 0, 8, 8).post();
    assertThat(a.pollSend().isError()).isFalse();
    assertThat(b.buffer.getLong(8)).isEqualTo(9);
  }

  @Test
  void the_last_word_of_a_cqe_is_stored_last() {
    Endpoint[] ends = pair(SoftHcaOptions.DEFAULT);
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    ends[0].pollSend();
    long entry = ends[0].sendQueue.ringAddress();
    assertThat(BigEndian.getInt(entry + Cqe.SOP_DROP_QPN_OFFSET))
        .isEqualTo(Opcode.RDMA_WRITE << 24 | ends[0].queuePair.number());
    assertThat(BigEndian.getInt(entry + Cqe.WQE_COUNTER_OFFSET)).isZero();
    assertThat(BigEndian.getInt(entry + Cqe.BYTE_COUNT_OFFSET)).isEqualTo(8);
  }
}
