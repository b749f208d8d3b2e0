package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.FabricCounters;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.Protocols;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Placement;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One point of a transfer experiment in virtual time: a ping-pong for latency, then a window of
 * messages for goodput, each in a world of its own, each byte at the target compared.
 */
final class TransferPoint {
  /** Virtual time after which a kernel is stopped. */
  private static final long KERNEL_NANOS = 2_000_000_000L;

  /** On a GPU, where the first thousand exchanges are those of a host that is not warm yet. */
  private static final long KERNEL_NANOS_ON_GPU = 20_000_000_000L;

  /** Messages of one run of the streaming kernel on a GPU, and the most bytes of them. */
  private static final int MESSAGES_ON_GPU = 1 << 15;

  /** Of one whose memory the HCA reaches through a mover, tens of microseconds a message. */
  private static final int MESSAGES_THROUGH_A_MOVER = 1 << 13;

  private static final long BYTES_ON_GPU = 1L << 30;

  /** Virtual time after which a device-side wait ends. */
  private static final long DEADLINE_NANOS = 500_000_000L;

  /**
   * With faults, after which HCAs first repeat what is not acknowledged, as those with adaptive
   * retransmission do: the usual timeout of 4.3 s is longer than kernels wait.
   */
  private static final long FIRST_RETRY_NANOS = 1_000_000;

  /** On a real HCA, whose answers take as long as they take. */
  private static final long DEADLINE_NANOS_ON_HCA = 10_000_000_000L;

  /** Virtual time between two looks at the clock on the wall and at Ctrl-C. */
  private static final long SLICE_NANOS = 200_000;

  private final Point point;
  private final PointContext context;
  private final Topology topology;
  private final ExecutionBackend backend;
  private final Protocols protocols;
  private final TransferShape shape;
  private final int bytes;
  private final List<String> notes = new ArrayList<>();
  private final List<FaultInjector> injectors = new ArrayList<>();
  private long verified;

  /**
   * @param backend what runs the kernels
   */
  TransferPoint(
      Point point,
      PointContext context,
      Topology topology,
      Protocols protocols,
      ExecutionBackend backend) {
    this.point = point;
    this.protocols = protocols;
    this.backend = backend;
    this.context = context;
    this.topology = topology;
    this.shape = new TransferShape(point, kernelNanos(), deadlineNanos());
    this.bytes = shape.bytes();
  }

  /** Runs both halves. */
  PointResult run() throws PointFailure {
    try {
      return measure();
    } catch (HcaException e) {
      throw failure(
          PointFailure.Kind.FAILED, "DB-P008", String.valueOf(e.getMessage()), "no result");
    } finally {
      if (!point.faults().faults().isEmpty()) {
        context.faults(FaultTally.of(FaultCount.total(point.faults(), injectors)));
      }
    }
  }

  private PointResult measure() throws PointFailure {
    List<Samples> samples = new ArrayList<>();
    SequencedMap<String, Quantity> counters = new LinkedHashMap<>();
    Protocol pingPong = protocols.latency(point);
    if (pingPong != null && Protocols.wantsLatency(point)) {
      samples.add(latency(pingPong));
    }
    Protocol streaming = protocols.goodput(point);
    if (streaming != null && Protocols.wantsGoodput(point)) {
      samples.add(goodput(streaming, counters));
    }
    return new PointResult(backend.basis(), samples, counters, verified, notes);
  }

  private Samples latency(Protocol protocol) throws PointFailure {
    try (World world = world(protocol, 0);
        Connection connection = connect(world, protocol);
        Owned open = new Owned()) {
      List<RankBuffers> parties = parties(protocol, world, connection, 0, open);
      runOnce(protocol, world, parties, point.samples(), point.warmup());
      return Samples.of("latency", "ns", parties.getFirst().samples());
    }
  }

  /**
   * Goodput, message by message count: one sample a batch, since the windowed kernel stamps its
   * start and end only.
   */
  private Samples goodput(Protocol protocol, SequencedMap<String, Quantity> counters)
      throws PointFailure {
    int batches = Math.max(1, Math.min(onGpu() ? 5 : 3, point.samples()));
    double[] rates = new double[batches];
    if (onGpu()) {
      // What answers is compiled while it runs; the first run only sees to that.
      stream(protocol, batches, null);
    }
    for (int batch = 0; batch < batches; batch++) {
      rates[batch] = stream(protocol, batch, batch == 0 ? counters : null);
    }
    return Samples.of("goodput", "GB/s", rates);
  }

