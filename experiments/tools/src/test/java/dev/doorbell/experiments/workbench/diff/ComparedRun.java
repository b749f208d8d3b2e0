package dev.doorbell.experiments.workbench.diff;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.OperationView;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kind.ProtocolTrial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A run of a case that is to leave the same in the memory of two GPUs. */
final class ComparedRun {
  interface Machine {
    String name();

    DirectFabric fabric();

    Gpu gpu(DirectFabric fabric, int rank);
  }

  private static final int CHUNK = 16 << 10;
  private static final int STAGING = 64 << 10;
  private static final int SLAB = 256;
  private static final int WARP = 32;

  private final ComparedCase what;
  private final long seed;

  ComparedRun(ComparedCase what, long seed) {
    this.what = what;
    this.seed = seed;
  }

  CudaGpu.Mover mover() {
    return what.mover();
  }

  String parameters() {
    return what.toString();
  }

  /**
   * Runs it.
   *
   * @param nanos after which a kernel has failed, on the wall's clock
   * @return memory by name
   * @throws GpuException when a kernel does not end well
   */
  SequencedMap<String, byte[]> on(Machine machine, long nanos) {
    DirectFabric fabric = machine.fabric();
    if (!what.protocol().descriptor().reachesPeers()) {
      fabric.memory().separate(what.ranks(), 1, "launch: { nvlink: true }");
    }
    List<RecordingGpu> recorded = new ArrayList<>();
    World world =
        World.direct(
            fabric,
            what.ranks(),
            SoftHcaOptions.DEFAULT,
            what.payload(),
            rank -> new RecordingGpu(machine.gpu(fabric, rank), recorded));
    try (ProtocolTrial trial = new Listed(world, nanos)) {
      trial.run(2 * nanos, "the comparison's time was over");
      String wrong = trial.firstError();
      if (wrong == null && !what.executesLists() && what.puts()) {
        wrong = trial.mismatch();
      }
      if (wrong != null) {
        throw new GpuException(wrong);
      }
      SequencedMap<String, byte[]> contents = new LinkedHashMap<>();
      recorded.forEach(gpu -> contents.putAll(gpu.contents()));
      return contents;
    }
  }

  /** The case in a world; kernels that execute lists of operations have random ones. */
  private final class Listed extends ProtocolTrial {
    Listed(World world, long nanos) {
      super(
          what.protocol(),
          world,
          new Shape(
              what.ranks(),
              what.endpoint(nanos / 2),
              what.ringing(),
              what.queuePairs(),
              what.protocol().grid(what.blocks(), what.threads(), nanos)),
          ComparedRun.this::buffers,
          ComparedRun.this::job);
    }

    @Override
    protected Supplier<Launch> prepare(int rank, JobView job) {
      if (!what.executesLists()) {
        return super.prepare(rank, job);
      }
      RankBuffers zero = rank(0);
      Memory lists = operations(world(), zero, rank(1));
      return zero.prepareLists(what.protocol(), job, rank(1), shape().grid(), lists);
    }
  }

  private int slots() {
    return what.executesLists() ? Math.ceilDiv(areaBytes(), what.bytes()) : what.slots();
  }

  private JobView job(int role) {
    JobView job = new JobView();
    job.role = role;
    job.iterations = what.iterations();
    job.warmup = what.warmup();
    job.path = what.path().jobPath();
    job.scope = what.scope();
    job.opcode = what.opcode();
    job.window = what.window();
    job.chunkBytes = CHUNK;
    job.operand = seed | 1;
    job.compare = seed & 1;
    return job;
  }

  private int posters() {
    return what.scope() == JobView.SCOPE_BLOCK ? what.blocks() : what.blocks() * what.threads();
  }

  private int areaBytes() {
    return posters() * what.iterations() * SLAB;
  }

  /** Lists of operations, each with bytes of its own on both sides, so that no order matters. */
  private Memory operations(World world, RankBuffers zero, RankBuffers one) {
    SplittableRandom random = new SplittableRandom(seed);
    int count = posters() * what.iterations();
    byte[] lists = new byte[count * OperationView.BYTES];
    for (int i = 0; i < count; i++) {
      // A warp posts to the queue pair of its first lane.
      int queuePair = i / what.iterations() / WARP % what.queuePairs();
      byte[] operation = operation(random, zero, one, (long) i * SLAB, queuePair).encode();
      System.arraycopy(operation, 0, lists, i * OperationView.BYTES, OperationView.BYTES);
    }
    Memory memory =
        world.rank(0).gpu().allocate(MemoryKind.DEVICE, lists.length, "lists of operations");
    memory.putBytes(0, lists);
    return memory;
  }

  private OperationView operation(
      SplittableRandom random, RankBuffers zero, RankBuffers one, long slab, int queuePair) {
    int opcode =
        List.of(
                JobView.OP_PUT,
                JobView.OP_GET,
                JobView.OP_PUT_INLINE,
                JobView.OP_FETCH_ADD,
                JobView.OP_COMPARE_SWAP,
                JobView.OP_PUT_SIGNAL)
            .get(random.nextInt(6));
    boolean word = opcode == JobView.OP_FETCH_ADD || opcode == JobView.OP_COMPARE_SWAP;
    // Half a slab for payload; a word behind it for the signal, and for what it fetched.
    int bytes = word ? Long.BYTES : random.nextInt(SLAB / 2 + 1);
    RankBuffers.Source from = zero.source();
    RankBuffers.Target to = one.target();
    return new OperationView(
        from.address() + slab,
        to.address() + slab,
        bytes,
        random.nextLong(),
        random.nextBoolean() ? 0 : random.nextLong(),
        to.address() + slab + SLAB / 2,
        from.address() + slab + SLAB / 2,
        from.key(),
        to.key(),
        opcode,
        queuePair,
        random.nextInt(4) == 0 ? OperationView.FLAG_WAIT : 0);
  }

