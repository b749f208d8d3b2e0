package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.generated.CommandQueueView;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.core.trace.TraceEvent;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.device.HcaTiming;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The proxy and the host poster with the software HCA, between two ranks. */
class SoftHcaTest {
  private static final Set<AccessRight> ALL =
      EnumSet.of(
          AccessRight.LOCAL_WRITE,
          AccessRight.REMOTE_WRITE,
          AccessRight.REMOTE_READ,
          AccessRight.REMOTE_ATOMIC);
  private static final int HALF = 1 << 15;
  private static final long PATIENCE = 20_000_000_000L;
  private static final HcaTiming ROUND = new HcaTiming(50, 120, 100);

  /** Who posts. */
  enum Poster {
    PROXY,
    HOST
  }

  /** One rank: an HCA and a queue pair over half a region. */
  private static final class Rank {
    final Memory buffer;
    final MemoryRegion region;
    final QueuePair queuePair;

    Rank(
        Fabric fabric,
        InProcessWire wire,
        HcaTiming timing,
        int rank,
        int bytes,
        int blocks,
        CompletionQueueAttributes completions,
        MemoryKind ringIn) {
      SoftHca hca =
          new SoftHca(
              fabric, Locus.nic(rank, 0), "soft" + rank, SoftHcaOptions.DEFAULT.withTiming(timing));
      wire.join(hca);
      MemoryProvider memory =
          (kind, size, label) -> NativeMemory.allocate(fabric.memory(), rank, kind, size, label);
      ProtectionDomain domain = hca.allocateProtectionDomain();
      buffer = memory.allocate(MemoryKind.DEVICE, bytes, "buffer");
      region = domain.register(buffer, ALL);
      CompletionQueue receives =
          domain.createCompletionQueue(
              CompletionQueueAttributes.ring(1024, MemoryKind.HOST), memory);
      queuePair =
          domain.createQueuePair(
              new QueuePairAttributes(
                  blocks,
                  1024,
                  domain.createCompletionQueue(completions, memory),
                  receives,
                  ringIn,
                  ringIn),
              memory);
    }
  }

  private static Rank[] connect(
      Fabric fabric,
      HcaTiming timing,
      int bytes,
      int blocks,
      CompletionQueueAttributes completions,
      MemoryKind ringIn) {
    InProcessWire wire = new InProcessWire();
    Rank[] ranks = new Rank[2];
    for (int i = 0; i < 2; i++) {
      ranks[i] = new Rank(fabric, wire, timing, i, bytes, blocks, completions, ringIn);
    }
    for (int i = 0; i < 2; i++) {
      ranks[i].queuePair.connect(
          ranks[1 - i].queuePair.address(), ALL, ConnectionAttributes.DEFAULT);
    }
    return ranks;
  }

  /** The command of {@link RandomCommands} between the two ranks' buffers. */
  private static CommandEntry between(CommandEntry model, Rank[] ranks) {
    CommandEntry command = new CommandEntry();
    command.set(model);
    if (model.opcode != CommandEntry.OP_PUT_INLINE) {
      command.localAddress += ranks[0].buffer.address();
    }
    command.remoteAddress += ranks[1].buffer.address() - HALF;
    command.localKey = ranks[0].region.lkey();
    command.remoteKey = ranks[1].region.rkey();
    if (model.opcode == CommandEntry.OP_PUT_SIGNAL) {
      command.compare += ranks[1].buffer.address() - HALF;
      command.fetched += ranks[0].buffer.address();
      EntryWriter.signalKey(command, ranks[1].region.rkey());
    }
    return command;
  }

