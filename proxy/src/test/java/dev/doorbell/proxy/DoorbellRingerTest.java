package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.queue.CommandEntry;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DoorbellRingerTest {
  private static void writeNops(FakeHca hca, int blocks, int from, int count) {
    for (int i = from; i < from + count; i++) {
      WqeBuilder.build(
          new CommandEntry(),
          0,
          i,
          hca.number,
          true,
          SendQueue.blockAddress(hca.ringAddress(), blocks, i));
    }
  }

  @Test
  void it_rings_for_whoever_asked_and_only_once() {
    for (long seed = 0; seed < 10; seed++) {
      try (TestWorld world = new TestWorld(seed, seed * 0.08)) {
        FakeHca[] hcas =
            IntStream.range(0, 3)
                .mapToObj(i -> new FakeHca(world, world, 0x50 + i, 16, 16, true))
                .toArray(FakeHca[]::new);
        Memory requests = world.allocate(MemoryKind.HOST, 4096, "ring requests");
        DoorbellRinger ringer = new DoorbellRinger(world, Locus.cpu(0), ProxyPrices.FREE);
        for (int i = 0; i < hcas.length; i++) {
          ringer.watch(hcas[i].access(i, 0, false), requests.address() + 128L * i);
        }
        for (int round = 0; round < 40; round++) {
          int which = round % 3;
          int from = hcas[which].executed.size();
          int count = 1 + round % 5;
          writeNops(hcas[which], 16, from, count);
          requests.putLong(128L * which, from + count);
          world.runUntil(() -> hcas[which].executed.size() == from + count);
        }
        assertThat(ringer.rings()).describedAs("seed %d", seed).isEqualTo(40);
        assertThat(hcas[0].doorbells + hcas[1].doorbells + hcas[2].doorbells).isEqualTo(40);
      }
    }
  }

  @Test
  void the_record_comes_before_the_doorbell_and_the_16_bit_index_wraps() {
    try (TestWorld world = new TestWorld(0, 0, true)) {
      FakeHca hca = new FakeHca(world, world, 0x50, 16, 16, true);
      SendQueueAccess access = hca.access(0, 0, false);
      Memory request = world.allocate(MemoryKind.HOST, 8, "ring request");
      DoorbellRinger ringer = new DoorbellRinger(world, Locus.cpu(0), new ProxyPrices(100, 0));
      ringer.watch(access, request.address());
      ringer.step(1);
      assertThat(world.log).isEmpty();
      request.putLong(0, 0x1_0003L);
      hca.paused = true;
      ringer.step(1);
      assertThat(hca.sendCounter()).isEqualTo(3);
      assertThat(world.log)
          .containsExactly(
              "spend 100",
              "store32 0x%x 0x3000000 0x0 release.sys".formatted(access.record()),
              "fence 0x0 0x0 0x0 release.sys",
              "store64 0x%x 0x50000000030000 0x0 mmio.sys".formatted(access.doorbell()));
      ringer.step(1);
      assertThat(ringer.rings()).isEqualTo(1);
    }
  }
}
