package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.fabric.ArrivalCheck;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.PeerView;
import dev.doorbell.core.queue.generated.SignalsView;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.scenario.foreign.Site;
import dev.doorbell.experiments.scenario.foreign.WorldStructures;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One rank's side of a transfer: the payload it sends, the inbox it receives into, staging where
 * the path needs it, and a kernel's job over them.
 */
public final class RankBuffers implements AutoCloseable {
  /** The fewest bytes on either side of the inbox that no message may write. */
  public static final int GUARD = GuardedMemory.GUARD;

  private final Rank rank;
  private final Connection connection;
  private final List<Endpoint> endpoints;
  private final int places;
  private final int slots;
  private final int bytes;
  private final Owned owned = new Owned();
  private final Memory local;
  private final Memory inbox;
  private final GuardedMemory guarded;
  private final MemoryRegion localRegion;
  private final MemoryRegion inboxRegion;
  private final @Nullable Signals signals;
  private final @Nullable KernelMemory brought;
  private final Memory views;
  private final byte[] payload;
  private final int before;
  private final int guard;
  private @Nullable Staging staging;
  private @Nullable ArrivalCheck arrivals;
  private @Nullable Memory samples;
  private @Nullable Memory stamps;
  private @Nullable KernelStatus status;

  /**
   * Shape of a rank's buffers.
   *
   * @param messageBytes of one message
   * @param slots messages side by side, in the payload and in the inbox
   * @param offset bytes by which both miss their natural alignment
   * @param kind of memory that both lie in
   * @param rights of both regions
   * @param signals words that the peer adds to
   * @param scope of the memory that the kernel brings; null where it brings none
   */
  public record Buffers(
      int messageBytes,
      int slots,
      int offset,
      MemoryKind kind,
      Set<AccessRight> rights,
      int signals,
      @Nullable KernelScope scope) {
    /** Aligned ones for one message, with every right but relaxed ordering. */
    public static Buffers of(int messageBytes, MemoryKind kind) {
      return new Buffers(messageBytes, 1, 0, kind, Endpoint.ALL_RIGHTS, 0, null);
    }
  }

  /**
   * Place of a rank's messages, as its peer names it.
   *
   * @param signals address of its signal words, or 0
   */
  public record Target(long address, int key, long signals, int signalsKey) {
    /** Target of a rank with several peers. */
    private static final Target NONE = new Target(0, 0, 0, 0);
  }

  /** Place of a rank's payload, as its own work requests name it. */
  public record Source(long address, int key) {}

  private record Signals(Memory words, MemoryRegion region, int count) {
    Site.Span span(Target target) {
      return new Site.Span(target.signals(), words.size(), target.signalsKey());
    }
  }

  /** A staging area: as the kernel stores to it, and as work requests name it. */
  private record Staging(long kernelAddress, long wireAddress, long bytes, int key) {}

  /**
   * Prepares {@code bytes} bytes to send, random but fixed by {@code seed}, and an inbox for as
   * many.
   */
  public RankBuffers(Connection connection, Rank rank, int bytes, long seed) {
    this(connection, rank, Buffers.of(bytes, rank.payload()), seed);
  }

  /** Prepares buffers of another shape. */
  public RankBuffers(Connection connection, Rank rank, Buffers buffers, long seed) {
    this.rank = rank;
    this.connection = connection;
    this.endpoints = connection.endpoints(rank.number());
    this.places = connection.places(rank.number());
    this.slots = buffers.slots();
    this.bytes = Math.multiplyExact(buffers.messageBytes(), slots);
    this.payload = new byte[bytes];
    new SplittableRandom(seed).nextBytes(payload);
    this.before = buffers.offset();
    this.local = allocate(buffers.kind(), before + (long) bytes, "payload");
    local.putBytes(before, payload);
    this.guard = GUARD + buffers.offset();
    KernelScope given = buffers.scope();
    KernelScope scope = given == null || given.extension().isEmpty() ? null : given;
    this.inbox = allocate(buffers.kind(), bytes + 2L * guard, "inbox");
    this.guarded = new GuardedMemory(inbox, guard, bytes);
    this.localRegion = own(rank.domain().register(local, before, bytes, buffers.rights()));
    this.inboxRegion = own(rank.domain().register(inbox, guard, bytes, buffers.rights()));
    this.signals = buffers.signals() == 0 ? null : signals(buffers);
    this.brought =
        scope == null
            ? null
            : own(new KernelMemory(rank, scope, buffers.kind(), buffers.rights(), seed));
    this.views = own(connection.writeViews(rank.number()));
  }