  private static void random(Fabric fabric, Poster poster, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    MemoryKind ringIn = random.nextBoolean() ? MemoryKind.HOST : MemoryKind.DEVICE;
    MemoryKind cqIn = random.nextBoolean() ? MemoryKind.HOST : MemoryKind.DEVICE;
    int blocks = 1 << random.nextInt(7);
    CompletionQueueAttributes completions =
        switch (random.nextInt(3)) {
          case 0 -> CompletionQueueAttributes.collapsed(cqIn);
          case 1 -> CompletionQueueAttributes.ring(1 << random.nextInt(6), cqIn);
          default ->
              new CompletionQueueAttributes(1 << random.nextInt(6), false, false, cqIn, cqIn);
        };
    Rank[] ranks = connect(fabric, HcaTiming.ZERO, HALF, blocks, completions, ringIn);
    byte[] model = new byte[2 * HALF];
    random.nextBytes(model);
    ranks[0].buffer.putBytes(0, Arrays.copyOf(model, HALF));
    ranks[1].buffer.putBytes(0, Arrays.copyOfRange(model, HALF, 2 * HALF));
    SendQueueAccess access = SendQueueAccess.of(ranks[0].queuePair, 0, 0);
    access = random.nextBoolean() ? access : access.withoutBlueFlame();
    int count = 300;
    CommandEntry[] commands = new CommandEntry[count];
    for (int i = 0; i < count; i++) {
      CommandEntry command = RandomCommands.next(random, 0);
      boolean receives = command.opcode == CommandEntry.OP_PUT_IMM;
      boolean flushes = command.opcode == CommandEntry.OP_FLUSH && poster == Poster.HOST;
      command.opcode =
          receives ? CommandEntry.OP_PUT : flushes ? CommandEntry.OP_NOP : command.opcode;
      // Only a fence keeps what follows a READ or an atomic from overtaking it (InfiniBand
      // specification, table of work request ordering).
      command.flags = CommandEntry.FLAG_FENCE;
      RandomCommands.apply(command, 0, model);
      commands[i] = between(command, ranks);
    }
    String where = "seed %d, %d blocks in %s, %s".formatted(seed, blocks, ringIn, completions);
    ProxyCounters counters;
    if (poster == Poster.HOST) {
      HostPoster host = new HostPoster(fabric, Locus.cpu(0), ProxyPrices.FREE, access);
      for (CommandEntry command : commands) {
        host.post(command);
      }
      assertThat(host.await(PATIENCE)).describedAs(where).isEqualTo(RunOutcome.DONE);
      counters = host.counters();
    } else {
      CommandQueue queue =
          new CommandQueue(
              (kind, size, label) -> NativeMemory.allocate(fabric.memory(), 0, kind, size, label),
              1 << random.nextInt(7),
              0);
      ProxyAgent proxy = new ProxyAgent(fabric, Locus.cpu(0), ProxyPrices.FREE);
      proxy.serve(queue, access);
      Producer producer = new Producer(fabric, queue.view(), seed);
      for (CommandEntry command : commands) {
        producer.submit(command);
      }
      assertThat(fabric.run(() -> queue.finished() == count, PATIENCE))
          .describedAs(where)
          .isEqualTo(RunOutcome.DONE);
      counters = proxy.counters();
    }
    assertThat(counters.completed).describedAs(where).isEqualTo(count);
    for (int rank = 0; rank < 2; rank++) {
      byte[] bytes = ranks[rank].buffer.getBytes(0, HALF);
      byte[] expected = Arrays.copyOfRange(model, rank * HALF, (rank + 1) * HALF);
      assertThat(Arrays.mismatch(bytes, expected))
          .describedAs("%s: first byte that differs at rank %d", where, rank)
          .isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @EnumSource(Poster.class)
  void random_operations_leave_the_right_bytes_at_both_ends(Poster poster) {
    for (long seed = 1; seed <= 25; seed++) {
      try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 30), seed)) {
        random(fabric, poster, seed);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Poster.class)
  void so_they_do_in_virtual_time(Poster poster) {
    for (long seed = 1; seed <= 8; seed++) {
      try (TimedFabric fabric =
          new TimedFabric(RoundTopology.sameSwitch(), AddressSpace.reserve(1L << 30), seed)) {
        random(fabric, poster, seed);
      }
    }
  }

  @Test
  void a_wrong_key_reaches_the_error_record_with_its_syndrome() {
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 30), 3)) {
      Rank[] ranks =
          connect(
              fabric,
              HcaTiming.ZERO,
              HALF,
              16,
              CompletionQueueAttributes.ring(16, MemoryKind.HOST),
              MemoryKind.HOST);
      MemoryProvider memory =
          (kind, size, label) -> NativeMemory.allocate(fabric.memory(), 0, kind, size, label);
      Memory error = memory.allocate(MemoryKind.HOST, ErrorRecord.BYTES, "error record");
      CommandQueue queue = new CommandQueue(memory, 8, 0);
      ProxyAgent proxy = new ProxyAgent(fabric, Locus.cpu(0), ProxyPrices.FREE);
      proxy.serve(queue, SendQueueAccess.of(ranks[0].queuePair, error.address(), 0));
      Producer producer = new Producer(fabric, queue.view(), 1);
      for (int i = 0; i < 20; i++) {
        CommandEntry put = between(new CommandEntry(), ranks);
        put.opcode = CommandEntry.OP_PUT;
        put.remoteAddress += HALF;
        put.length = 64;
        put.remoteKey = i == 7 ? 0x12345600 : put.remoteKey;
        producer.submit(put);
      }
      assertThat(fabric.run(() -> queue.finished() == 20, PATIENCE)).isEqualTo(RunOutcome.DONE);
      ErrorRecord record = ErrorRecord.decode(error.getBytes(0, ErrorRecord.BYTES));
      assertThat(record.status()).isEqualTo(Abi.ERROR_CQE);
      assertThat(record.syndrome()).isEqualTo(Syndrome.REMOTE_ACCESS);
      assertThat(record.awaited()).isEqualTo(7);
      assertThat(proxy.counters().completed).isEqualTo(7);
      assertThat(proxy.counters().failed).isEqualTo(13);
    }
  }

  /** When the last packet of the first WQE left the HCA of rank 0. */
  private static final class Emission implements Trace {
    long nanos = -1;

    @Override
    public boolean enabled() {
      return true;
    }

    @Override
    public void record(TraceEvent event) {
      if (event.kind() == TraceEvent.Kind.EMITTED
          && event.locus().equals(Locus.nic(0, 0))
          && nanos < 0) {
        nanos = event.nanos();
      }
    }
  }

  /** A GPU thread that submits one command the way command_queue.cuh does. */
  private static final class OneCommand implements Agent {
    private final ThreadPort port;
    private final CommandQueueView queue;
    private final long[] words = new long[CommandEntry.WORDS];
    private int at = -2;

    OneCommand(Fabric fabric, CommandQueueView queue, CommandEntry command) {
      this.queue = queue;
      EntryWriter.full(command, 0, queue.entries(), words);
      port = fabric.attachThread(Locus.gpu(0, 0), this);
    }

    @Override
    public int step(int budget) {
      int done = 0;
      while (at < CommandEntry.WORDS) {
        if (at == -2) {
          port.atomic(Rmw.ADD, queue.head(), Long.BYTES, 1, 0, Access.RELAXED | Access.GPU);
        } else if (at == -1) {
          port.fence(Access.ACQ_REL | Access.SYS);
        } else {
          port.store128(
              queue.ring() + 8L * at, words[at], words[at + 1], Access.RELAXED | Access.SYS);
        }
        if (port.parked) {
          return done;
        }
        at += at < 0 ? 1 : 2;
        done++;
      }
      return done;
    }
  }

  /**
   * From "data ready" until the HCA may emit, under round constants, against values worked out by
   * hand: a1 is o_c + L_CN + S(64) + p_w + (2 L_GN + m_G + S_c(N)) + p_x, a2 has a WQE fetch from
   * host memory instead of BlueFlame, e1 is o_g + L_GH + t_poll + a1. Nothing in a command is a
   * fence that takes time.
   */
  @ParameterizedTest(name = "{0}, {1} bytes, {2}")
  @CsvSource({
    "a1,    8, pix, 1454", "a1,    8, sys,  2754",
    "a1, 4096, pix, 1600", "a1, 4096, sys,  3424",
    "a1,65536, pix, 3813", "a1,65536, sys, 13497",
    "a2,    8, pix, 2294", "a2,    8, sys,  3594",
    "a2, 4096, pix, 2440", "a2, 4096, sys,  4264",
    "e1,    8, pix, 2154", "e1,    8, sys,  3454",
    "e1,  512, pix, 2171", "e1,  512, sys,  3537",
    "e1, 4096, pix, 2300", "e1, 4096, sys,  4124",
    "e1,65536, pix, 4513", "e1,65536, sys, 14197",
  })
  void virtual_time_is_that_of_the_closed_form(
      String path, int bytes, String place, long expected) {
    Topology topology =
        place.equals("pix") ? RoundTopology.sameSwitch() : RoundTopology.acrossSockets();
    try (TimedFabric fabric = new TimedFabric(topology, AddressSpace.reserve(1L << 30), 1)) {
      Emission emission = new Emission();
      fabric.trace(emission);
      Rank[] ranks =
          connect(
              fabric,
              ROUND,
              1 << 17,
              64,
              CompletionQueueAttributes.ring(64, MemoryKind.HOST),
              MemoryKind.HOST);
      CommandEntry put = between(new CommandEntry(), ranks);
      put.opcode = CommandEntry.OP_PUT;
      put.remoteAddress += HALF;
      put.length = bytes;
      SendQueueAccess access = SendQueueAccess.of(ranks[0].queuePair, 0, 0);
      ProxyPrices prices = new ProxyPrices(100, 80);
      if (path.equals("e1")) {
        CommandQueue queue =
            new CommandQueue(
                (kind, size, label) -> NativeMemory.allocate(fabric.memory(), 0, kind, size, label),
                16,
                0);
        new ProxyAgent(fabric, Locus.cpu(0), prices).serve(queue, access);
        new OneCommand(fabric, queue.view(), put);
      } else {
        HostPoster host =
            new HostPoster(
                fabric,
                Locus.cpu(0),
                prices,
                path.equals("a1") ? access : access.withoutBlueFlame());
        host.post(put);
      }
      assertThat(fabric.run(() -> emission.nanos >= 0, PATIENCE)).isEqualTo(RunOutcome.DONE);
      assertThat(emission.nanos).isCloseTo(expected, Percentage.withPercentage(3));
    }
  }
}
