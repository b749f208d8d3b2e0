package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.agent.ForwardProgress;
import dev.doorbell.core.fabric.explore.ExploringFabric;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.PostOrder;
import dev.doorbell.core.queue.generated.MinimalOperand;
import dev.doorbell.core.queue.generated.OperationView;
import dev.doorbell.core.queue.generated.PeerView;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.core.queue.generated.SignalsView;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.scenario.foreign.Site;
import dev.doorbell.experiments.scenario.kernel.KernelMemory;
import dev.doorbell.experiments.scenario.kernel.KernelScope;
import dev.doorbell.experiments.scenario.kernel.KernelVerifier;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The world of one explored run: ranks, their memory, and the kernels that a scenario launches. */
final class ExploredTransfer extends ExploredWorld {
  /** Bytes for the word of a put signal behind every message. */
  private static final int SIGNAL = 8;

  /** Times that a kernel takes of an iteration, at most. */
  private static final int SAMPLES = 3;

  // put_minimal.cu: doorbells in turn; state in registers, and a queue pair for each poster.

  /** Lanes of a warp: put_minimal posts a WQE of each. */
  static final int WARP = 32;

  private static final int CHUNK = 64;
  private static final int SLOTS = 4;

  /** Virtual; passes only when nothing else can happen. */
  private static final long DEADLINE_NANOS = 100_000_000;

  private static final String HOLDER = "put_exclusive";

  /** Kernels by paths that serve exclusive queue pairs with a collapsed CQ alone. */
  private static final Set<String> SHORT_PATHS = Set.of("put_light", HOLDER);

  private final ExploringFabric fabric;
  private final World world;
  private final Connection connection;
  private final List<Side> sides = new ArrayList<>();
  private final List<KernelMemory> brought = new ArrayList<>();

  /** One rank's memory. */
  private record Side(
      Rank rank,
      Memory local,
      Memory inbox,
      MemoryRegion localRegion,
      MemoryRegion inboxRegion,
      @Nullable Signals signals,
      Memory views) {}

  /** Words that peers add to. */
  private record Signals(Memory words, MemoryRegion region) {}

  /** Returns true if the kernel posts by a short path. */
  private static boolean isShort(Scenario scenario) {
    return SHORT_PATHS.contains(scenario.program().entry());
  }

  /** Returns true if there is no doorbell record to write. */
  private static boolean lacksRecord(Scenario scenario) {
    return scenario.program().entry().equals(HOLDER)
        && scenario.posting().order().equals(PostOrder.NO_RECORD.word());
  }

  ExploredTransfer(Scenario scenario, ExploringFabric fabric, ForwardProgress progress) {
    super(scenario);
    this.fabric = fabric;
    Scenario.Load load = scenario.load();
    Scenario.Posting posting = scenario.posting();
    Scenario.Shape where = scenario.program().shape();
    if (descriptor().filter(KernelDescriptor::reachesPeers).isEmpty()) {
      fabric.separateGpus();
    }
    world = own(World.exploring(fabric, where.ranks(), hca(SoftHcaOptions.DEFAULT), progress));
    Endpoint.Shape shape =
        posting(Endpoint.Shape.builder(load.ring(), DEADLINE_NANOS))
            .exclusive(posting.exclusive() || isShort(scenario))
            .collapsed(posting.collapsed() || isShort(scenario))
            .flag(QueuePairView.FLAG_NO_RECORD, lacksRecord(scenario))
            .build();
    Connection.Ringing ringing =
        switch (posting.ringer()) {
          case "cpu" -> Connection.Ringing.CPU;
          case "proxy" -> Connection.Ringing.PROXY;
          default -> Connection.Ringing.GPU;
        };
    connection =
        own(
            where.among()
                ? Connection.mesh(world, where.ranks(), shape, ringing)
                : Connection.open(world, shape, ringing, load.queuePairs()));
    for (int rank = 0; rank < where.ranks(); rank++) {
      for (Endpoint endpoint : connection.endpoints(rank)) {
        describe(endpoint, rank);
      }
    }
    for (int rank = 0; rank < where.ranks(); rank++) {
      sides.add(side(rank));
    }
    descriptor()
        .map(KernelDescriptor::extension)
        .filter(extension -> !extension.isEmpty())
        .ifPresent(this::bring);
  }