  /** Words of their own memory, so that nothing of a message lies beside them. */
  private Signals signals(Buffers buffers) {
    long size = (long) Long.BYTES * buffers.signals();
    Memory words = allocate(buffers.kind(), size, "signals");
    words.fill(0, size, (byte) 0);
    Set<AccessRight> rights = endpoints.getFirst().signalRights(buffers.rights());
    return new Signals(words, own(rank.domain().register(words, rights)), buffers.signals());
  }

  /** Kernels stage their payload where the path says, if anywhere. */
  public void stage(TransferPath path, int stagingBytes) {
    switch (path) {
      case PUSH_MEMIC -> stageOnChip(stagingBytes);
      case STAGED -> stageInHost(stagingBytes);
      default -> {}
    }
  }

  /** Kernels stage their payload in host memory. */
  public void stageInHost(int stagingBytes) {
    Memory memory = allocate(MemoryKind.HOST, stagingBytes, "host staging");
    stageIn(memory, memory.address());
  }

  /** Kernels stage their payload in the HCA's on-chip memory. */
  public void stageOnChip(int stagingBytes) {
    Memory memory = own(rank.domain().allocateOnChip(stagingBytes));
    Gpu gpu = rank.gpu();
    long mapped = gpu.attributes().emulated() ? memory.address() : memory.deviceAddress();
    long kernelAddress = gpu.mapDeviceRegisters(mapped, stagingBytes);
    owned.add(() -> gpu.unmapDeviceRegisters(mapped));
    stageIn(memory, kernelAddress);
  }

  private void stageIn(Memory memory, long kernelAddress) {
    MemoryRegion region = own(rank.domain().register(memory, Endpoint.ALL_RIGHTS));
    staging = new Staging(kernelAddress, region.address(), memory.size(), region.lkey());
  }

  /**
   * Starts a protocol of Doorbell's own that sends to {@code peer}.
   *
   * @param kernel a name of the catalogue, whose entry has the same name
   * @param job filled in but for addresses and keys
   */
  public Launch launch(
      String kernel, JobView job, RankBuffers peer, int blocks, int threads, long timeout) {
    return launch(
        Protocol.ofCatalogue(kernel),
        job,
        peer,
        LaunchConfig.of(blocks, threads).withTimeout(timeout));
  }

  /** Starts a protocol that sends to {@code peer}; see {@link #prepare}. */
  public Launch launch(Protocol protocol, JobView job, RankBuffers peer, LaunchConfig config) {
    return prepare(protocol, job, peer, config).get();
  }

  /**
   * Makes everything ready for a protocol that sends to {@code peer}. A real GPU may let the
   * allocations and the loading of one kernel wait for another that runs: where two wait for each
   * other, prepare both first.
   *
   * @param job filled in but for addresses and keys
   * @return starts it
   */
  public Supplier<Launch> prepare(
      Protocol protocol, JobView job, RankBuffers peer, LaunchConfig config) {
    List<RankBuffers> ranks = rank.number() == 0 ? List.of(this, peer) : List.of(peer, this);
    return start(protocol, job, peer.target(), both(peer.target()), config, arguments(ranks));
  }

  private Map<String, Long> arguments(List<RankBuffers> all) {
    return brought == null
        ? Map.of()
        : brought.arguments(all.stream().map(RankBuffers::brought).toList());
  }

  public KernelMemory brought() {
    return require(brought);
  }

