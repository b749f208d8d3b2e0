package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Placement;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Transfers where the HCA reaches memory of the GPU by the mover kernel alone: the same kernel, and
 * the same port of the HCA, that a real GPU has.
 */
class MovedTransferTest {
  private static final long DEADLINE = 20_000_000_000L;
  private static final long IDLE = 100_000;

  @ParameterizedTest
  @CsvSource({
    "PULL, gpu, gpu, gpu, 8, 0",
    "PULL, host, host, host, 20000, 0",
    "PULL_BF, host, gpu, host, 1000, 0",
    "PUSH_INLINE, host, host, gpu, 128, 0",
    "PUSH_MEMIC, gpu, host, host, 4096, 0",
    "PULL, gpu, host, gpu, 9000, 7",
  })
  void a_ping_pong_leaves_the_senders_bytes_in_both_inboxes(
      TransferPath path, String sq, String cq, String record, int bytes, long seed) {
    Placement placement =
        new Placement(Placement.kind(sq), Placement.kind(cq), Placement.kind(record));
    List<MovedGpu> gpus = new ArrayList<>();
    DirectFabric fabric = new DirectFabric(AddressSpace.reserve(), seed);
    try (World world =
            World.direct(
                fabric,
                2,
                SoftHcaOptions.DEFAULT,
                MemoryKind.DEVICE,
                number -> {
                  gpus.add(new MovedGpu(fabric, Locus.gpu(number, 0), IDLE));
                  return gpus.getLast();
                });
        Connection connection =
            Connection.open(
                world,
                Endpoint.Shape.builder(64, DEADLINE)
                    .placement(placement)
                    .blueFlame(path.blueFlame())
                    .exclusive(true)
                    .build(),
                Connection.Ringing.GPU,
                1);
        RankBuffers zero = new RankBuffers(connection, world.rank(0), bytes, 7);
        RankBuffers one = new RankBuffers(connection, world.rank(1), bytes, 8)) {
      if (path == TransferPath.PUSH_MEMIC) {
        zero.stageOnChip(64 << 10);
        one.stageOnChip(64 << 10);
      }
      Launch first = zero.launch("put_latency", job(path, 0), one, 1, 1, DEADLINE);
      Launch second = one.launch("put_latency", job(path, 1), zero, 1, 1, DEADLINE);
      RunOutcome outcome = fabric.run(() -> first.done() && second.done(), 2 * DEADLINE);
      assertThat(outcome).isEqualTo(RunOutcome.DONE);
      first.check();
      second.check();
      fabric.quiesce();
      assertThat(zero.firstError()).as("seed %d", seed).isNull();
      assertThat(one.firstError()).as("seed %d", seed).isNull();
      assertThat(one.mismatch(zero)).as("seed %d", seed).isNull();
      assertThat(zero.mismatch(one)).as("seed %d", seed).isNull();
      for (MovedGpu gpu : gpus) {
        assertThat(gpu.mover().transfers()).isPositive();
        assertThat(gpu.mover().isIdle()).isTrue();
      }
    }
  }

  @Test
  void a_stream_of_messages_arrives_whole_and_is_moved_several_at_a_time() {
    DirectFabric fabric = new DirectFabric();
    List<MovedGpu> gpus = new ArrayList<>();
    int bytes = 16 << 10;
    try (World world =
            World.direct(
                fabric,
                2,
                SoftHcaOptions.DEFAULT,
                MemoryKind.DEVICE,
                number -> {
                  gpus.add(new MovedGpu(fabric, Locus.gpu(number, 0), IDLE));
                  return gpus.getLast();
                });
        Connection connection =
            Connection.open(
                world,
                Endpoint.Shape.builder(256, DEADLINE).exclusive(true).build(),
                Connection.Ringing.GPU,
                1);
        RankBuffers zero = new RankBuffers(connection, world.rank(0), bytes, 3);
        RankBuffers one = new RankBuffers(connection, world.rank(1), bytes, 4)) {
      JobView job = job(TransferPath.PULL, 0);
      job.iterations = 32;
      job.warmup = 0;
      job.window = 8;
      Launch launch = zero.launch("put_bandwidth", job, one, 1, 1, DEADLINE);
      assertThat(fabric.run(launch::done, 2 * DEADLINE)).isEqualTo(RunOutcome.DONE);
      launch.check();
      fabric.quiesce();
      assertThat(zero.firstError()).isNull();
      assertThat(one.mismatch(zero)).isNull();
      assertThat(gpus.get(1).mover().batches()).isLessThan(gpus.get(1).mover().transfers());
    }
  }