  /** Returns what of a memory does not depend on who came first, or looked first. */
  private byte[] canonical(String name, byte[] bytes) {
    boolean raced = what.races();
    if (name.startsWith("counters")) {
      return QueueContents.counters(bytes, raced);
    }
    if (isProducerSide(name)) {
      return QueueContents.producer(bytes);
    }
    if (raced && name.startsWith("command queue") && name.contains(" entries")) {
      return QueueContents.commands(bytes);
    }
    if (raced && name.contains("send ring")) {
      return QueueContents.posts(bytes);
    }
    return raced && name.contains(" ring") ? QueueContents.errors(bytes) : bytes;
  }

  private static boolean isProducerSide(String name) {
    return name.startsWith("command queue") && name.contains("producer counters");
  }

  /** Describes the place of a byte in the words of who filled the memory; empty for none. */
  private String place(String name, int at) {
    if (name.contains("send ring")) {
      return !what.races()
          ? " (block %d, byte %d of it)".formatted(at / SendQueue.BLOCK, at % SendQueue.BLOCK)
          : " (of the blocks in an order of their own)";
    }
    if (name.startsWith("completion ring")) {
      return " (entry %d, byte %d of it)".formatted(at / Cqe.BYTES, at % Cqe.BYTES);
    }
    boolean inbox = name.startsWith("inbox #");
    if (!inbox && !name.startsWith("payload #")) {
      return "";
    }
    int within = at - (inbox ? RankBuffers.GUARD : 0);
    return within < 0 || within >= slots() * what.bytes()
        ? " (beside the messages)"
        : " (message %d, byte %d of it)".formatted(within / what.bytes(), within % what.bytes());
  }

  /**
   * Returns the run with a larger ring if several have filled this one and gone round in it, so
   * that it holds the last one; else null.
   */
  @Nullable ComparedRun roomier(SequencedMap<String, byte[]> contents) {
    if (!what.races() || what.ringBlocks() == ComparedCase.MOST_RING) {
      return null;
    }
    long posted = 0;
    for (Map.Entry<String, byte[]> memory : contents.entrySet()) {
      if (memory.getKey().startsWith("counters")) {
        posted = Math.max(posted, QueueContents.posted(memory.getValue()));
      } else if (isProducerSide(memory.getKey())) {
        posted = Math.max(posted, QueueContents.handedOver(memory.getValue()));
      }
    }
    if (posted <= what.ringBlocks()) {
      return null;
    }
    int larger = what.ringBlocks();
    while (larger < posted && larger < ComparedCase.MOST_RING) {
      larger *= 2;
    }
    return new ComparedRun(what.withRing(larger), seed);
  }

  private RankBuffers buffers(Connection connection, Rank rank) {
    RankBuffers.Buffers shape = what.protocol().buffers(slots(), what.payload(), what.memory());
    RankBuffers buffers = new RankBuffers(connection, rank, shape, seed + rank.number());
    buffers.stage(what.path(), STAGING);
    return buffers;
  }

  /** Compares the contents that two GPUs left, and describes the differences. */
  List<String> compare(
      String one,
      SequencedMap<String, byte[]> expected,
      String other,
      SequencedMap<String, byte[]> actual) {
    List<String> differences = new ArrayList<>();
    if (!expected.keySet().equals(actual.keySet())) {
      differences.add(
          "%s allocated %s, %s allocated %s"
              .formatted(other, actual.keySet(), one, expected.keySet()));
      return differences;
    }
    expected.forEach(
        (name, bytes) -> {
          byte[] wanted = canonical(name, bytes);
          byte[] found = canonical(name, Objects.requireNonNull(actual.get(name)));
          int at = Arrays.mismatch(wanted, found);
          if (at >= 0) {
            differences.add(
                "%s, byte %d of %d%s: %s on %s, %s on %s; %s"
                    .formatted(
                        name,
                        at,
                        wanted.length,
                        place(name, at),
                        word(found, at),
                        other,
                        word(wanted, at),
                        one,
                        extent(wanted, found)));
          }
        });
    return differences;
  }

  /** The aligned word around a byte. */
  private static String word(byte[] bytes, int at) {
    int from = at & -Long.BYTES;
    if (from + Long.BYTES > bytes.length) {
      return at < bytes.length ? "0x%02x".formatted(bytes[at]) : "nothing";
    }
    return "0x%016x"
        .formatted(
            MemorySegment.ofArray(bytes)
                .get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), from));
  }

  private static String extent(byte[] wanted, byte[] found) {
    int differ = 0;
    int last = 0;
    for (int i = 0; i < Math.min(wanted.length, found.length); i++) {
      if (wanted[i] != found[i]) {
        differ++;
        last = i;
      }
    }
    return differ == 1
        ? "1 byte differs"
        : "%d bytes differ, the last is %d".formatted(differ, last);
  }
}