  /**
   * Prepares a kernel that runs at all ranks.
   *
   * @param all ranks by rank, this one among them
   */
  public Supplier<Launch> prepareAmong(
      Protocol protocol, JobView job, List<RankBuffers> all, LaunchConfig config) {
    Memory peers =
        allocate(MemoryKind.DEVICE, (long) PeerView.BYTES * all.size(), "views of the peers");
    for (int number = 0; number < all.size(); number++) {
      boolean own = number == rank.number();
      Target to = own ? asOwnSource() : all.get(number).target();
      peers.putBytes(
          (long) number * PeerView.BYTES,
          new PeerView(to.address(), to.signals(), to.key(), to.signalsKey()).encode());
    }
    job.peers = peers.address();
    List<Target> targets = all.stream().map(RankBuffers::target).toList();
    return start(protocol, job, Target.NONE, targets, config, arguments(all));
  }

  private Supplier<Launch> start(
      Protocol protocol,
      JobView job,
      Target to,
      List<Target> targets,
      LaunchConfig config,
      Map<String, Long> arguments) {
    job.local = local.address() + before;
    job.inbox = guarded.address();
    return ready(protocol, job, to, targets, config, job.iterations, arguments);
  }

  private List<Target> both(Target peer) {
    return rank.number() == 0 ? List.of(target(), peer) : List.of(peer, target());
  }

  /**
   * Prepares a kernel that executes lists of operations, each thread its own; the job's inbox is
   * the caller's.
   *
   * @param lists as the kernel takes them; this rank's from now on
   */
  public Supplier<Launch> prepareLists(
      Protocol protocol, JobView job, RankBuffers peer, LaunchConfig config, Memory lists) {
    job.local = own(lists).address();
    long threads = (long) config.blocks() * config.threadsPerBlock();
    return ready(
        protocol,
        job,
        peer.target(),
        both(peer.target()),
        config,
        threads * job.iterations,
        Map.of());
  }

  private Supplier<Launch> ready(
      Protocol protocol,
      JobView job,
      Target to,
      List<Target> targets,
      LaunchConfig config,
      long sampled,
      Map<String, Long> own) {
    job.localKey = localRegion.lkey();
    job.remote = to.address();
    job.remoteKey = to.key();
    job.bytes = bytes / slots;
    job.stride = slots == 1 ? 0 : job.bytes;
    job.qpCount = places;
    long threads = (long) config.blocks() * config.threadsPerBlock();
    status = own(new KernelStatus(rank.gpu(), threads));
    job.status = status.address();
    stamps = allocate(MemoryKind.DEVICE, 2 * Long.BYTES, "stamps");
    job.stamps = stamps.address();
    if (sampled > 0) {
      samples = allocate(MemoryKind.DEVICE, sampled * Long.BYTES, "samples");
      job.samples = samples.address();
    }
    if (staging != null) {
      job.staging = staging.kernelAddress();
      job.stagingWire = staging.wireAddress();
      job.stagingBytes = staging.bytes();
      job.stagingKey = staging.key();
    }
    if (signals != null) {
      Memory view = allocate(MemoryKind.DEVICE, SignalsView.BYTES, "signals view");
      view.putBytes(
          0,
          new SignalsView(
                  signals.words().address(),
                  to.signals(),
                  signals.region().lkey(),
                  to.signalsKey(),
                  signals.count())
              .encode());
      job.signals = view.address();
    }
    Memory jobMemory = allocate(MemoryKind.DEVICE, JobView.BYTES, "job");
    jobMemory.putBytes(0, job.encode());
    GpuModule module = own(rank.gpu().load(protocol.name(), protocol.ptx()));
    Kernel entry = module.kernel(protocol.descriptor().entry());
    Site site =
        new Site(
            rank,
            connection,
            module,
            new Site.Span(source().address(), bytes, localRegion.lkey()),
            span(asOwnSource()),
            targets.stream().map(this::span).toList(),
            signals == null ? List.of() : targets.stream().map(signals::span).toList(),
            owned);
    KernelArguments arguments =
        Protocol.arguments(
            protocol.descriptor().parameters(),
            entry,
            views,
            jobMemory,
            job,
            own,
            WorldStructures.install(protocol.descriptor(), site, views, own));
    GpuStream stream = own(rank.gpu().createStream());
    return () -> rank.gpu().launch(entry, config, arguments, stream);
  }

  private Site.Span span(Target target) {
    return new Site.Span(target.address(), bytes, target.key());
  }