  private double stream(
      Protocol protocol, int batch, @Nullable SequencedMap<String, Quantity> counters)
      throws PointFailure {
    try (World world = world(protocol, batch + 1);
        Connection connection = connect(world, protocol);
        Owned open = new Owned()) {
      List<RankBuffers> parties = parties(protocol, world, connection, 2 + batch, open);
      int each = onGpu() ? messagesOnGpu() : shape.messages(protocol);
      int messages = each * inATurn(protocol);
      FabricCounters before = counters(world);
      runOnce(protocol, world, parties, each, 0);
      FabricCounters after = counters(world);
      if (counters != null && before != null && after != null) {
        count(after.minus(before), messages, counters);
      }
      boolean all = protocol.descriptor().launch().allRanks();
      List<RankBuffers> senders =
          parties.stream()
              .filter(buffers -> all || buffers == parties.getFirst())
              .filter(RankBuffers::stamped)
              .toList();
      long started = senders.stream().mapToLong(RankBuffers::started).min().orElse(0);
      long ended = senders.stream().mapToLong(RankBuffers::ended).max().orElse(0);
      long nanos = delivered(world, ended) - started;
      if (started == 0 || nanos <= 0) {
        throw failure(
            PointFailure.Kind.FAILED,
            "DB-P006",
            "kernel %s left stamps of %d and %d ns".formatted(protocol.name(), started, ended),
            "there is no time to divide the bytes by");
      }
      return (double) bytes * messages / nanos;
    }
  }

  /** Messages of all ranks, of those that are counted, in a turn of the kernel. */
  private int inATurn(Protocol protocol) {
    return protocol.descriptor().launch().allRanks()
        ? protocol.descriptor().verify().messages(shape.ranks(protocol))
        : shape.blocks(protocol);
  }

  /**
   * When the last byte had arrived. An acknowledgement says that the peer's HCA has a message,
   * which may still have to wait for its way into memory.
   */
  private static long delivered(World world, long ended) {
    return world.fabric() instanceof TimedFabric timed ? Math.max(ended, timed.now()) : ended;
  }

  /** The sides of all ranks, whose payloads differ. */
  private List<RankBuffers> parties(
      Protocol protocol, World world, Connection connection, long salt, Owned open) {
    List<RankBuffers> parties = new ArrayList<>();
    for (int rank = 0; rank < shape.ranks(protocol); rank++) {
      long own = rank < 2 ? rank : ((long) rank << Integer.SIZE);
      parties.add(
          open.add(shape.buffers(protocol, connection, world.rank(rank), rank == 0 ? salt : own)));
    }
    return parties;
  }

  /** Launches the protocol where it runs, waits for it, and compares what arrived. */
  private void runOnce(
      Protocol protocol, World world, List<RankBuffers> parties, int iterations, int warmup)
      throws PointFailure {
    List<Launch> launches = new ArrayList<>();
    try {
      List<Supplier<Launch>> starts = new ArrayList<>();
      for (int rank = 0; rank < launched(protocol); rank++) {
        starts.add(prepare(protocol, parties, rank, shape.job(protocol, rank, iterations, warmup)));
      }
      for (Supplier<Launch> start : starts) {
        launches.add(start.get());
      }
    } catch (GpuException e) {
      launches.forEach(launch -> launch.cancel("its peer could not be launched"));
      throw failure(
          PointFailure.Kind.FAILED, "DB-P001", String.valueOf(e.getMessage()), "no result");
    }
    await(world, launches, parties);
    verify(protocol, parties);
  }

  private int launched(Protocol protocol) {
    return switch (protocol.descriptor().launch().ranks()) {
      case SENDER -> 1;
      case BOTH -> 2;
      case ALL -> shape.ranks(protocol);
    };
  }

  private Supplier<Launch> prepare(
      Protocol protocol, List<RankBuffers> parties, int rank, JobView job) {
    LaunchConfig config = shape.launch(protocol);
    RankBuffers buffers = parties.get(rank);
    return protocol.descriptor().launch().allRanks()
        ? buffers.prepareAmong(protocol, job, parties, config)
        : buffers.prepare(protocol, job, parties.get(1 - rank), config);
  }

