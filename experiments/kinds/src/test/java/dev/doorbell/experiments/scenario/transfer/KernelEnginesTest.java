package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The project's kernels leave the same in memory, whichever engine executes them. */
class KernelEnginesTest {
  private static final long DEADLINE = 100_000_000_000L;
  private static final int BYTES = 256;
  private static final int RING = 64;
  private static final Endpoint.Shape SHAPE =
      Endpoint.Shape.builder(RING, DEADLINE).batch(4).build();

  /**
   * Runs with an engine.
   *
   * @param engine {@code warp}, or {@code warp@1000}: compiled after that many instructions
   */
  private static <T> T with(String engine, Supplier<T> run) {
    int at = engine.indexOf('@');
    String name = at < 0 ? engine : engine.substring(0, at);
    String after = at < 0 ? null : engine.substring(at + 1);
    return with("doorbell.engine", name, () -> with("doorbell.engine.after", after, run));
  }

  private static <T> T with(String property, @Nullable String value, Supplier<T> run) {
    String before = System.getProperty(property);
    set(property, value);
    try {
      return run.get();
    } finally {
      set(property, before);
    }
  }

  private static void set(String property, @Nullable String value) {
    if (value == null) {
      System.clearProperty(property);
    } else {
      System.setProperty(property, value);
    }
  }

  /** What may be said to execute a kernel; one that ends early enough is never compiled. */
  private static List<String> engines(String asked) {
    return switch (asked) {
      case "interpreter" -> List.of(asked);
      case "warp" -> List.of("warp", "interpreter (its lanes never meet)");
      default -> List.of("warp", "interpreter (its lanes never meet)", "interpreter");
    };
  }

  /** What a launch leaves: by name, as hex, with addresses counted from the world's beginning. */
  private static Map<String, String> run(
      String engine, String kernel, int scope, int threads, boolean ordered) {
    JobView job = new JobView();
    job.opcode = JobView.OP_PUT;
    job.iterations = 150;
    job.warmup = 5;
    job.window = 16;
    job.scope = scope;
    job.path = JobView.PATH_PULL;
    try (World world = World.direct(2, 0, SoftHcaOptions.DEFAULT);
        Connection connection = Connection.open(world, SHAPE, Connection.Ringing.GPU, 1);
        RankBuffers zero = new RankBuffers(connection, world.rank(0), BYTES, 1);
        RankBuffers one = new RankBuffers(connection, world.rank(1), BYTES, 2)) {
      Launch launch = zero.launch(kernel, job, one, 1, threads, DEADLINE);
      RunOutcome outcome = world.fabric().run(launch::done, DEADLINE);
      launch.check();
      assertThat(outcome).isEqualTo(RunOutcome.DONE);
      assertThat(launch.engine()).as(engine).isIn(engines(engine));
      Map<String, String> left = new LinkedHashMap<>();
      left.put("firstError", String.valueOf(zero.firstError()));
      left.put("mismatch at the target", String.valueOf(one.mismatch(zero)));
      Endpoint endpoint = connection.endpoints(0).getFirst();
      left.put("doorbell record", hex(endpoint.queuePair().recordAddress(), DoorbellRecord.BYTES));
      if (ordered) {
        left.put("send ring", ring(world, endpoint));
        left.put("completion ring", hex(endpoint.completions().ringAddress(), RING * Cqe.BYTES));
      }
      return left;
    }
  }

  private static String ring(World world, Endpoint endpoint) {
    long base = world.fabric().memory().pageTable(0).base();
    MemorySegment copy = MemorySegment.ofArray(new long[RING * SendQueue.BLOCK / Long.BYTES]);
    long ring = endpoint.queuePair().sendRingAddress();
    StringBuilder text = new StringBuilder();
    for (int block = 0; block < RING; block++) {
      long wqe = ring + (long) block * SendQueue.BLOCK;
      relative(wqe + SendQueue.UNIT + RemoteAddressSegment.ADDRESS_OFFSET, base);
      relative(wqe + 2 * SendQueue.UNIT + DataSegment.ADDRESS_OFFSET, base);
    }
    RawMemory.copyOut(ring, copy, 0, copy.byteSize());
    for (long word : copy.toArray(ValueLayout.JAVA_LONG)) {
      text.append(Long.toHexString(word)).append(' ');
    }
    return text.toString();
  }

  /** The kernel has ended: nobody reads the ring any more. */
  private static void relative(long at, long base) {
    long address = BigEndian.getLong(at);
    if (address != 0) {
      BigEndian.putLong(at, address - base);
    }
  }

