package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.OperationView;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.kernels.KernelCatalogue;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Rank 0 of a connection executes lists of operations between an area of its own and one at rank 1;
 * both are compared with a model after each launch, whole.
 */
final class OperationBench implements AutoCloseable {
  /** Bytes of the posters' slabs, at the start of either area. */
  static final int SLABS = 96 << 10;

  /** How many words all posters add to. */
  static final int SHARED = 4;

  /** Offset of those words in the remote area. */
  static final int WORDS = SLABS;

  /** Behind the slabs: words at the target, and a place for each value fetched from them. */
  private static final int AREA = SLABS + 8192;

  /** Bytes before and behind an area that no key covers. */
  private static final int GUARD = 64;

  private static final byte GUARD_BYTE = (byte) 0xA5;

  private final World world;
  private final Connection connection;
  private final Owned owned = new Owned();
  private final Map<String, GpuModule> modules = new HashMap<>();
  private final Memory local;
  private final Memory remote;
  private final MemoryRegion localRegion;
  private final MemoryRegion remoteRegion;
  private final Memory views;
  private final Memory job;
  private final Memory status;
  private final Memory list;
  private final int queuePairs;
  private OperationModel model;

  OperationBench(World world, Connection connection, long seed) {
    this.world = world;
    this.connection = connection;
    this.queuePairs = connection.endpoints(0).size();
    this.local = area(world.rank(0), "local area");
    this.remote = area(world.rank(1), "remote area");
    SplittableRandom random = new SplittableRandom(seed);
    byte[] bytes = new byte[SLABS];
    random.nextBytes(bytes);
    local.putBytes(GUARD, bytes);
    random.nextBytes(bytes);
    remote.putBytes(GUARD, bytes);
    // Some words that a compare-and-swap meets.
    remote.fill(GUARD + SLABS / 2, SLABS / 2, (byte) 0);
    this.localRegion =
        owned.add(world.rank(0).domain().register(local, GUARD, AREA, Endpoint.ALL_RIGHTS));
    this.remoteRegion =
        owned.add(world.rank(1).domain().register(remote, GUARD, AREA, Endpoint.ALL_RIGHTS));
    this.views = owned.add(connection.writeViews(0));
    this.job = owned.add(world.rank(0).gpu().allocate(MemoryKind.DEVICE, JobView.BYTES, "job"));
    this.status = owned.add(world.rank(0).gpu().allocate(MemoryKind.DEVICE, 4 << 10, "status"));
    this.list = owned.add(world.rank(0).gpu().allocate(MemoryKind.DEVICE, 64 << 10, "operations"));
    this.model = new OperationModel(inside(local), inside(remote));
  }

  private Memory area(Rank rank, String label) {
    Memory memory = owned.add(rank.gpu().allocate(MemoryKind.DEVICE, AREA + 2L * GUARD, label));
    memory.fill(0, memory.size(), GUARD_BYTE);
    memory.fill(GUARD, AREA, (byte) 0);
    return memory;
  }

  private static byte[] inside(Memory memory) {
    return memory.getBytes(GUARD, AREA);
  }

  /**
   * Executes lists, on the GPU and in the model.
   *
   * @throws AssertionError that says what differs
   */
  void execute(OperationLists lists, long timeout) {
    byte[] encoded = new byte[lists.operations() * OperationView.BYTES];
    int at = 0;
    for (int poster = 0; poster < lists.lists().size(); poster++) {
      for (int i = 0; i < lists.length(); i++) {
        byte[] one =
            view(lists.lists().get(poster).get(i), lists.waits().get(poster).get(i)).encode();
        System.arraycopy(one, 0, encoded, at, one.length);
        at += one.length;
      }
    }
    list.putBytes(0, encoded);
    JobView jobView = new JobView();
    jobView.local = list.address();
    jobView.iterations = lists.length();
    jobView.scope = lists.scope();
    jobView.qpCount = queuePairs;
    launch("operations", jobView, lists.blocks(), lists.threads(), timeout);
    checkStatus(lists);
    model.execute(lists);
    compare();
  }

  /**
   * Executes lists of the same length, one a thread of one block, that need not succeed.
   *
   * @return the threads' status words
   */
  int[] attempt(List<List<OperationView>> lists, long timeout) {
    int length = lists.getFirst().size();
    byte[] encoded = new byte[lists.size() * length * OperationView.BYTES];
    int at = 0;
    for (List<OperationView> operations : lists) {
      for (OperationView operation : operations) {
        System.arraycopy(operation.encode(), 0, encoded, at, OperationView.BYTES);
        at += OperationView.BYTES;
      }
    }
    list.putBytes(0, encoded);
    JobView jobView = new JobView();
    jobView.local = list.address();
    jobView.iterations = length;
    jobView.scope = JobView.SCOPE_THREAD;
    jobView.qpCount = queuePairs;
    launch("operations", jobView, 1, lists.size(), timeout);
    return IntStream.range(0, lists.size()).map(this::status).toArray();
  }

  /** A put of eight bytes from one offset to the same one at the target, which is waited for. */
  OperationView put(int offset) {
    Slab slab = new Slab(offset, Long.BYTES);
    return view(
        new Operation(
            JobView.OP_PUT, 0, slab, slab, 0, 0, Operation.NOTHING, Operation.NOTHING, true, false),
        true);
  }

  /** The 64-bit word at an offset of the local area. */
  long localWord(int offset) {
    return local.getLong(GUARD + offset);
  }

  /** The 64-bit word at an offset of the remote area. */
  long remoteWord(int offset) {
    return remote.getLong(GUARD + offset);
  }