  /** What the fabric has counted; a fabric without virtual time counts nothing. */
  private static @Nullable FabricCounters counters(World world) {
    return world.fabric() instanceof TimedFabric timed ? timed.counters() : null;
  }

  private void count(
      FabricCounters traffic, int messages, SequencedMap<String, Quantity> counters) {
    keep(counters, "tlp.bytes", new Quantity((double) traffic.wireBytes() / messages, "B"));
    keep(counters, "tlp.count", new Quantity((double) traffic.tlps() / messages, ""));
    keep(
        counters,
        "link.crossings",
        new Quantity((double) traffic.payloadCrossings() / messages / bytes, ""));
    keep(counters, "fences", new Quantity((double) traffic.fences() / messages, ""));
    keep(counters, "fence.time", new Quantity(traffic.drainedNanos() / messages, "ns"));
  }

  /** Keeps a counter, counted per message, if the config asks for it. */
  private void keep(SequencedMap<String, Quantity> counters, String name, Quantity quantity) {
    if (point.metrics().contains(name)) {
      counters.put(name, quantity);
    }
  }

  private World world(Protocol protocol, int run) throws PointFailure {
    int ranks = shape.ranks(protocol);
    World world =
        switch (backend) {
          case ExecutionBackend.Virtual() ->
              onVirtualMachine(
                  World.timed(
                      topology,
                      ranks,
                      (int) point.whole("mtu"),
                      point.seed() + run,
                      Trace.NONE,
                      payload(),
                      point.faults().faults().isEmpty() ? 0 : FIRST_RETRY_NANOS));
          case ExecutionBackend.Wall() -> onVirtualMachine(wall(ranks));
          case ExecutionBackend.Cuda(int ordinal) -> cuda(ordinal, ranks);
          case ExecutionBackend.Verbs verbs -> verbs(verbs, ranks);
        };
    injectors.addAll(world.inject(point.faults().forTransfer(point.seed() + injectors.size())));
    return world;
  }

  private World wall(int ranks) {
    DirectFabric fabric = new DirectFabric();
    return World.direct(
        fabric,
        ranks,
        SoftHcaOptions.DEFAULT,
        payload(),
        number -> new VmGpu(fabric, Locus.gpu(number, 0)));
  }

  /** Opens the GPU with a mover, where the HCA has to reach its memory. */
  private World cuda(int ordinal, int ranks) throws PointFailure {
    CudaGpu.Mover mover = CudaGpu.Mover.NONE;
    if (needsMover()) {
      boolean copies = point.text("dma").equals("copy");
      mover = copies ? CudaGpu.Mover.COPY : CudaGpu.Mover.KERNEL;
      if (notes.isEmpty()) {
        notes.add(
            copies
                ? "the software HCA reaches GPU memory by the GPU's copy engines"
                : "the software HCA reaches GPU memory by a kernel on one multiprocessor");
      }
    }
    try {
      return World.cuda(ordinal, mover, ranks, SoftHcaOptions.DEFAULT, payload());
    } catch (GpuException e) {
      throw failure(PointFailure.Kind.FAILED, "DB-P001", e.getMessage(), "no result");
    }
  }

  private boolean needsMover() {
    return payload() != MemoryKind.HOST || shape.placement().touchesGpu();
  }

  private World onVirtualMachine(World world) throws PointFailure {
    if (!point.text("dma").equals("copy")) {
      world.close();
      throw failure(
          PointFailure.Kind.FAILED,
          "DB-P017",
          "dma is %s, and an HCA reaches the memory of the PTX virtual machine by itself; leave dma out, or use -s gpu=cuda:0"
              .formatted(point.text("dma")),
          "no result");
    }
    return world;
  }

  private MemoryKind payload() {
    return Placement.payload(point.text("payload"));
  }

  private World verbs(ExecutionBackend.Verbs verbs, int ranks) throws PointFailure {
    try {
      return World.verbs(verbs.hca(), verbs.ordinal(), ranks, payload());
    } catch (GpuException | HcaException e) {
      throw failure(
          PointFailure.Kind.FAILED, "DB-P001", String.valueOf(e.getMessage()), "no result");
    }
  }

