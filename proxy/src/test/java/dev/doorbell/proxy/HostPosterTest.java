package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.CommandEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class HostPosterTest {
  private static final long SECONDS = 1_000_000_000L;

  @Test
  void the_host_writes_the_wqes_that_the_proxy_writes() {
    for (long seed = 1; seed <= 10; seed++) {
      List<List<String>> images = new ArrayList<>();
      List<byte[]> bytes = new ArrayList<>();
      for (boolean host : new boolean[] {true, false}) {
        try (TestWorld world = new TestWorld(seed, 0.1)) {
          SplittableRandom random = new SplittableRandom(seed);
          FakeHca hca = new FakeHca(world, world, 0x77, 8, 8, false);
          Memory region = world.allocate(MemoryKind.DEVICE, 1 << 16, "region");
          byte[] initial = new byte[1 << 16];
          random.nextBytes(initial);
          region.putBytes(0, initial);
          List<CommandEntry> commands = new ArrayList<>();
          while (commands.size() < 200) {
            CommandEntry command = RandomCommands.next(random, region.address());
            if (command.opcode != CommandEntry.OP_FLUSH) {
              commands.add(command);
            }
          }
          if (host) {
            HostPoster poster =
                new HostPoster(world, Locus.cpu(0), ProxyPrices.FREE, hca.access(0, 0, true));
            commands.forEach(poster::post);
            assertThat(poster.await(30 * SECONDS)).isEqualTo(RunOutcome.DONE);
            assertThat(poster.counters().completed).isEqualTo(200);
          } else {
            CommandQueue queue = new CommandQueue(world, 8, 0);
            ProxyAgent proxy = new ProxyAgent(world, Locus.cpu(0), ProxyPrices.FREE);
            proxy.serve(queue, hca.access(0, 0, true));
            Producer producer = new Producer(world, queue.view(), seed);
            commands.forEach(producer::submit);
            world.runUntil(() -> queue.finished() == 200);
          }
          images.add(hca.executed.stream().map(FakeHca::hex).toList());
          bytes.add(region.getBytes(0, 1 << 16));
        }
      }
      assertThat(bytes.get(0)).describedAs("seed %d", seed).isEqualTo(bytes.get(1));
      // Addresses differ between two worlds; the words before them do not.
      for (int i = 0; i < images.get(0).size(); i++) {
        assertThat(images.get(0).get(i).substring(0, 35))
            .isEqualTo(images.get(1).get(i).substring(0, 35));
      }
      assertThat(images.get(0)).hasSameSizeAs(images.get(1));
    }
  }

  /** The order of rdma-core's post_send_db: WQE, barrier, record, barrier, doorbell. */
  @Test
  void the_wqe_is_stored_before_the_record_and_the_record_before_the_doorbell() {
    try (TestWorld world = new TestWorld(0, 0, true)) {
      FakeHca hca = new FakeHca(world, world, 0x77, 8, 8, false);
      SendQueueAccess access = hca.access(0, 0, false);
      HostPoster poster = new HostPoster(world, Locus.cpu(0), new ProxyPrices(0, 80), access);
      CommandEntry put = new CommandEntry();
      put.opcode = CommandEntry.OP_PUT;
      put.length = 8;
      put.remoteKey = FakeHca.KEY;
      poster.post(put);
      hca.paused = true;
      poster.step(1);
      poster.step(1);
      assertThat(world.log.stream().map(line -> line.replaceAll("^(\\S+ \\S+) \\S+ \\S+ ", "$1 ")))
          .containsExactly(
              "spend 80",
              "store128 0x%x weak".formatted(access.ring()),
              "store128 0x%x weak".formatted(access.ring() + 16),
              "store128 0x%x weak".formatted(access.ring() + 32),
              "store32 0x%x release.sys".formatted(access.record()),
              "fence 0x0 release.sys",
              "store64 0x%x mmio.sys".formatted(access.doorbell()));
      assertThat(hca.doorbells).isEqualTo(1);
    }
  }

  @Test
  void single_wqes_go_to_the_halves_of_the_blueflame_register_in_turn() {
    try (TestWorld world = new TestWorld(0, 0)) {
      FakeHca hca = new FakeHca(world, world, 0x77, 8, 8, false);
      HostPoster poster =
          new HostPoster(world, Locus.cpu(0), ProxyPrices.FREE, hca.access(0, 0, true));
      CommandEntry nop = new CommandEntry();
      for (int i = 0; i < 5; i++) {
        poster.post(nop);
        assertThat(poster.await(30 * SECONDS)).isEqualTo(RunOutcome.DONE);
      }
      assertThat(hca.blueFlameHalves).containsExactly(0, 1, 0, 1, 0);
      assertThat(hca.doorbells).isZero();
      for (int i = 0; i < 5; i++) {
        poster.post(nop);
      }
      assertThat(poster.await(30 * SECONDS)).isEqualTo(RunOutcome.DONE);
      assertThat(hca.doorbells).describedAs("several WQEs take one doorbell").isEqualTo(1);
      assertThat(hca.blueFlameHalves).hasSize(5);
    }
  }

  @Test
  void the_listener_hears_of_every_command_once() {
    try (TestWorld world = new TestWorld(5, 0.2)) {
      FakeHca hca = new FakeHca(world, world, 0x77, 4, 4, false);
      Memory region = world.allocate(MemoryKind.DEVICE, 4096, "region");
      List<Long> ended = new ArrayList<>();
      List<Long> failed = new ArrayList<>();
      HostPoster poster =
          new HostPoster(
              world,
              Locus.cpu(0),
              ProxyPrices.FREE,
              hca.access(0, 0, true),
              (ticket, bad, nanos) -> (bad ? failed : ended).add(ticket));
      for (int i = 0; i < 20; i++) {
        CommandEntry put = new CommandEntry();
        put.opcode = CommandEntry.OP_PUT;
        put.length = 1;
        put.localAddress = region.address();
        put.remoteAddress = region.address() + 8;
        put.remoteKey = i < 13 ? FakeHca.KEY : 0xbad;
        poster.post(put);
      }
      assertThat(poster.await(30 * SECONDS)).isEqualTo(RunOutcome.DONE);
      assertThat(ended).hasSize(13).isSorted();
      assertThat(failed).containsExactly(13L, 14L, 15L, 16L, 17L, 18L, 19L);
      assertThat(poster.counters().inFlight()).isZero();
      CommandEntry flush = new CommandEntry();
      flush.opcode = CommandEntry.OP_FLUSH;
      assertThatThrownBy(() -> poster.post(flush)).hasMessageContaining("await()");
    }
  }
}
