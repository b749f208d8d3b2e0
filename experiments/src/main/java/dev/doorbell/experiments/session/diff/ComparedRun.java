package dev.doorbell.experiments.session.diff;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.OperationView;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.session.transfer.Party;
import dev.doorbell.experiments.session.transfer.Protocol;
import dev.doorbell.experiments.session.world.Connection;
import dev.doorbell.experiments.session.world.Endpoint;
import dev.doorbell.experiments.session.world.World;
import dev.doorbell.proxy.recovery.SafePoint;
import dev.doorbell.softhca.SoftHcaOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import java.util.function.Supplier;

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
  public SequencedMap<String, byte[]> on(BiFunction<DirectFabric, Integer, Gpu> gpus) {
    DirectFabric fabric = new DirectFabric();
    List<RecordingGpu> recorded = new ArrayList<>();
    try (World world =
            World.direct(
                fabric,
                2,
                SoftHcaOptions.DEFAULT,
                what.payload(),
                rank -> new RecordingGpu(gpus.apply(fabric, rank), recorded));
        Connection connection =
            Connection.open(
                world, what.endpoint(DEADLINE_NANOS), Connection.Ringing.GPU, what.queuePairs());
        Party zero = new Party(connection, world.rank(0), buffers(), seed);
        Party one = new Party(connection, world.rank(1), buffers(), seed + 1)) {
      List<Launch> launches = start(world, zero, one);
      RunOutcome outcome =
          fabric.run(() -> launches.stream().allMatch(Launch::done), 2 * DEADLINE_NANOS);
      if (outcome != RunOutcome.DONE) {
        launches.forEach(launch -> launch.cancel("the comparison's time was over"));
      }
      launches.forEach(Launch::check);
      fabric.quiesce();
      SequencedMap<String, byte[]> contents = new LinkedHashMap<>();
      recorded.forEach(gpu -> contents.putAll(gpu.contents()));
      return contents;
    }
  }

  private int slots() {
    return switch (what.kernel()) {
      case "put_rate" -> what.blocks() * what.threads();
      case "operations", "restartable" -> Math.ceilDiv(areaBytes(), what.bytes());
      default -> 1;
    };
  }

  private List<Launch> start(World world, Party zero, Party one) {
    for (Party party : List.of(zero, one)) {
      switch (what.path()) {
        case PUSH_MEMIC -> party.stageOnChip(STAGING);
        case STAGED -> party.stageInHost(STAGING);
        default -> {}
      }
    }
    Protocol protocol = Protocol.ofCatalogue(what.kernel());
    LaunchConfig config =
        LaunchConfig.of(what.blocks(), what.threads()).withTimeout(DEADLINE_NANOS);
    List<Supplier<Launch>> starts = new ArrayList<>();
    if (what.executesLists()) {
      JobView job = job(0);
      if (what.kernel().equals("restartable")) {
        job.inbox = zero.own(safePoint(world)).address();
        job.compare = DEADLINE_NANOS;
      }
      starts.add(zero.prepareLists(protocol, job, one, config, operations(world, zero, one)));
    } else {
      starts.add(zero.prepare(protocol, job(0), one, config));
    }
    if (protocol.descriptor().launch().bothRanks()) {
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

  /** One that the host never asks anybody to come to. */
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
  private Memory operations(World world, Party zero, Party one) {
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
      SplittableRandom random, Party zero, Party one, long slab, int queuePair) {
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
    Party.Target from = zero.source();
    Party.Target to = one.target();
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
    if (name.startsWith("counters")) {
      return QueueContents.counters(bytes, what.races());
    }
    if (what.races() && name.contains("send ring")) {
      return QueueContents.posts(bytes);
    }
    if (what.races() && name.contains(" ring")) {
      return QueueContents.errors(bytes);
    }
    return bytes;
  }

  private Party.Buffers buffers() {
    return new Party.Buffers(what.bytes(), slots(), 0, what.payload(), Endpoint.ALL_RIGHTS);
  }
}