  private Connection connect(World world, Protocol protocol) {
    String note = shape.note();
    if (note != null && notes.isEmpty()) {
      notes.add(note);
    }
    Connection connection = shape.connect(world, protocol);
    String relayed = connection.endpoints(0).getFirst().relayed();
    if (relayed != null && !notes.contains(relayed)) {
      notes.add(relayed);
    }
    return connection;
  }

  private boolean onGpu() {
    return backend instanceof ExecutionBackend.Cuda;
  }

  private long kernelNanos() {
    return onGpu() || onHca() ? KERNEL_NANOS_ON_GPU : KERNEL_NANOS;
  }

  private boolean onHca() {
    return backend instanceof ExecutionBackend.Verbs;
  }

  private long deadlineNanos() {
    return onHca() ? DEADLINE_NANOS_ON_HCA : DEADLINE_NANOS;
  }

  private int messagesOnGpu() {
    int messages = needsMover() ? MESSAGES_THROUGH_A_MOVER : MESSAGES_ON_GPU;
    long most = Math.min(messages, BYTES_ON_GPU / shape.bytes()) / point.whole("qps");
    return (int) Math.max(point.whole("window"), most);
  }

  private void await(World world, List<Launch> launches, List<RankBuffers> parties)
      throws PointFailure {
    long left = kernelNanos();
    while (left > 0) {
      RunOutcome outcome = world.fabric().run(() -> allDone(launches), SLICE_NANOS);
      if (outcome == RunOutcome.DONE) {
        break;
      }
      if (outcome == RunOutcome.STALLED) {
        throw failure(
            PointFailure.Kind.FAILED,
            "DB-P003",
            "nothing can happen any more" + waiting(world),
            "the kernels wait for something that nobody will do");
      }
      if (context.cancelled()) {
        launches.forEach(launch -> launch.cancel("interrupted"));
        throw failure(PointFailure.Kind.CANCELLED, "DB-P004", "interrupted", "no result");
      }
      left -= SLICE_NANOS;
    }
    if (left <= 0) {
      launches.forEach(launch -> launch.cancel("the point's time was over"));
      throw failure(
          PointFailure.Kind.TIMEOUT,
          "DB-P005",
          "the kernels did not end within %d ms".formatted(kernelNanos() / 1_000_000),
          "no result");
    }
    for (Launch one : launches) {
      try {
        one.check();
      } catch (GpuException e) {
        throw failure(PointFailure.Kind.FAILED, "DB-P001", e.getMessage(), "no result");
      }
    }
    world.fabric().quiesce();
    for (RankBuffers buffers : parties) {
      String firstError = buffers.firstError();
      if (firstError != null) {
        throw failure(PointFailure.Kind.FAILED, "DB-P001", firstError, "no result");
      }
    }
  }

  /** Asked after every event of the fabric, so it allocates nothing. */
  private static boolean allDone(List<Launch> launches) {
    for (int i = 0; i < launches.size(); i++) {
      if (!launches.get(i).done()) {
        return false;
      }
    }
    return true;
  }

  private static String waiting(World world) {
    return world.fabric() instanceof TimedFabric timed
        ? ": " + String.join("; ", timed.waiting())
        : "";
  }

  private void verify(Protocol protocol, List<RankBuffers> parties) throws PointFailure {
    KernelDescriptor.Verify what = protocol.descriptor().verify();
    if (!what.ofAll()) {
      verify(parties.get(1), parties.get(1).mismatch(parties.get(0)));
      if (what == KernelDescriptor.Verify.BOTH) {
        verify(parties.get(0), parties.get(0).mismatch(parties.get(1)));
      }
      return;
    }
    for (RankBuffers buffers : parties) {
      verify(buffers, buffers.mismatch(parties, what));
    }
  }

  private void verify(RankBuffers to, @Nullable String mismatch) throws PointFailure {
    if (mismatch != null) {
      throw failure(PointFailure.Kind.MISMATCH, "DB-P002", mismatch, "the point has no result");
    }
    verified += to.bytes();
  }

  private PointFailure failure(PointFailure.Kind kind, String code, String what, String effect) {
    return new PointFailure(kind, Problem.of(code, point.id(), what).effect(effect));
  }
}
