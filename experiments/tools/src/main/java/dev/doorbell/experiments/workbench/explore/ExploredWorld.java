package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.config.kernel.KernelStructure;
import dev.doorbell.experiments.scenario.foreign.Site;
import dev.doorbell.experiments.scenario.foreign.WorldStructures;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Placement;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The world of one explored run: the launches, and the conditions that must hold at the end. */
abstract class ExploredWorld implements AutoCloseable {
  static final long KERNEL_NANOS = 60_000_000_000L;

  final Scenario scenario;

  private final Owned owned = new Owned();
  private final List<Launch> launches = new ArrayList<>();
  private final Map<String, Memory> statuses = new LinkedHashMap<>();

  ExploredWorld(Scenario scenario) {
    this.scenario = scenario;
  }

  /**
   * Sets what the scenario says of queues: where they lie, their completion ring, who writes the
   * record when.
   */
  final Endpoint.Builder posting(Endpoint.Builder shape) {
    Scenario.Posting posting = scenario.posting();
    return shape
        .placement(posting.queues().equals("host") ? Placement.HOST : Placement.GPU)
        .blueFlame(posting.blueFlame())
        .recordLast(posting.recordLast())
        .collapsed(posting.collapsed())
        .batch(posting.batch());
  }

  /** Starts the kernels. */
  abstract List<Launch> launch();

  /** Returns the first failure after all launches ended, or null. */
  abstract @Nullable Failure failure();

  /** Returns what the structures of a descriptor are laid over. */
  abstract Site site(Rank rank, GpuModule module);

  /** Returns what is closed with this world. */
  final Owned owned() {
    return owned;
  }

  /** Returns the launches so far. */
  final List<Launch> launches() {
    return launches;
  }

  /** Adds a launch that was started elsewhere. */
  final void addLaunch(Launch launch) {
    launches.add(launch);
  }

  /** Returns true if every kernel has ended. */
  boolean done() {
    for (int i = 0; i < launches.size(); i++) {
      if (!launches.get(i).done()) {
        return false;
      }
    }
    return true;
  }

  /** The options of the scenario's HCAs. */
  final SoftHcaOptions hca(SoftHcaOptions usual) {
    return usual.withAdapter(scenario.nic().adapter());
  }

  final Set<AccessRight> peersWrite() {
    if (!scenario.nic().strictKeys()) {
      return Endpoint.ALL_RIGHTS;
    }
    Set<AccessRight> rights = EnumSet.copyOf(Endpoint.ALL_RIGHTS);
    rights.add(AccessRight.STRICT_ORDERING);
    return rights;
  }

  /** The kernel's descriptor, where it brings anything. */
  final Optional<KernelDescriptor> descriptor() {
    return scenario.program().shape().descriptor().map(this::descriptor);
  }

  private KernelDescriptor descriptor(String text) {
    try {
      return new KernelDescriptorReader().read(scenario.program().file(), text);
    } catch (ConfigException e) {
      throw new IllegalStateException("the descriptor was read before", e);
    }
  }

  private List<KernelStructure> structures() {
    return descriptor().map(KernelDescriptor::structures).orElse(List.of());
  }

  /**
   * Starts the scenario's kernel on a rank.
   *
   * @param brought what the kernel's own settings, metrics and buffers give, by name
   */
  final void launch(Rank rank, Memory views, JobView job, Map<String, Long> brought) {
    Memory jobMemory = allocate(rank, MemoryKind.DEVICE, JobView.BYTES, "job");
    jobMemory.putBytes(0, job.encode());
    Scenario.Program program = scenario.program();
    GpuModule module = own(rank.gpu().load(program.file(), program.ptx()));
    Kernel entry = module.kernel(program.entry());
    Scenario.Shape shape = program.shape();
    List<KernelStructure> structures = structures();
    Map<String, byte[]> laid =
        structures.isEmpty()
            ? Map.of()
            : WorldStructures.install(
                descriptor().orElseThrow(), site(rank, module), views, brought);
    launches.add(
        rank.gpu()
            .launch(
                entry,
                new LaunchConfig(
                    scenario.load().blocks(),
                    1,
                    1,
                    scenario.load().threads(),
                    1,
                    1,
                    shape.sharedBytes(),
                    shape.cooperative(),
                    KERNEL_NANOS),
                Protocol.arguments(shape.parameters(), entry, views, jobMemory, job, brought, laid),
                own(rank.gpu().createStream())));
  }

  /** Allocates zeroed memory. */
  final Memory allocate(Rank rank, MemoryKind kind, long size, String label) {
    Memory memory = own(rank.gpu().allocate(kind, size, label));
    memory.fill(0, size, (byte) 0);
    return memory;
  }

  /**
   * Allocates one status word for each thread, initially no valid status.
   *
   * @param where its threads run, for reports
   */
  final long allocateStatus(Rank rank, String where) {
    Memory status =
        allocate(
            rank, MemoryKind.DEVICE, (long) Integer.BYTES * scenario.load().posters(), "status");
    status.fill(0, status.size(), (byte) 0xff);
    statuses.put(where, status);
    return status.address();
  }

  /** Returns the failure of a thread with a bad status, or null: the cause of the others. */
  final @Nullable Failure badStatus() {
    Failure bad = null;
    for (Map.Entry<String, Memory> status : statuses.entrySet()) {
      bad = Failure.cause(bad, badStatus(status.getValue(), status.getKey()));
    }
    return bad;
  }

  /**
   * Returns the failure of the first thread with a bad status, or null. A thread that met the error
   * of another one is the first only where nothing else went wrong.
   */
  private static @Nullable Failure badStatus(Memory status, String where) {
    Failure first = null;
    byte[] words = status.getBytes(0, (int) status.size());
    for (int thread = 0; thread < words.length / Integer.BYTES; thread++) {
      int word = words[thread * Integer.BYTES] | words[thread * Integer.BYTES + 1] << Byte.SIZE;
      if (word != Abi.OK) {
        Failure bad =
            Failure.status(Abi.statusText(word), "thread %d of %s".formatted(thread, where));
        first = Failure.cause(first, bad);
      }
    }
    return first;
  }

  /** Closes {@code closeable} with this world, in reverse order. */
  final <T extends AutoCloseable> T own(T closeable) {
    return owned.add(closeable);
  }

  @Override
  public final void close() {
    for (Launch launch : launches) {
      if (!launch.done()) {
        launch.cancel("the exploration of this run ended");
      }
    }
    owned.close();
  }
}
