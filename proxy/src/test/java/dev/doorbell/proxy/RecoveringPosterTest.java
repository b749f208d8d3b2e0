package dev.doorbell.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTarget;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.proxy.recovery.RecoveringPoster;
import dev.doorbell.proxy.recovery.RecoveringPoster.Recovery;
import dev.doorbell.proxy.recovery.RecoveringPoster.RecoveryPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing is lost and nothing is applied twice, whatever happens to queue pairs and ports. */
class RecoveringPosterTest {
  private static final long SECONDS = 1_000_000_000L;
  private static final int CELLS = 8;

  /** The peer's buffer: cells for atomics, then an area for puts and gets. */
  private static final int AREA = 4096;

  private static final int AREA_BYTES = 64 << 10;
  private static final int SLOT = 4096;
  private static final int BYTES = 4 << 20;
  private static final FaultTarget SENDER = new FaultTarget(0, 0, -1);
  private static final FaultTarget RECEIVER = new FaultTarget(1, 0, -1);

  /** What was asked for, in order, and what each command has to give when all are done in order. */
  private static final class Script {
    final List<CommandEntry> commands = new ArrayList<>();
    final List<byte[]> results = new ArrayList<>();
    final byte[] peer = new byte[AREA + AREA_BYTES];

    Script(TwoPorts world, long seed, int count) {
      SplittableRandom random = new SplittableRandom(seed);
      Memory own = world.buffers[0];
      Memory other = world.buffers[1];
      byte[] initial = new byte[BYTES];
      random.nextBytes(initial);
      own.putBytes(0, initial);
      for (int i = 0; i < count; i++) {
        CommandEntry command = new CommandEntry();
        int local = i * SLOT;
        command.localAddress = own.address() + local;
        byte[] result = new byte[0];
        switch (random.nextInt(4)) {
          case 0 -> {
            int cell = 8 * random.nextInt(CELLS);
            command.opcode = CommandEntry.OP_FETCH_ADD;
            command.length = 8;
            command.operand = random.nextLong();
            command.remoteAddress = other.address() + cell;
            result = java.util.Arrays.copyOfRange(peer, cell, cell + 8);
            put(cell, get(cell) + command.operand);
          }
          case 1 -> {
            int cell = 8 * random.nextInt(CELLS);
            command.opcode = CommandEntry.OP_COMPARE_SWAP;
            command.length = 8;
            command.compare = random.nextBoolean() ? get(cell) : random.nextLong();
            command.operand = random.nextLong();
            command.remoteAddress = other.address() + cell;
            result = java.util.Arrays.copyOfRange(peer, cell, cell + 8);
            if (get(cell) == command.compare) {
              put(cell, command.operand);
            }
          }
          case 2 -> {
            int length = 1 + random.nextInt(SLOT);
            int at = AREA + random.nextInt(AREA_BYTES - length);
            command.opcode = CommandEntry.OP_PUT;
            command.length = length;
            command.remoteAddress = other.address() + at;
            System.arraycopy(initial, local, peer, at, length);
          }
          default -> {
            int length = 1 + random.nextInt(SLOT);
            int at = AREA + random.nextInt(AREA_BYTES - length);
            command.opcode = CommandEntry.OP_GET;
            command.length = length;
            command.remoteAddress = other.address() + at;
            result = java.util.Arrays.copyOfRange(peer, at, at + length);
          }
        }
        commands.add(command);
        results.add(result);
      }
    }

    private long get(int cell) {
      long value = 0;
      for (int i = 7; i >= 0; i--) {
        value = value << 8 | (peer[cell + i] & 0xff);
      }
      return value;
    }

    private void put(int cell, long value) {
      for (int i = 0; i < 8; i++) {
        peer[cell + i] = (byte) (value >>> (8 * i));
      }
    }
  }

  private record End(long ticket, boolean failed) {}

