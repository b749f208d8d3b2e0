package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.generated.ErrorRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ProxyAgentTest {
  private static final int HCA = 0x4200;
  private final List<TestWorld> worlds = new ArrayList<>();

  @AfterEach
  void close() {
    worlds.forEach(TestWorld::close);
  }

  private TestWorld world(long seed, double parking) {
    TestWorld world = new TestWorld(seed, parking);
    worlds.add(world);
    return world;
  }

  private ProxyBench bench(long seed, double parking, int queueEntries, int blocks, int cqEntries) {
    TestWorld world = world(seed, parking);
    FakeHca hca = new FakeHca(world, world, HCA, blocks, cqEntries, cqEntries == 0);
    return new ProxyBench(world, queueEntries, hca, (seed & 1) == 0);
  }

  static Stream<Arguments> shapes() {
    return Stream.of(
        Arguments.of(1, 1, 1),
        Arguments.of(1, 64, 64),
        Arguments.of(2, 1, 0),
        Arguments.of(4, 2, 1),
        Arguments.of(8, 16, 4),
        Arguments.of(16, 4, 16),
        Arguments.of(64, 64, 64),
        Arguments.of(256, 32768, 0));
  }

  /** Random operations against a model in which they happen one after another. */
  @ParameterizedTest(name = "{0} entries, {1} blocks, {2} CQEs")
  @MethodSource("shapes")
  void every_operation_leaves_what_it_would_one_at_a_time(int entries, int blocks, int cqEntries) {
    for (long seed = 0; seed < 6; seed++) {
      ProxyBench bench = bench(seed, seed * 0.1, entries, blocks, cqEntries);
      SplittableRandom random = new SplittableRandom(seed);
      byte[] model = new byte[1 << 16];
      random.nextBytes(model);
      bench.region.putBytes(0, model);
      Producer producer = bench.producer(seed);
      int immediates = 0;
      for (int i = 0; i < 400; i++) {
        CommandEntry command = RandomCommands.next(random, bench.region.address());
        producer.submit(command);
        RandomCommands.apply(command, bench.region.address(), model);
        immediates += command.opcode == CommandEntry.OP_PUT_IMM ? command.immediate : 0;
      }
      bench.world.runUntil(() -> producer.done() && bench.queue.finished() == 400);
      assertThat(Arrays.mismatch(bench.region.getBytes(0, model.length), model))
          .describedAs("seed %d: first byte that differs", seed)
          .isEqualTo(-1);
      assertThat(bench.hca.immediates).isEqualTo(immediates);
      assertThat(bench.proxy.counters().completed).isEqualTo(400);
      assertThat(bench.queue.failed()).isFalse();
      bench.conserved();
    }
  }

  @Test
  void commands_survive_many_laps_of_queue_rings_and_16_bit_index() {
    ProxyBench bench = bench(3, 0.02, 4, 2, 2);
    Producer producer = bench.producer(1);
    int count = 140_000;
    CommandEntry add = bench.put(0, 64, 8);
    add.opcode = CommandEntry.OP_PUT_SIGNAL;
    add.compare = bench.region.address() + 128;
    add.fetched = bench.region.address() + 192;
    EntryWriter.signalKey(add, FakeHca.KEY);
    add.operand = 1;
    long refilled = 0;
    while (bench.queue.finished() < count) {
      for (; refilled < Math.min(count, bench.queue.finished() + 64); refilled++) {
        producer.submit(add);
      }
      long target = refilled;
      bench.world.runUntil(() -> bench.queue.finished() == target);
    }
    assertThat(bench.region.getLong(128)).isEqualTo(count);
    assertThat(bench.region.getLong(192)).isEqualTo(count - 1);
    assertThat(bench.proxy.counters().wqes).isEqualTo(2L * count);
    assertThat(bench.hca.sendCounter()).isEqualTo(2 * count & 0xffff);
    bench.conserved();
  }

  @Test
  void producers_may_store_words_in_any_order_and_overtake_each_other() {
    for (long seed = 1; seed <= 20; seed++) {
      ProxyBench bench = bench(seed, 0.2, 8, 8, 8);
      List<Producer> producers = new ArrayList<>();
      CommandEntry add = bench.put(0, 0, 0);
      add.opcode = CommandEntry.OP_FETCH_ADD;
      long expected = 0;
      for (int p = 0; p < 5; p++) {
        Producer producer = bench.producer(seed * 100 + p);
        for (int i = 0; i < 60; i++) {
          add.operand = 1L << (8 * p);
          add.localAddress = bench.region.address() + 1024 + 8L * p;
          expected += add.operand;
          producer.submit(add);
        }
        producers.add(producer);
      }
      bench.world.runUntil(
          () -> producers.stream().allMatch(Producer::done) && bench.queue.finished() == 300);
      assertThat(bench.region.getLong(0)).describedAs("seed %d", seed).isEqualTo(expected);
      bench.conserved();
    }
  }

  @Test
  void an_entry_of_which_a_word_is_missing_is_not_taken() {
    ProxyBench bench = bench(0, 0, 4, 4, 4);
    CommandEntry put = bench.put(0, 64, 8);
    long[] words = new long[CommandEntry.WORDS];
    EntryWriter.full(put, 0, 4, words);
    for (int missing = 0; missing < CommandEntry.WORDS; missing++) {
      for (int i = 0; i < CommandEntry.WORDS; i++) {
        RawMemory.putLong(bench.queue.view().ring() + 8L * i, i == missing ? 0 : words[i]);
      }
      for (int i = 0; i < 10; i++) {
        assertThat(bench.proxy.step(64)).isZero();
      }
      assertThat(bench.proxy.counters().commands).isZero();
      assertThat(bench.queue.consumed()).isZero();
    }
  }

  @Test
  void a_full_send_queue_delays_commands_and_drops_none() {
    ProxyBench bench = bench(0, 0, 16, 4, 4);
    Producer producer = bench.producer(5);
    bench.hca.paused = true;
    for (int i = 0; i < 40; i++) {
      producer.submit(bench.put(0, 64, 8));
    }
    for (int i = 0; i < 2000; i++) {
      bench.world.run(() -> true, 1);
      producer.step(1);
      bench.proxy.step(64);
    }
    assertThat(bench.proxy.counters().wqes).isEqualTo(4);
    assertThat(bench.queue.consumed()).describedAs("four posted and one held").isEqualTo(5);
    assertThat(bench.proxy.counters().waits).isEqualTo(1);
    assertThat(bench.queue.finished()).isZero();
    bench.hca.paused = false;
    bench.world.runUntil(() -> bench.queue.finished() == 40);
    assertThat(bench.hca.executed).hasSize(40);
    bench.conserved();
  }

  @Test
  void an_error_ends_every_command_and_names_the_first() {
    for (long seed = 0; seed < 12; seed++) {
      boolean collapsed = seed % 3 == 0;
      ProxyBench bench = bench(seed, 0.1, 32, 16, collapsed ? 0 : 16);
      Producer producer = bench.producer(seed);
      for (int i = 0; i < 30; i++) {
        CommandEntry put = bench.put(0, 64, 8);
        put.remoteKey = i == 11 ? 0xbad : FakeHca.KEY;
        producer.submit(put);
      }
      bench.world.runUntil(() -> producer.done() && bench.queue.finished() == 30);
      assertThat(bench.queue.failed()).isTrue();
      assertThat(bench.hca.executed).describedAs("seed %d", seed).hasSize(11);
      ErrorRecord error = bench.error();
      assertThat(error.status()).isEqualTo(Abi.ERROR_CQE);
      assertThat(error.number24()).isEqualTo(HCA);
      assertThat(error.thread()).isEqualTo(ErrorRecord.CPU);
      assertThat(error.vendorSyndrome()).isEqualTo(0x77);
      if (error.syndrome() == Syndrome.FLUSHED) {
        assertThat(collapsed).describedAs("a flush CQE hid the error's").isTrue();
      } else {
        assertThat(error.syndrome()).isEqualTo(Syndrome.REMOTE_ACCESS);
        assertThat(error.wqeIndex()).isEqualTo(11);
        assertThat(error.awaited()).isEqualTo(11);
        assertThat(error.completed()).isEqualTo(11);
        assertThat(bench.proxy.counters().completed).isEqualTo(11);
      }
      bench.conserved();

      long wqes = bench.proxy.counters().wqes;
      producer.submit(bench.put(0, 64, 8));
      bench.world.runUntil(() -> bench.queue.finished() == 31);
      assertThat(bench.proxy.counters().wqes).describedAs("nothing more is posted").isEqualTo(wqes);
      bench.conserved();
    }
  }

  @Test
  void a_command_that_cannot_be_expressed_fails_and_the_others_go_on() {
    ProxyBench bench = bench(0, 0, 8, 8, 8);
    Producer producer = bench.producer(1);
    bench.region.putLong(0, 77);
    CommandEntry odd = bench.put(0, 64, 8);
    odd.opcode = 0x7e;
    CommandEntry lost = bench.put(0, 64, 8);
    lost.queuePair = 9;
    producer.submit(odd);
    producer.submit(lost);
    producer.submit(bench.put(0, 64, 8));
    bench.world.runUntil(() -> bench.queue.finished() == 3);
    assertThat(bench.proxy.counters().failed).isEqualTo(2);
    assertThat(bench.error().status()).isEqualTo(Abi.ERROR_ARGUMENT);
    assertThat(bench.error().awaited()).isEqualTo(1);
    assertThat(bench.region.getLong(64)).isEqualTo(77);
    assertThat(bench.queue.failed()).isTrue();
    bench.conserved();
  }

  @Test
  void messages_without_bytes_and_flushes_finish() {
    ProxyBench bench = bench(0, 0.3, 4, 2, 2);
    Producer producer = bench.producer(1);
    int[] opcodes = {
      CommandEntry.OP_PUT,
      CommandEntry.OP_PUT_IMM,
      CommandEntry.OP_GET,
      CommandEntry.OP_PUT_INLINE,
      CommandEntry.OP_NOP,
      CommandEntry.OP_FLUSH
    };
    for (int opcode : opcodes) {
      CommandEntry command = bench.put(0, 64, 0);
      command.localAddress = 0;
      command.remoteAddress = 0;
      command.opcode = opcode;
      producer.submit(command);
    }
    bench.world.runUntil(() -> bench.queue.finished() == opcodes.length);
    assertThat(bench.hca.executed).hasSize(opcodes.length - 1);
    bench.conserved();
  }

  @Test
  void a_flush_finishes_after_everything_before_it() {
    ProxyBench bench = bench(0, 0, 8, 8, 8);
    bench.hca.paused = true;
    Producer producer = bench.producer(1);
    producer.submit(bench.put(0, 64, 8));
    CommandEntry flush = new CommandEntry();
    flush.opcode = CommandEntry.OP_FLUSH;
    producer.submit(flush);
    bench.world.runUntil(() -> bench.proxy.counters().commands == 2);
    assertThat(bench.queue.finished()).isZero();
    bench.hca.paused = false;
    bench.world.runUntil(() -> bench.queue.finished() == 2);
  }

  @Test
  void an_entry_of_a_lap_that_is_not_due_is_an_error_that_says_so() {
    ProxyBench bench = bench(0, 0, 4, 4, 4);
    long[] words = new long[CommandEntry.WORDS];
    EntryWriter.full(bench.put(0, 64, 8), 8, 4, words);
    for (int i = 0; i < CommandEntry.WORDS; i++) {
      RawMemory.putLong(bench.queue.view().ring() + 8L * i, words[i]);
    }
    assertThatThrownBy(() -> bench.proxy.step(64))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("command queue 3: entry 0 was written for another index")
        .hasMessageContaining("make a new queue");
  }

  @Test
  void queue_pairs_share_a_queue_and_queues_share_a_queue_pair() {
    for (long seed = 1; seed < 8; seed++) {
      TestWorld world = world(seed, 0.15);
      FakeHca[] hcas = {
        new FakeHca(world, world, 0x10, 2, 2, false), new FakeHca(world, world, 0x11, 8, 0, true)
      };
      Memory[] errors = new Memory[2];
      SendQueueAccess[] access = new SendQueueAccess[2];
      for (int i = 0; i < 2; i++) {
        errors[i] = world.allocate(MemoryKind.HOST, ErrorRecord.BYTES, "error record");
        access[i] = hcas[i].access(i, errors[i].address(), true);
      }
      Memory region = world.allocate(MemoryKind.DEVICE, 4096, "region");
      CommandQueue both = new CommandQueue(world, 4, 0);
      CommandQueue second = new CommandQueue(world, 4, 1);
      ProxyAgent proxy = new ProxyAgent(world, Locus.cpu(0), ProxyPrices.FREE);
      proxy.serve(both, access);
      proxy.serve(second, access[1]);
      Producer a = new Producer(world, both.view(), seed);
      Producer b = new Producer(world, second.view(), -seed);
      for (int i = 0; i < 100; i++) {
        CommandEntry signal = new CommandEntry();
        signal.opcode = CommandEntry.OP_PUT_SIGNAL;
        signal.queuePair = i % 2;
        signal.localAddress = region.address();
        signal.remoteAddress = region.address() + 64;
        signal.remoteKey = FakeHca.KEY;
        signal.length = 8;
        signal.operand = 1;
        signal.compare = region.address() + 128 + 8L * (i % 2);
        signal.fetched = region.address() + 256;
        EntryWriter.signalKey(signal, FakeHca.KEY);
        a.submit(signal);
        signal.queuePair = 1;
        signal.compare = region.address() + 144;
        b.submit(signal);
      }
      world.runUntil(() -> both.finished() == 100 && second.finished() == 100);
      assertThat(region.getLong(128)).describedAs("seed %d", seed).isEqualTo(50);
      assertThat(region.getLong(136)).isEqualTo(50);
      assertThat(region.getLong(144)).isEqualTo(100);
      assertThat(proxy.counters().completed).isEqualTo(200);
    }
  }

  @Test
  void an_error_on_one_queue_pair_leaves_the_other_alone() {
    TestWorld world = world(4, 0.1);
    FakeHca bad = new FakeHca(world, world, 0x10, 4, 4, false);
    FakeHca good = new FakeHca(world, world, 0x11, 4, 4, false);
    Memory badError = world.allocate(MemoryKind.HOST, ErrorRecord.BYTES, "error record");
    Memory goodError = world.allocate(MemoryKind.HOST, ErrorRecord.BYTES, "error record");
    Memory region = world.allocate(MemoryKind.DEVICE, 4096, "region");
    CommandQueue queue = new CommandQueue(world, 8, 0);
    ProxyAgent proxy = new ProxyAgent(world, Locus.cpu(0), ProxyPrices.FREE);
    proxy.serve(
        queue,
        bad.access(0, badError.address(), false),
        good.access(1, goodError.address(), false));
    Producer producer = new Producer(world, queue.view(), 1);
    for (int i = 0; i < 40; i++) {
      CommandEntry add = new CommandEntry();
      add.opcode = CommandEntry.OP_FETCH_ADD;
      add.queuePair = i % 2;
      add.remoteKey = i % 2 == 0 ? 0xbad : FakeHca.KEY;
      add.remoteAddress = region.address();
      add.localAddress = region.address() + 8;
      add.operand = 1;
      producer.submit(add);
    }
    world.runUntil(() -> queue.finished() == 40);
    assertThat(region.getLong(0)).isEqualTo(20);
    assertThat(proxy.counters().failed).isEqualTo(20);
    assertThat(badError.getLong(0) & 0xffffffffL).isEqualTo(Abi.ERROR_CQE);
    assertThat(goodError.getLong(0)).isZero();
  }

  @Test
  void an_idle_agent_says_so_and_stores_nothing() {
    TestWorld world = new TestWorld(0, 0, true);
    worlds.add(world);
    FakeHca hca = new FakeHca(world, world, HCA, 4, 4, false);
    ProxyBench bench = new ProxyBench(world, 4, hca, true);
    for (int i = 1; i <= 5; i++) {
      assertThat(bench.proxy.step(64)).isZero();
      assertThat(world.ports.getFirst().failedPolls).isEqualTo(i);
      assertThat(bench.proxy.counters().spins).isEqualTo(i);
    }
    assertThat(world.log).isEmpty();
  }

  @Test
  void its_own_work_has_the_prices_it_was_given() {
    TestWorld world = world(0, 0);
    FakeHca hca = new FakeHca(world, world, HCA, 64, 64, false);
    CommandQueue queue = new CommandQueue(world, 64, 0);
    Memory region = world.allocate(MemoryKind.DEVICE, 4096, "region");
    ProxyAgent proxy = new ProxyAgent(world, Locus.cpu(0), new ProxyPrices(1000, 7));
    proxy.serve(queue, hca.access(0, 0, true));
    ParkingPort port = world.ports.getFirst();
    Producer producer = new Producer(world, queue.view(), 1);
    for (int i = 0; i < 10; i++) {
      CommandEntry get = new CommandEntry();
      get.opcode = CommandEntry.OP_GET;
      get.remoteAddress = region.address();
      get.localAddress = region.address() + 64;
      get.remoteKey = FakeHca.KEY;
      get.length = 8;
      producer.submit(get);
    }
    world.runUntil(() -> queue.finished() == 10);
    assertThat(proxy.counters().wqes).describedAs("a READ and a DUMP each").isEqualTo(20);
    assertThat(port.spent).isEqualTo(1000 * proxy.counters().batches + 7 * 20);
  }

  @Test
  void counters_of_producers_and_consumer_lie_on_lines_of_their_own() {
    CommandQueue queue = new CommandQueue(world(0, 0), 8, 0);
    long[] addresses = {
      queue.view().ring(), queue.view().head(), queue.view().consumed(), queue.view().finished()
    };
    for (int i = 0; i < addresses.length; i++) {
      for (int j = 0; j < i; j++) {
        assertThat(Math.abs(addresses[i] - addresses[j])).isGreaterThanOrEqualTo(128);
      }
    }
  }

  @Test
  void another_agent_goes_on_where_the_first_one_ended() {
    ProxyBench bench = bench(0, 0, 4, 4, 4);
    Producer producer = bench.producer(1);
    for (int i = 0; i < 7; i++) {
      producer.submit(bench.put(0, 64, 8));
    }
    bench.world.runUntil(() -> bench.queue.finished() == 7);
    bench.proxy.close();
    FakeHca next = new FakeHca(bench.world, bench.world, 0x99, 4, 4, false);
    ProxyAgent proxy = new ProxyAgent(bench.world, Locus.cpu(0), ProxyPrices.FREE);
    proxy.serve(bench.queue, next.access(0, 0, true));
    for (int i = 0; i < 7; i++) {
      producer.submit(bench.put(0, 64, 8));
    }
    bench.world.runUntil(() -> bench.queue.finished() == 14);
    assertThat(next.executed).hasSize(7);
  }

  @Test
  void queue_pairs_that_cannot_be_told_apart_are_refused() {
    TestWorld world = world(0, 0);
    FakeHca one = new FakeHca(world, world, 0x10, 4, 4, false);
    FakeHca two = new FakeHca(world, world, 0x11, 4, 4, false);
    ProxyAgent proxy = new ProxyAgent(world, Locus.cpu(0), ProxyPrices.FREE);
    CommandQueue queue = new CommandQueue(world, 8, 0);
    assertThatThrownBy(() -> proxy.serve(queue, one.access(2, 0, true), two.access(2, 0, true)))
        .hasMessageContaining("both have index 2");
    assertThatThrownBy(() -> proxy.serve(queue, one.access(2, 0, false)))
        .hasMessageContaining("share a ring");
    assertThatThrownBy(() -> new CommandQueue(world, 12, 0))
        .hasMessageContaining("power of two of entries from 1 to 1048576, not 12");
  }

  @Test
  void another_handler_takes_commands_and_ends_them_in_any_order() {
    TestWorld world = world(6, 0.2);
    CommandQueue queue = new CommandQueue(world, 4, 0);
    Producer producer = new Producer(world, queue.view(), 2);
    for (int i = 0; i < 30; i++) {
      CommandEntry command = new CommandEntry();
      command.operand = i;
      producer.submit(command);
    }
    world.runUntil(() -> producer.last == 3);
    ProxyAgent proxy = new ProxyAgent(world, Locus.cpu(0), ProxyPrices.FREE);
    StackHandler handler = new StackHandler();
    proxy.serve(queue, handler);
    world.runUntil(() -> queue.finished() == 30);
    assertThat(handler.seen).hasSize(30).isSorted();
    assertThat(proxy.counters().completed).isEqualTo(30);
    assertThat(proxy.counters().waits).isPositive();
  }
}