  /** More of them than the mover's list holds. */
  @ParameterizedTest
  @CsvSource({"0", "5"})
  void who_is_told_of_a_write_finds_it_there(long seed) {
    int writes = 5000;
    DirectFabric fabric = new DirectFabric(AddressSpace.reserve(), seed);
    List<Integer> early = new ArrayList<>();
    AtomicInteger told = new AtomicInteger();
    try (MovedGpu gpu = new MovedGpu(fabric, Locus.gpu(0, 0), IDLE);
        Memory target = gpu.allocate(MemoryKind.DEVICE, (long) writes * Long.BYTES, "target");
        Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(Long.BYTES);
      RunOutcome outcome = RunOutcome.DEADLINE;
      for (int i = 0; i < writes; i++) {
        int number = i;
        value.set(ValueLayout.JAVA_LONG, 0, number + 1L);
        gpu.mover()
            .write(
                value.address(),
                target.address() + (long) number * Long.BYTES,
                Long.BYTES,
                ok -> {
                  told.incrementAndGet();
                  if (target.getLong((long) number * Long.BYTES) != number + 1L) {
                    early.add(number);
                  }
                });
        if (i % 700 == 699) {
          int so = told.get();
          outcome = fabric.run(() -> told.get() > so, DEADLINE);
          assertThat(outcome).isEqualTo(RunOutcome.DONE);
        }
      }
      outcome = fabric.run(() -> told.get() == writes, DEADLINE);
      assertThat(outcome).as("seed %d", seed).isEqualTo(RunOutcome.DONE);
      assertThat(early).as("seed %d: told of before they were there", seed).isEmpty();
    }
  }

  /** What the mover carries out at the same time must not show: small memory, much in flight. */
  @ParameterizedTest
  @CsvSource({"1", "2", "3"})
  void copies_that_touch_the_same_bytes_look_as_if_one_had_followed_the_other(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    DirectFabric fabric = new DirectFabric(AddressSpace.reserve(), seed);
    int room = 12_000;
    byte[] model = new byte[room];
    List<String> wrong = new ArrayList<>();
    int[] left = {0};
    try (MovedGpu gpu = new MovedGpu(fabric, Locus.gpu(0, 0), IDLE);
        Memory target = gpu.allocate(MemoryKind.DEVICE, room, "target");
        Arena arena = Arena.ofConfined()) {
      MemorySegment source = arena.allocate(room, 64);
      for (int i = 0; i < 800; i++) {
        int bytes = 1 + random.nextInt(random.nextInt(8) == 0 ? 9000 : 200);
        int at = random.nextInt(room - bytes);
        if (random.nextInt(4) != 0) {
          at &= -16;
          bytes = Math.max(8, bytes & -8);
        }
        int number = i;
        left[0]++;
        if (random.nextBoolean()) {
          byte[] content = new byte[bytes];
          random.nextBytes(content);
          MemorySegment.copy(content, 0, source, ValueLayout.JAVA_BYTE, 0, bytes);
          System.arraycopy(content, 0, model, at, bytes);
          gpu.mover().write(source.address(), target.address() + at, bytes, ok -> left[0]--);
        } else {
          MemorySegment found = arena.allocate(bytes, 64);
          byte[] expected = Arrays.copyOfRange(model, at, at + bytes);
          gpu.mover()
              .read(
                  target.address() + at,
                  found.address(),
                  bytes,
                  ok -> {
                    left[0]--;
                    if (!Arrays.equals(found.toArray(ValueLayout.JAVA_BYTE), expected)) {
                      wrong.add("read %d of %d bytes".formatted(number, expected.length));
                    }
                  });
        }
        if (random.nextInt(40) == 0) {
          assertThat(fabric.run(() -> left[0] == 0, DEADLINE)).isEqualTo(RunOutcome.DONE);
        }
      }
      assertThat(fabric.run(() -> left[0] == 0, DEADLINE)).isEqualTo(RunOutcome.DONE);
      assertThat(wrong).as("seed %d", seed).isEmpty();
      assertThat(target.getBytes(0, room)).as("seed %d", seed).isEqualTo(model);
    }
  }

  private static JobView job(TransferPath path, int role) {
    JobView job = new JobView();
    job.role = role;
    job.iterations = 50;
    job.warmup = 2;
    job.path = path.jobPath();
    job.scope = JobView.SCOPE_BLOCK;
    job.chunkBytes = 16 << 10;
    return job;
  }
}