  /** Runs a script under a plan, and compares everything that it gave with what it should have. */
  private static List<Recovery> run(TwoPorts world, Script script, FaultPlan plan, String what) {
    List<End> ends = new ArrayList<>();
    try (RecoveringPoster poster =
        new RecoveringPoster(
            world.fabric,
            Locus.cpu(0),
            ProxyPrices.FREE,
            world,
            new RecoveryPolicy(20_000_000, 100_000, 20),
            (ticket, failed, nanos) -> ends.add(new End(ticket, failed)))) {
      world.inject(plan);
      script.commands.forEach(poster::post);
      assertThat(poster.await(60 * SECONDS)).as("%s: all ended", what).isTrue();
      assertThat(ends).as("%s: each once, in order", what).hasSize(script.commands.size());
      int lost = poster.recoveries().stream().mapToInt(Recovery::lost).sum();
      assertThat(ends.stream().filter(End::failed)).as("%s: failed", what).hasSize(lost);
      for (int i = 0; i < ends.size(); i++) {
        assertThat(ends.get(i).ticket).as(what).isEqualTo(i);
        byte[] wanted = script.results.get(i);
        if (!ends.get(i).failed) {
          assertThat(world.buffers[0].getBytes((long) i * SLOT, wanted.length))
              .as("%s: result of command %d", what, i)
              .isEqualTo(wanted);
        } else {
          assertThat(script.commands.get(i).opcode)
              .as("%s: only a get may be lost", what)
              .isEqualTo(CommandEntry.OP_GET);
        }
      }
      assertThat(world.buffers[1].getBytes(0, script.peer.length))
          .as("%s: the peer's memory", what)
          .isEqualTo(script.peer);
      return poster.recoveries();
    }
  }

  private static FaultPlan plan(Fault... faults) {
    return new FaultPlan(11, List.of(faults));
  }

  private static Fault at(FaultAction action, FaultEvent event, long index) {
    return Fault.of(action, event, FaultTrigger.at(index)).required();
  }

  @Test
  void an_error_cqe_costs_the_queue_pair_and_nothing_else() {
    FaultPlan plan = plan(at(FaultAction.CQE_ERROR, FaultEvent.WQE, 40).with(0x15).on(SENDER));
    try (TwoPorts world = new TwoPorts(1, BYTES, 0, 0)) {
      List<Recovery> recoveries = run(world, new Script(world, 1, 200), plan, "error CQE");
      assertThat(world.fired(plan)).containsExactly(1L);
      assertThat(recoveries)
          .singleElement()
          .satisfies(
              one -> {
                assertThat(one.cause()).isEqualTo(Recovery.Cause.ERROR);
                assertThat(one.from()).isEqualTo("port0");
                assertThat(one.replayed()).isPositive();
                assertThat(one.detectNanos()).isLessThan(100_000);
                assertThat(one.recoverNanos()).isBetween(1L, 100_000L);
              });
    }
  }

  @Test
  void what_was_executed_without_an_answer_is_not_executed_again() {
    // From some atomic on no answer arrives any more; then the receiver's queue pair dies.
    Fault silent =
        Fault.of(
                FaultAction.LOSE,
                FaultEvent.PACKET_RECEIVED,
                new FaultTrigger(30, Long.MAX_VALUE, 1, 1, 0, Long.MAX_VALUE))
            .on(new FaultTarget(0, 0, 0));
    try (TwoPorts world = new TwoPorts(2, BYTES, 0, 0)) {
      List<Recovery> recoveries =
          run(world, new Script(world, 2, 200), plan(silent.required()), "lost answers");
      assertThat(recoveries).hasSize(1);
      assertThat(recoveries.getFirst().executed()).isPositive();
      assertThat(recoveries.getFirst().replayed()).isPositive();
    }
  }

  @Test
  void a_port_that_goes_down_is_left_for_the_other_one() {
    FaultPlan plan =
        plan(
            at(FaultAction.LINK_DOWN, FaultEvent.PACKET_SENT, 100)
                .lasting(10 * SECONDS)
                .on(RECEIVER));
    try (TwoPorts world = new TwoPorts(3, BYTES, 0, 1)) {
      List<Recovery> recoveries = run(world, new Script(world, 3, 200), plan, "failover");
      assertThat(world.fired(plan)).containsExactly(1L);
      assertThat(recoveries)
          .singleElement()
          .satisfies(
              one -> {
                assertThat(one.from()).isEqualTo("port0");
                assertThat(one.to()).isEqualTo("port1");
                // Three retries of 1 ms each, or silence, whichever is first.
                assertThat(one.detectNanos()).isBetween(3_000_000L, 20_000_000L);
              });
    }
  }

