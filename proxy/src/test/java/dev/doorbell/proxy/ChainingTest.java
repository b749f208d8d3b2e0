package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.proxy.CommandFormat.OffsetCommandFormat;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Short commands and chains of WQEs, through the proxy and by a host thread alone. */
class ChainingTest {
  private static final int SLOT = 64;

  private static List<Boolean> asked(FakeHca hca) {
    return hca.executed.stream()
        .map(wqe -> (wqe[ControlSegment.FM_CE_SE_OFFSET] & ControlSegment.CQ_UPDATE) != 0)
        .toList();
  }

  private static OffsetCommandFormat format(OffsetCommandFormat.Layout layout, Memory region) {
    return new OffsetCommandFormat(
        layout, region.address(), 0, region.address() + region.size() / 2, FakeHca.KEY);
  }

  /**
   * Puts of slot i to slot i of the other half, from a producer that may store words in any order.
   */
  @ParameterizedTest
  @CsvSource({
    "SHORT, 1, 1, 4, false",
    "SHORT, 2, 1, 64, false",
    "SHORT, 8, 4, 8, true",
    "SHORT, 64, 16, 16, false",
    "SHORT, 4, 16, 2, false",
    "WIDE, 2, 1, 64, false",
    "WIDE, 16, 8, 4, true"
  })
  void commands_between_regions_move_bytes_over_many_laps(
      OffsetCommandFormat.Layout layout, int entries, int chain, int blocks, boolean adaptive) {
    for (long seed = 0; seed < 8; seed++) {
      try (TestWorld world = new TestWorld(seed, 0.1)) {
        FakeHca hca = new FakeHca(world, world, 0x77, blocks, blocks, false);
        Memory region = world.allocate(MemoryKind.HOST, 1 << 14, "region");
        byte[] payload = new byte[1 << 13];
        new SplittableRandom(seed).nextBytes(payload);
        region.putBytes(0, payload);
        OffsetCommandFormat format = format(layout, region);
        MemoryKind counter = (seed & 1) == 0 ? MemoryKind.HOST : MemoryKind.DEVICE;
        CommandQueue queue = new CommandQueue(world, entries, 0, format, counter);
        ProxyAgent proxy =
            new ProxyAgent(
                world,
                Locus.cpu(0),
                ProxyPrices.FREE,
                adaptive ? Chaining.adaptive(chain) : Chaining.of(chain));
        proxy.serve(queue, hca.access(0, 0, true));
        Producer producer = new Producer(world, queue.view(), seed, format);
        CommandEntry put = new CommandEntry();
        int count = payload.length / SLOT;
        for (int i = 0; i < count; i++) {
          put.opcode = i % 3 == 0 ? CommandEntry.OP_PUT_INLINE : CommandEntry.OP_PUT;
          put.localAddress = (long) i * SLOT;
          put.remoteAddress = (long) i * SLOT;
          put.length = i % 3 == 0 ? 1 + i % 24 : SLOT - 1;
          producer.submit(put);
        }
        world.runUntil(() -> producer.done() && queue.finished() == count);
        for (int i = 0; i < count; i++) {
          int length = i % 3 == 0 ? 1 + i % 24 : SLOT - 1;
          byte[] sent = Arrays.copyOfRange(payload, i * SLOT, i * SLOT + length);
          assertThat(region.getBytes(region.size() / 2 + (long) i * SLOT, length))
              .describedAs("seed %d, message %d", seed, i)
              .isEqualTo(sent);
        }
        assertThat(queue.failed()).isFalse();
        assertThat(proxy.counters().completed).isEqualTo(count);
      }
    }
  }

  @Test
  void a_chain_has_one_doorbell_and_its_last_wqe_asks_for_the_cqe() {
    try (TestWorld world = new TestWorld(0, 0)) {
      FakeHca hca = new FakeHca(world, world, 0x77, 64, 64, false);
      Memory region = world.allocate(MemoryKind.HOST, 1 << 14, "region");
      OffsetCommandFormat format = format(OffsetCommandFormat.Layout.SHORT, region);
      CommandQueue queue = new CommandQueue(world, 16, 0, format, MemoryKind.HOST);
      Producer producer = new Producer(world, queue.view(), 1, format);
      CommandEntry put = new CommandEntry();
      put.opcode = CommandEntry.OP_PUT;
      put.length = 8;
      for (int i = 0; i < 10; i++) {
        producer.submit(put);
      }
      world.runUntil(producer::done);
      ProxyAgent proxy = new ProxyAgent(world, Locus.cpu(0), ProxyPrices.FREE, Chaining.of(4));
      proxy.serve(queue, hca.access(0, 0, false));
      world.runUntil(() -> queue.finished() == 10);
      assertThat(hca.doorbells).isEqualTo(3);
      assertThat(asked(hca))
          .containsExactly(false, false, false, true, false, false, false, true, false, true);
      assertThat(proxy.counters().largestBatch).isEqualTo(4);
    }
  }

