package dev.doorbell.experiments.workbench.diff.run;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.OperationView;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelDescriptor.KernelComparison;
import dev.doorbell.experiments.scenario.foreign.ApiAdapter;
import dev.doorbell.experiments.scenario.kernel.KernelVerifier;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.proxy.recovery.SafePoint;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One run of a case on one GPU: everything that is in memory when it has ended. */
final class ComparedRun implements Compared {
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

  @Override
  public CudaGpu.Mover mover() {
    return what.mover();
  }

  @Override
  public String parameters() {
    return what.toString();
  }

  @Override
  public SequencedMap<String, byte[]> on(Machine machine, long nanos) {
    DirectFabric fabric = machine.fabric();
    List<RecordingGpu> recorded = new ArrayList<>();
    try (World world =
            World.direct(
                fabric,
                what.ranks(),
                SoftHcaOptions.DEFAULT,
                what.payload(),
                rank -> new RecordingGpu(machine.gpu(fabric, rank), recorded));
        Connection connection = connect(world, nanos / 2);
        Owned open = new Owned()) {
      List<RankBuffers> parties = new ArrayList<>();
      for (int rank = 0; rank < what.ranks(); rank++) {
        parties.add(
            open.add(new RankBuffers(connection, world.rank(rank), buffers(), seed + rank)));
      }
      List<Launch> launches = start(world, parties, nanos);
      RunOutcome outcome = fabric.run(() -> launches.stream().allMatch(Launch::done), 2 * nanos);
      if (outcome != RunOutcome.DONE) {
        launches.forEach(launch -> launch.cancel("the comparison's time was over"));
      }
      launches.forEach(Launch::check);
      fabric.quiesce();
      check(parties);
      SequencedMap<String, byte[]> contents = new LinkedHashMap<>();
      recorded.forEach(gpu -> contents.putAll(gpu.contents()));
      return contents;
    }
  }

  private Connection connect(World world, long deadlineNanos) {
    Endpoint.Shape shape = what.endpoint(deadlineNanos);
    return what.amongAll()
        ? Connection.mesh(world, what.ranks(), shape, what.ringing())
        : Connection.open(world, shape, what.ringing(), what.queuePairs());
  }

  private void check(List<RankBuffers> parties) {
    for (RankBuffers buffers : parties) {
      String firstError = buffers.firstError();
      if (firstError != null) {
        throw new GpuException(firstError);
      }
    }
    if (what.executesLists() || !what.puts()) {
      return;
    }
    if (!what.protocol().descriptor().extension().isEmpty()) {
      KernelVerifier verifier =
          new KernelVerifier(
              what.protocol().name(),
              what.protocol().ptx(),
              parties.stream().map(RankBuffers::brought).toList());
      String mismatch = verifier.mismatch();
      if (mismatch != null) {
        throw new GpuException(mismatch);
      }
    }
    KernelDescriptor.Verify verify = what.protocol().descriptor().verify();
    for (int rank = parties.size() - 1; rank >= 0; rank--) {
      RankBuffers buffers = parties.get(rank);
      String mismatch = null;
      if (verify.ofAll()) {
        mismatch = buffers.mismatch(parties, verify);
      } else if (verify.arrives(1 - rank, rank, 2)) {
        mismatch = buffers.mismatch(parties.get(1 - rank));
      }
      if (mismatch != null) {
        throw new GpuException(mismatch);
      }
    }
  }

  private int slots() {
    return what.executesLists() ? Math.ceilDiv(areaBytes(), what.bytes()) : what.slots();
  }