  /** The place of this rank's messages. */
  public Target target() {
    return signals == null
        ? new Target(guarded.address(), inboxRegion.rkey(), 0, 0)
        : new Target(
            guarded.address(),
            inboxRegion.rkey(),
            signals.words().address(),
            signals.region().rkey());
  }

  /** This rank's target, as its own work requests name it. */
  private Target asOwnSource() {
    Target target = target();
    return new Target(
        target.address(),
        inboxRegion.lkey(),
        target.signals(),
        signals == null ? 0 : signals.region().lkey());
  }

  /** The place of this rank's payload, as its own work requests name it. */
  public Source source() {
    return new Source(local.address() + before, localRegion.lkey());
  }

  /**
   * The first thing that went wrong, in words, or null: a status word that is not ok, or an error
   * record.
   */
  public @Nullable String firstError() {
    String error = status == null ? null : status.firstError("rank " + rank.number());
    return error == null
        ? null
        : error + KernelStatus.errorText(endpoints.stream().map(Endpoint::error).toList());
  }

  /** Bytes of the payload, and of the inbox. */
  public int bytes() {
    return bytes;
  }

  /** The samples that the kernel took. */
  public long[] samples() {
    Memory memory = require(samples);
    return KernelJob.longs(memory, 0, (int) (memory.size() / Long.BYTES));
  }

  /** Returns true if an address lies in the staging area, as kernels see it. */
  public boolean stages(long address) {
    return staging != null
        && address >= staging.kernelAddress()
        && address < staging.kernelAddress() + staging.bytes();
  }

  /** Returns true if a kernel was launched that left stamps. */
  public boolean stamped() {
    return stamps != null && stamps.getLong(0) != 0;
  }

  /** Nanoseconds at the first post. */
  public long started() {
    return require(stamps).getLong(0);
  }

  /** Nanoseconds at the last completion. */
  public long ended() {
    return require(stamps).getLong(Long.BYTES);
  }

  /** The payload as it is now: the kernel may have written tags into it. */
  public byte[] sent() {
    return local.getBytes(before, bytes);
  }

  /**
   * From now on all that arrives in the inbox is compared with the payload that {@code peer} began
   * with, where the fabric can.
   */
  public void expect(RankBuffers peer, Fabric fabric) {
    ArrivalCheck check = new ArrivalCheck(guarded.address(), peer.payload);
    arrivals = fabric.watch(guarded.address(), check) ? check : null;
  }

  /** Bytes of the inbox that were compared: all that arrived, or what is there at the end. */
  public long compared() {
    return arrivals == null ? bytes : arrivals.compared();
  }

  /**
   * Compares the inbox with what {@code peer} sent, byte by byte, and looks at the guards.
   *
   * @return what differs, in words, or null
   */
  public @Nullable String mismatch(RankBuffers peer) {
    String early = arrivals == null ? null : arrivals.mismatch();
    return early == null ? mismatch(peer.sent()) : "rank %d, %s".formatted(rank.number(), early);
  }

  /**
   * Compares the inbox where each rank has a message for each rank.
   *
   * @param all ranks by rank, this one among them
   * @param verify the messages that have to have arrived; zeros elsewhere
   */
  public @Nullable String mismatch(List<RankBuffers> all, KernelDescriptor.Verify verify) {
    byte[] expected = new byte[bytes];
    int each = bytes / slots;
    for (RankBuffers from : all) {
      int number = from.rank.number();
      if (verify.arrives(number, rank.number(), all.size())) {
        byte[] sent = from.sent();
        int message = verify.message(number, rank.number());
        System.arraycopy(sent, message * each, expected, number * each, each);
      }
    }
    return mismatch(expected);
  }

  private @Nullable String mismatch(byte[] expected) {
    String mismatch = guarded.mismatch(expected);
    return mismatch == null ? null : "rank %d, %s".formatted(rank.number(), mismatch);
  }

  private Memory allocate(MemoryKind kind, long size, String label) {
    return own(rank.gpu().allocate(kind, size, label));
  }

  /** Closes {@code closeable} with these buffers. */
  public <T extends AutoCloseable> T own(T closeable) {
    return owned.add(closeable);
  }

  private static <T> T require(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("no kernel was launched that fills this in");
    }
    return value;
  }

  @Override
  public void close() {
    owned.close();
  }
}