  private static String hex(long address, int bytes) {
    byte[] copy = new byte[bytes];
    RawMemory.copyOut(address, MemorySegment.ofArray(copy), 0, bytes);
    return HexFormat.of().formatHex(copy);
  }

  @ParameterizedTest
  @CsvSource({
    "put_rate, 0, 1, true",
    "put_rate, 0, 32, false",
    "put_rate, 0, 100, false",
    "put_rate, 1, 32, true",
    "put_rate, 1, 128, false",
    "put_bandwidth, 0, 1, true",
    "post_once, 0, 1, true"
  })
  void a_kernel_leaves_the_same_in_memory(String kernel, int scope, int threads, boolean ordered) {
    Map<String, String> interpreted =
        with("interpreter", () -> run("interpreter", kernel, scope, threads, ordered));
    assertThat(interpreted).containsEntry("firstError", "null");
    assertThat(interpreted).containsEntry("mismatch at the target", "null");
    for (String engine : List.of("warp", "warp@1000", "auto@1000")) {
      assertThat(with(engine, () -> run(engine, kernel, scope, threads, ordered)))
          .as(engine)
          .isEqualTo(interpreted);
    }
  }

  /** Both ranks: either waits for the other's message, so one alone would wait for ever. */
  private static Map<String, String> pingPong(String engine, String kernel) {
    try (World world = World.direct(2, 0, SoftHcaOptions.DEFAULT);
        Connection connection = Connection.open(world, SHAPE, Connection.Ringing.GPU, 1);
        RankBuffers zero = new RankBuffers(connection, world.rank(0), BYTES, 1);
        RankBuffers one = new RankBuffers(connection, world.rank(1), BYTES, 2)) {
      Launch ping = zero.launch(kernel, turns(0), one, 1, 1, DEADLINE);
      Launch pong = one.launch(kernel, turns(1), zero, 1, 1, DEADLINE);
      RunOutcome outcome = world.fabric().run(() -> ping.done() && pong.done(), DEADLINE);
      ping.check();
      pong.check();
      assertThat(outcome).isEqualTo(RunOutcome.DONE);
      assertThat(ping.engine()).as(engine).isIn(engines(engine));
      Map<String, String> left = new LinkedHashMap<>();
      for (int rank = 0; rank < 2; rank++) {
        Endpoint endpoint = connection.endpoints(rank).getFirst();
        left.put(rank + " firstError", String.valueOf((rank == 0 ? zero : one).firstError()));
        left.put(
            rank + " doorbell record",
            hex(endpoint.queuePair().recordAddress(), DoorbellRecord.BYTES));
        left.put(rank + " send ring", ring(world, endpoint));
        left.put(
            rank + " completion ring", hex(endpoint.completions().ringAddress(), RING * Cqe.BYTES));
      }
      return left;
    }
  }

  private static JobView turns(int role) {
    JobView job = new JobView();
    job.iterations = 150;
    job.warmup = 5;
    job.path = JobView.PATH_PULL;
    job.role = role;
    return job;
  }

  @Test
  void a_ping_pong_leaves_the_same_in_memory() {
    Map<String, String> interpreted =
        with("interpreter", () -> pingPong("interpreter", "put_latency"));
    assertThat(interpreted)
        .containsEntry("0 firstError", "null")
        .containsEntry("1 firstError", "null");
    for (String engine : List.of("warp", "warp@1000", "auto@1000")) {
      assertThat(with(engine, () -> pingPong(engine, "put_latency")))
          .as(engine)
          .isEqualTo(interpreted);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"interpreter", "warp", "warp@1000"})
  void random_operations_leave_what_the_model_says(String engine) {
    with(
        engine,
        () -> {
          for (long seed = 1; seed <= 3; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            try (World world = World.direct(2, seed % 2 == 0 ? 0 : seed, SoftHcaOptions.DEFAULT);
                Connection connection = Connection.open(world, SHAPE, Connection.Ringing.GPU, 2);
                OperationBench bench = new OperationBench(world, connection, seed)) {
              OperationLists.Limits limits =
                  new OperationLists.Limits(
                      RING, world.rank(0).hca().attributes().maxInlineBytes(), 2, false);
              for (int i = 0; i < 5; i++) {
                OperationLists lists = OperationLists.random(random, limits);
                try {
                  bench.execute(lists, DEADLINE);
                } catch (AssertionError | RuntimeException e) {
                  throw new AssertionError("seed %d case %d (%s)".formatted(seed, i, lists), e);
                }
              }
            }
          }
          return engine;
        });
  }
}