  @Test
  void a_lost_doorbell_is_noticed_by_the_silence() {
    FaultPlan plan =
        plan(
            Fault.of(
                    FaultAction.DOORBELL_LOST,
                    FaultEvent.DOORBELL,
                    new FaultTrigger(3, Long.MAX_VALUE, 1, 1, 0, Long.MAX_VALUE))
                .on(new FaultTarget(0, 0, 0))
                .required());
    try (TwoPorts world = new TwoPorts(4, BYTES, 0, 0)) {
      List<Recovery> recoveries = run(world, new Script(world, 4, 300), plan, "lost doorbell");
      assertThat(recoveries).extracting(Recovery::cause).containsExactly(Recovery.Cause.SILENCE);
    }
  }

  @Test
  void without_a_path_left_everything_ends_as_failed() {
    FaultPlan plan = plan(at(FaultAction.CQE_ERROR, FaultEvent.WQE, 3).with(0x15).on(SENDER));
    List<End> ends = new ArrayList<>();
    try (TwoPorts world = new TwoPorts(5, BYTES, 0);
        RecoveringPoster poster =
            new RecoveringPoster(
                world.fabric,
                Locus.cpu(0),
                ProxyPrices.FREE,
                world,
                RecoveryPolicy.DEFAULT,
                (ticket, failed, nanos) -> ends.add(new End(ticket, failed)))) {
      world.inject(plan);
      new Script(world, 5, 10).commands.forEach(poster::post);
      poster.await(SECONDS);
      assertThat(poster.outstanding()).isZero();
      assertThat(ends).hasSize(10);
      assertThat(ends.subList(3, 10)).allMatch(End::failed);
      assertThat(poster.recoveries().getLast().to()).isEqualTo("none");
    }
  }

  @Test
  void what_is_not_one_message_is_refused() {
    try (TwoPorts world = new TwoPorts(6, BYTES, 0);
        RecoveringPoster poster =
            new RecoveringPoster(
                world.fabric,
                Locus.cpu(0),
                ProxyPrices.FREE,
                world,
                RecoveryPolicy.DEFAULT,
                (ticket, failed, nanos) -> {})) {
      CommandEntry signal = new CommandEntry();
      signal.opcode = CommandEntry.OP_PUT_SIGNAL;
      assertThatThrownBy(() -> poster.post(signal)).hasMessageContaining("not one message");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void under_any_faults_each_command_is_applied_once(long seed) {
    FaultPlan plan =
        new FaultPlan(
            seed,
            List.of(
                chance(FaultAction.QP_ERROR, FaultEvent.PACKET_SENT, 0.004),
                chance(FaultAction.QP_ERROR, FaultEvent.PACKET_RECEIVED, 0.002),
                chance(FaultAction.LOSE, FaultEvent.PACKET_SENT, 0.02),
                chance(FaultAction.DUPLICATE, FaultEvent.PACKET_SENT, 0.02),
                chance(FaultAction.REORDER, FaultEvent.PACKET_SENT, 0.01).with(2),
                chance(FaultAction.CQE_LATE, FaultEvent.CQE, 0.02).lasting(50_000),
                chance(FaultAction.LOSE, FaultEvent.PACKET_SENT, 0.2)
                    .onOpcode(BthOpcode.ATOMIC_ACKNOWLEDGE)));
    int[] path = new int[200];
    for (int i = 0; i < path.length; i++) {
      path[i] = i % 2;
    }
    try (TwoPorts world = new TwoPorts(seed, BYTES, path)) {
      List<Recovery> recoveries = run(world, new Script(world, seed, 400), plan, "seed " + seed);
      assertThat(recoveries).as("seed %d", seed).isNotEmpty();
    }
  }

  private static Fault chance(FaultAction action, FaultEvent event, double probability) {
    return Fault.of(action, event, FaultTrigger.chance(probability));
  }
}