  /** Lays out what the kernel brings, with the defaults of its settings. */
  private void bring(KernelExtension extension) {
    KernelScope scope = scope(extension);
    for (Side side : sides) {
      int seed = side.rank.number() + 1;
      brought.add(own(new KernelMemory(side.rank, scope, MemoryKind.DEVICE, inboxRights(), seed)));
    }
  }

  private KernelScope scope(KernelExtension extension) {
    Scenario.Load load = scenario.load();
    return new KernelScope(
        extension,
        KernelScope.standard(extension),
        load.bytes(),
        scenario.program().shape().ranks(),
        Math.max(1, load.window()),
        load.blocks(),
        load.threads(),
        load.iterations(),
        0);
  }

  private void describe(Endpoint endpoint, int rank) {
    Scenario.Posting posting = scenario.posting();
    boolean recordFirst = !posting.recordLast() && !lacksRecord(scenario);
    // An exclusive poster of inline payloads through BlueFlame relies on an HCA that never looks.
    boolean announces = scenario.rules().tears() || !(posting.blueFlame() && posting.exclusive());
    Connection.describe(fabric, endpoint, rank, recordFirst, announces);
  }

  private Side side(int number) {
    Rank rank = world.rank(number);
    long area = (long) stride() * slots();
    Memory local = allocate(rank, MemoryKind.DEVICE, area, "payload");
    byte[] payload = new byte[(int) area];
    new SplittableRandom(number + 1L).nextBytes(payload);
    local.putBytes(0, payload);
    Memory inbox = allocate(rank, MemoryKind.DEVICE, area, "inbox");
    return new Side(
        rank,
        local,
        inbox,
        own(rank.domain().register(local, Endpoint.ALL_RIGHTS)),
        own(rank.domain().register(inbox, inboxRights())),
        signals(rank),
        own(connection.writeViews(number)));
  }

  private @Nullable Signals signals(Rank rank) {
    int count = scenario.program().shape().signals();
    if (count == 0) {
      return null;
    }
    long size = (long) count * SIGNAL;
    Memory words = allocate(rank, MemoryKind.DEVICE, size, "signals");
    return new Signals(words, own(rank.domain().register(words, peersWrite())));
  }

  private Set<AccessRight> inboxRights() {
    Set<AccessRight> rights = EnumSet.copyOf(Endpoint.ALL_RIGHTS);
    if (scenario.rules().relaxed()) {
      rights.add(AccessRight.RELAXED_ORDERING);
    }
    rights.addAll(peersWrite());
    return rights;
  }

  /** From one message to the next: side by side where the kernel has no else. */
  private int stride() {
    List<String> given = scenario.program().shape().parameters();
    int bytes = scenario.load().bytes();
    return given.contains("job") || given.contains("stride")
        ? (bytes + 2 * SIGNAL + 63) & -64
        : bytes;
  }

  /** Messages side by side. */
  private int slots() {
    Scenario.Shape shape = scenario.program().shape();
    return switch (shape.slots()) {
      case RANKS -> shape.ranks();
      case WINDOW -> Math.max(1, scenario.load().window());
      case BLOCKS -> scenario.load().blocks();
      case THREADS -> scenario.load().posters();
    };
  }

  @Override
  List<Launch> launch() {
    for (int rank = 0; rank < scenario.program().shape().launched(); rank++) {
      launch(sides.get(rank), sides.get(rank == 0 ? 1 : 0), rank);
    }
    return launches();
  }