  private List<Launch> start(World world, List<RankBuffers> parties, long nanos) {
    for (RankBuffers buffers : parties) {
      switch (what.path()) {
        case PUSH_MEMIC -> buffers.stageOnChip(STAGING);
        case STAGED -> buffers.stageInHost(STAGING);
        default -> {}
      }
    }
    Protocol protocol = what.protocol();
    KernelDescriptor.Launch launch = protocol.descriptor().launch();
    LaunchConfig config =
        new LaunchConfig(
            what.blocks(),
            1,
            1,
            what.threads(),
            1,
            1,
            launch.sharedBytes(),
            launch.cooperative(),
            nanos);
    List<Supplier<Launch>> starts = new ArrayList<>();
    RankBuffers zero = parties.get(0);
    RankBuffers one = parties.get(1);
    if (what.amongAll()) {
      for (int rank = 0; rank < parties.size(); rank++) {
        starts.add(parties.get(rank).prepareAmong(protocol, job(rank), parties, config));
      }
    } else if (what.executesLists()) {
      JobView job = job(0);
      if (protocol.name().equals("restartable")) {
        job.inbox = zero.own(safePoint(world)).address();
        job.compare = nanos;
      }
      starts.add(zero.prepareLists(protocol, job, one, config, operations(world, zero, one)));
    } else {
      starts.add(zero.prepare(protocol, job(0), one, config));
    }
    if (launch.bothRanks()) {
      starts.add(one.prepare(protocol, job(1), zero, config));
    }
    return starts.stream().map(Supplier::get).toList();
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

  /** A safe point that the host never asks anybody to come to. */
  private SafePoint safePoint(World world) {
    return new SafePoint(world.rank(0).gpu(), what.blocks() * what.threads());
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

  @Override
  public byte[] canonical(String name, byte[] bytes) {
    KernelComparison.Posts posts = posts();
    boolean ordered = posts == KernelComparison.Posts.ORDERED;
    if (name.startsWith("counters")) {
      return posts == KernelComparison.Posts.ANY
          ? QueueContents.poison(bytes)
          : QueueContents.counters(bytes, !ordered);
    }
    if (name.startsWith("command queue")) {
      return commands(name, bytes, posts);
    }
    if (!ordered && name.contains("send ring")) {
      return posts == KernelComparison.Posts.ANY ? new byte[0] : QueueContents.posts(bytes);
    }
    if (!ordered && name.contains(" ring")) {
      return QueueContents.errors(bytes);
    }
    if (posts == KernelComparison.Posts.ANY && name.contains(" record ")) {
      return new byte[0];
    }
    return withoutChance(name, bytes);
  }

  private static byte[] commands(String name, byte[] bytes, KernelComparison.Posts posts) {
    if (posts == KernelComparison.Posts.ANY) {
      return new byte[0];
    }
    if (isProducerSide(name)) {
      return QueueContents.producer(bytes);
    }
    return posts == KernelComparison.Posts.UNORDERED && name.contains(" entries")
        ? QueueContents.commands(bytes)
        : bytes;
  }

  private static boolean isProducerSide(String name) {
    return name.startsWith("command queue") && name.contains("producer counters");
  }

  /** One poster alone has no order to race for, whatever the descriptor says of several. */
  private KernelComparison.Posts posts() {
    KernelComparison.Posts posts = what.protocol().descriptor().comparison().posts();
    return posts == KernelComparison.Posts.UNORDERED && !what.races()
        ? KernelComparison.Posts.ORDERED
        : posts;
  }

  private byte[] withoutChance(String name, byte[] bytes) {
    byte[] copy = bytes.clone();
    for (KernelComparison.Chance chance : what.protocol().descriptor().comparison().chance()) {
      if (name.startsWith(chance.memory() + " #") && chance.isOf(chance.memory(), rank(name))) {
        boolean messages = chance.memory().equals("payload") || chance.memory().equals("inbox");
        int first = chance.memory().equals("inbox") ? RankBuffers.GUARD : 0;
        int length = messages ? what.bytes() : bytes.length;
        for (int slot = 0; slot < (messages ? slots() : 1); slot++) {
          clear(copy, first + slot * length, length, chance);
        }
      }
    }
    return copy;
  }

  private static void clear(byte[] bytes, int at, int length, KernelComparison.Chance chance) {
    long from = Math.clamp(chance.from() < 0 ? length + chance.from() : chance.from(), 0, length);
    long end = from + Math.min(chance.bytes(), length - from);
    Arrays.fill(bytes, at + (int) from, at + (int) end, (byte) 0);
  }

  private int rank(String name) {
    for (int rank = 1; rank < what.ranks(); rank++) {
      if (name.contains("of " + Locus.gpu(rank, 0))) {
        return rank;
      }
    }
    return 0;
  }

  @Override
  public String place(String name, int at) {
    if (name.contains("send ring")) {
      return posts() == KernelComparison.Posts.ORDERED
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

  /** A ring that several have filled and gone round in holds whoever came last. */
  @Override
  public @Nullable Compared roomier(SequencedMap<String, byte[]> contents) {
    if (posts() != KernelComparison.Posts.UNORDERED
        || what.ringBlocks() == ComparedCase.MOST_RING) {
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

  private RankBuffers.Buffers buffers() {
    return new RankBuffers.Buffers(
        what.bytes(),
        slots(),
        0,
        what.payload(),
        Endpoint.ALL_RIGHTS,
        what.protocol().descriptor().launch().signals(),
        what.memory(),
        ApiAdapter.heapBytes(
            what.protocol().descriptor().api(),
            what.protocol().name(),
            what.protocol().ptx(),
            what.ranks()));
  }
}