  @Test
  void an_adaptive_chain_grows_with_what_is_there_and_shrinks_again() {
    Chaining chaining = Chaining.adaptive(16);
    assertThat(chaining.first()).isEqualTo(1);
    assertThat(chaining.next(1, 1)).isEqualTo(2);
    assertThat(chaining.next(8, 8)).isEqualTo(16);
    assertThat(chaining.next(16, 16)).isEqualTo(16);
    assertThat(chaining.next(16, 8)).isEqualTo(16);
    assertThat(chaining.next(16, 7)).isEqualTo(8);
    assertThat(chaining.next(1, 0)).isEqualTo(1);
    assertThat(Chaining.of(16).next(16, 0)).isEqualTo(16);
  }

  @Test
  void a_chain_may_be_longer_than_the_ring() {
    try (TestWorld world = new TestWorld(0, 0.1)) {
      FakeHca hca = new FakeHca(world, world, 0x77, 4, 4, false);
      CommandEntry nop = new CommandEntry();
      HostPutLoop putter =
          new HostPutLoop(
              world,
              Locus.cpu(0),
              ProxyPrices.FREE,
              hca.access(0, 0, false),
              Chaining.of(64),
              HostPutLoop.Task.puts(nop, 40, 40));
      world.runUntil(putter::done);
      assertThat(putter.failed()).isFalse();
      assertThat(hca.executed).hasSize(40);
      assertThat(hca.doorbells).isEqualTo(10);
    }
  }

  @Test
  void a_host_thread_stops_at_a_put_that_fails() {
    try (TestWorld world = new TestWorld(3, 0.2)) {
      FakeHca hca = new FakeHca(world, world, 0x77, 8, 8, false);
      Memory region = world.allocate(MemoryKind.HOST, 4096, "region");
      CommandEntry put = new CommandEntry();
      put.opcode = CommandEntry.OP_PUT;
      put.length = 8;
      put.localAddress = region.address();
      put.remoteAddress = region.address() + 8;
      put.remoteKey = 0xbad;
      HostPutLoop putter =
          new HostPutLoop(
              world,
              Locus.cpu(0),
              ProxyPrices.FREE,
              hca.access(0, 0, true),
              Chaining.of(1),
              HostPutLoop.Task.puts(put, 5, 1));
      world.runUntil(putter::done);
      assertThat(putter.failed()).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"8, true", "8, false", "24, true", "64, false"})
  void two_host_threads_answer_each_other(int bytes, boolean inline) {
    for (long seed = 0; seed < 5; seed++) {
      try (TestWorld world = new TestWorld(seed, 0.1)) {
        Memory region = world.allocate(MemoryKind.HOST, 4096, "region");
        HostPutLoop[] both = new HostPutLoop[2];
        for (int side = 0; side < 2; side++) {
          FakeHca hca = new FakeHca(world, world, 0x77 + side, 8, 8, false);
          long own = region.address() + side * 1024L;
          CommandEntry put = new CommandEntry();
          put.opcode = inline ? CommandEntry.OP_PUT_INLINE : CommandEntry.OP_PUT;
          put.length = bytes;
          put.localAddress = inline ? 0 : own + 512;
          put.remoteAddress = region.address() + (1 - side) * 1024L;
          put.remoteKey = FakeHca.KEY;
          both[side] =
              new HostPutLoop(
                  world,
                  Locus.cpu(side),
                  ProxyPrices.FREE,
                  hca.access(0, 0, true),
                  Chaining.of(1),
                  new HostPutLoop.Task(
                      put, 30, 1, side == 1, own + bytes - 8, inline ? 0 : own + 512 + bytes - 8));
        }
        world.runUntil(() -> both[0].done() && both[1].done());
        for (int side = 0; side < 2; side++) {
          assertThat(both[side].failed()).isFalse();
          assertThat(region.getLong(side * 1024L + bytes - 8)).isEqualTo(30);
        }
      }
    }
  }
}