  private void launch(Side from, Side to, int role) {
    Scenario.Load load = scenario.load();
    JobView job = new JobView();
    job.role = role;
    job.local = from.local.address();
    job.localKey = from.localRegion.lkey();
    job.remote = to.inbox.address();
    job.remoteKey = to.inboxRegion.rkey();
    job.inbox = from.inbox.address();
    job.bytes = load.bytes();
    job.stride = stride();
    job.iterations = load.iterations();
    job.window = load.window();
    job.qpCount = connection.places(role);
    job.scope =
        switch (load.scope()) {
          case "warp" -> JobView.SCOPE_WARP;
          case "block" -> JobView.SCOPE_BLOCK;
          default -> JobView.SCOPE_THREAD;
        };
    job.path =
        switch (load.path()) {
          case "inline" -> JobView.PATH_INLINE;
          case "stage" -> JobView.PATH_STAGE;
          default -> JobView.PATH_PULL;
        };
    job.opcode = load.path().equals("inline") ? JobView.OP_PUT_INLINE : JobView.OP_PUT;
    job.status = allocateStatus(from.rank, "rank " + role);
    job.stamps = allocate(from.rank, MemoryKind.DEVICE, 2 * Long.BYTES, "stamps").address();
    job.samples =
        allocate(
                from.rank,
                MemoryKind.DEVICE,
                (long) SAMPLES * load.iterations() * Long.BYTES,
                "samples")
            .address();
    if (from.signals != null && to.signals != null) {
      Memory view = allocate(from.rank, MemoryKind.DEVICE, SignalsView.BYTES, "signals view");
      view.putBytes(
          0,
          new SignalsView(
                  from.signals.words.address(),
                  to.signals.words.address(),
                  from.signals.region.lkey(),
                  to.signals.region.rkey(),
                  scenario.program().shape().signals())
              .encode());
      job.signals = view.address();
    }
    if (scenario.program().shape().among()) {
      job.peers = peers(role);
    }
    if (job.path == JobView.PATH_STAGE) {
      stage(from.rank, job);
    }
    switch (scenario.program().entry()) {
      case "operations" -> job.local = operations(from, to);
      // All blocks communicate, and none computes.
      case "put_overlap" -> job.role = load.blocks();
      case "put_minimal" -> {
        PostOrder order = PostOrder.of(scenario.posting().order()).orElseThrow();
        job.operand =
            order.number()
                | (order == PostOrder.READ_BACK
                    ? MinimalOperand.REGISTERS
                    : MinimalOperand.SHARING_TURNS << MinimalOperand.SHARING_SHIFT);
        job.window = Math.max(2, load.window());
        job.compare = load.scope().equals("warp") ? WARP : 1;
        job.inbox = 0;
      }
      // With a window it posts on, so many puts a doorbell; else it waits for each.
      case HOLDER -> {
        job.compare = load.window();
        job.samples = load.window() == 0 ? job.samples : 0;
      }
      default -> {}
    }
    launch(
        from.rank,
        from.views,
        job,
        brought.isEmpty() ? Map.of() : brought.get(role).arguments(brought));
  }

  @Override
  Site site(Rank rank, GpuModule module) {
    Side own = sides.get(rank.number());
    return new Site(
        rank,
        connection,
        module,
        new Site.Span(own.local.address(), own.local.size(), own.localRegion.lkey()),
        new Site.Span(own.inbox.address(), own.inbox.size(), own.inboxRegion.lkey()),
        sides.stream()
            .map(
                side ->
                    new Site.Span(side.inbox.address(), side.inbox.size(), side.inboxRegion.rkey()))
            .toList(),
        sides.stream()
            .flatMap(side -> Stream.ofNullable(side.signals))
            .map(
                signals ->
                    new Site.Span(
                        signals.words.address(), signals.words.size(), signals.region.rkey()))
            .toList(),
        owned());
  }

  private long peers(int own) {
    Memory peers =
        allocate(
            sides.get(own).rank,
            MemoryKind.DEVICE,
            (long) PeerView.BYTES * sides.size(),
            "views of the peers");
    for (int rank = 0; rank < sides.size(); rank++) {
      Side side = sides.get(rank);
      MemoryRegion words = side.signals == null ? null : side.signals.region;
      PeerView view =
          new PeerView(
              side.inbox.address(),
              side.signals == null ? 0 : side.signals.words.address(),
              rank == own ? side.inboxRegion.lkey() : side.inboxRegion.rkey(),
              words == null ? 0 : rank == own ? words.lkey() : words.rkey());
      peers.putBytes((long) rank * PeerView.BYTES, view.encode());
    }
    return peers.address();
  }

  private void stage(Rank rank, JobView job) {
    long bytes = (long) CHUNK * SLOTS * scenario.load().blocks();
    Memory staging = allocate(rank, MemoryKind.HOST, bytes, "staging");
    job.staging = staging.address();
    job.stagingWire = staging.address();
    job.stagingBytes = bytes;
    job.stagingKey = own(rank.domain().register(staging, Endpoint.ALL_RIGHTS)).lkey();
    job.chunkBytes = CHUNK;
  }