  /** Compares both areas with the model. */
  private void compare() {
    String shared = model.adoptShared(inside(local));
    if (shared != null) {
      throw new AssertionError(shared);
    }
    compare("local", local, model.local());
    compare("remote", remote, model.remote());
  }

  private static void compare(String name, Memory memory, byte[] expected) {
    byte[] actual = memory.getBytes(0, (int) memory.size());
    byte[] whole = new byte[actual.length];
    Arrays.fill(whole, GUARD_BYTE);
    System.arraycopy(expected, 0, whole, GUARD, expected.length);
    int difference = Arrays.mismatch(actual, whole);
    if (difference >= 0) {
      throw new AssertionError(
          "%s area, byte %d%s: 0x%02x instead of 0x%02x"
              .formatted(
                  name,
                  difference - GUARD,
                  difference < GUARD || difference >= GUARD + AREA ? " (a guard)" : "",
                  actual[difference],
                  whole[difference]));
    }
  }

  private OperationView view(Operation operation, boolean waits) {
    long from = local.address() + GUARD;
    long to = remote.address() + GUARD;
    return new OperationView(
        from + operation.local().offset(),
        to + operation.remote().offset(),
        operation.local().bytes(),
        operation.operand(),
        operation.compare(),
        to + operation.signal().offset(),
        from + operation.fetched().offset(),
        localRegion.lkey(),
        remoteRegion.rkey(),
        operation.opcode(),
        operation.queuePair(),
        waits ? OperationView.FLAG_WAIT : 0);
  }

  /**
   * Runs {@code put_rate}: every thread posts one operation again and again, with cells of {@code
   * stride} bytes from the areas' starts on.
   */
  void repeat(JobView jobView, int blocks, int threads, long timeout) {
    repeat("put_rate", jobView, blocks, threads, timeout);
  }

  /** As the other, by a kernel that takes the same job. */
  void repeat(String kernel, JobView jobView, int blocks, int threads, long timeout) {
    aim(jobView);
    launch(kernel, jobView, blocks, threads, timeout);
    for (int thread = 0; thread < blocks * threads; thread++) {
      expectStatus(thread, Abi.OK);
    }
    for (int thread = 0; thread < blocks * threads; thread++) {
      Slab cell = new Slab((int) (thread * jobView.stride), (int) jobView.bytes);
      Operation operation =
          new Operation(
              jobView.opcode,
              0,
              cell,
              cell,
              jobView.operand,
              jobView.compare,
              Operation.NOTHING,
              Operation.NOTHING,
              true,
              false);
      OperationLists once =
          new OperationLists(
              JobView.SCOPE_THREAD, 1, 1, List.of(List.of(operation)), List.of(new BitSet()));
      for (long i = 0; i < jobView.iterations; i++) {
        model.execute(once);
      }
    }
    compare();
  }

  /** Runs a kernel of one thread that need not succeed, and returns its status word. */
  int attempt(String kernel, JobView jobView, long timeout) {
    aim(jobView);
    launch(kernel, jobView, 1, 1, timeout);
    return status(0);
  }

  /** Has a job put from the start of one area to that of the other, unless it names a key. */
  private void aim(JobView jobView) {
    jobView.local = local.address() + GUARD;
    jobView.remote = remote.address() + GUARD;
    jobView.localKey = localRegion.lkey();
    jobView.remoteKey = jobView.remoteKey == 0 ? remoteRegion.rkey() : jobView.remoteKey;
    jobView.qpCount = queuePairs;
  }

  private void launch(String kernel, JobView jobView, int blocks, int threads, long timeout) {
    status.fill(0, status.size(), (byte) 0xff);
    jobView.status = status.address();
    job.putBytes(0, jobView.encode());
    GpuModule module = modules.computeIfAbsent(kernel, this::load);
    try (var stream = world.rank(0).gpu().createStream()) {
      Launch launch =
          world
              .rank(0)
              .gpu()
              .launch(
                  module.kernel(kernel),
                  LaunchConfig.of(blocks, threads).withTimeout(timeout),
                  new KernelArguments().add(views).add(job),
                  stream);
      RunOutcome outcome = world.fabric().run(launch::done, timeout);
      if (outcome != RunOutcome.DONE) {
        launch.cancel("the test's time was over");
        throw new AssertionError("the kernel did not end: " + outcome);
      }
      launch.check();
    }
    world.fabric().quiesce();
  }

  private GpuModule load(String kernel) {
    KernelCatalogue catalogue = KernelCatalogue.load();
    return owned.add(
        world.rank(0).gpu().load(kernel, catalogue.find(kernel).map(catalogue::ptx).orElseThrow()));
  }

  private void checkStatus(OperationLists lists) {
    boolean byBlock = lists.scope() == JobView.SCOPE_BLOCK;
    for (int thread = 0; thread < lists.blocks() * lists.threads(); thread++) {
      List<Operation> mine = lists.lists().get(byBlock ? thread / lists.threads() : thread);
      boolean refused = mine.stream().anyMatch(operation -> !operation.expressible());
      expectStatus(thread, refused ? Abi.ERROR_ARGUMENT : Abi.OK);
    }
  }

  private void expectStatus(int thread, int expected) {
    int word = status(thread);
    if (word != expected) {
      throw new AssertionError(
          "thread %d ends with '%s' instead of '%s'; %s"
              .formatted(
                  thread,
                  Abi.statusText(word),
                  Abi.statusText(expected),
                  connection.endpoints(0).stream().map(Endpoint::error).toList()));
    }
  }

  private int status(int thread) {
    return (int) status.getLong((long) thread * Integer.BYTES);
  }

  @Override
  public void close() {
    owned.close();
  }
}