  /** A list for every poster: the kinds of operations in turn, each waited for now and then. */
  private long operations(Side from, Side to) {
    Scenario.Load load = scenario.load();
    int[] kinds = {
      JobView.OP_PUT,
      JobView.OP_PUT_INLINE,
      JobView.OP_PUT_SIGNAL,
      JobView.OP_GET,
      JobView.OP_FETCH_ADD
    };
    int lists = load.scope().equals("block") ? load.blocks() : load.posters();
    byte[] encoded = new byte[lists * load.iterations() * OperationView.BYTES];
    int at = 0;
    for (int poster = 0; poster < lists; poster++) {
      long offset = (long) poster * stride();
      long behind = offset + load.bytes();
      for (int i = 0; i < load.iterations(); i++) {
        int kind = kinds[i % kinds.length];
        boolean atomic = kind == JobView.OP_FETCH_ADD;
        // Data that comes back, and words that are added to, lie behind the message.
        long local = atomic ? behind : offset;
        long remote = atomic ? behind : offset;
        OperationView view =
            new OperationView(
                from.local.address() + local,
                to.inbox.address() + remote,
                atomic ? SIGNAL : load.bytes(),
                1,
                0,
                to.inbox.address() + behind,
                from.local.address() + behind,
                from.localRegion.lkey(),
                to.inboxRegion.rkey(),
                kind,
                poster / (load.scope().equals("warp") ? 32 : 1) % load.queuePairs(),
                OperationView.FLAG_WAIT);
        System.arraycopy(view.encode(), 0, encoded, at, OperationView.BYTES);
        at += OperationView.BYTES;
      }
    }
    Memory memory = allocate(from.rank, MemoryKind.DEVICE, encoded.length, "operations");
    memory.putBytes(0, encoded);
    return memory.address();
  }

  @Override
  @Nullable Failure failure() {
    Failure bad = badStatus();
    if (bad != null || unnoticed() != null) {
      return bad == null ? unnoticed() : bad;
    }
    for (Scenario.Arrival arrival : scenario.program().shape().compared()) {
      String mismatch =
          arrival.sent() == Scenario.Arrival.ALL
              ? mismatch(arrival.from(), arrival.to())
              : mismatch(arrival);
      if (mismatch != null) {
        return Failure.data(mismatch);
      }
    }
    String mismatch =
        brought.isEmpty()
            ? null
            : new KernelVerifier(scenario.program().file(), scenario.program().ptx(), brought)
                .mismatch();
    return mismatch == null ? null : Failure.data(mismatch);
  }

  /** Returns the failure of a queue pair in error, where every thread says that all is well. */
  private @Nullable Failure unnoticed() {
    for (int rank = 0; rank < sides.size(); rank++) {
      for (Endpoint endpoint : connection.endpoints(rank)) {
        if (endpoint.queuePair().state() == QueuePairState.ERR) {
          String who = "queue pair 0x%x of rank %d".formatted(endpoint.queuePair().number(), rank);
          return Failure.status("an error completion that no thread has reported", who);
        }
      }
    }
    return null;
  }

  private @Nullable String mismatch(int from, int to) {
    boolean ring = scenario.program().shape().slots() == Scenario.Slots.WINDOW;
    int messages = ring ? Math.min(slots(), scenario.load().iterations()) : slots();
    for (int message = 0; message < messages; message++) {
      String mismatch = mismatch(new Scenario.Arrival(from, to, message, message));
      if (mismatch != null) {
        return mismatch;
      }
    }
    return null;
  }

  /** Compares one message of a payload with one of an inbox. */
  private @Nullable String mismatch(Scenario.Arrival arrival) {
    int bytes = scenario.load().bytes();
    byte[] expected =
        sides.get(arrival.from()).local.getBytes((long) arrival.sent() * stride(), bytes);
    byte[] received =
        sides.get(arrival.to()).inbox.getBytes((long) arrival.arrived() * stride(), bytes);
    int difference = Arrays.mismatch(expected, received);
    return difference < 0
        ? null
        : "rank %d received a wrong byte %d of message %d: 0x%02x instead of 0x%02x"
            .formatted(
                arrival.to(),
                difference,
                arrival.arrived(),
                received[difference] & 0xff,
                expected[difference] & 0xff);
  }
}
