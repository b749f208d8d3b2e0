package dev.doorbell.experiments.scenario.recovery;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.OperationView;
import dev.doorbell.core.queue.QueuePairView;
import dev.doorbell.kernels.KernelCatalogue;
import dev.doorbell.proxy.recovery.CpuPath;
import dev.doorbell.proxy.recovery.KernelConnection;
import dev.doorbell.proxy.recovery.PostingSupervisor;
import dev.doorbell.proxy.recovery.RecoveryPolicy;
import dev.doorbell.proxy.recovery.SafePoint;
import dev.doorbell.proxy.recovery.SupervisionPolicy;
import org.jspecify.annotations.Nullable;

/** A kernel of rank 0 that posts its traffic, whatever fails, and the host that keeps it going. */
final class KeptKernel implements AutoCloseable {
  /** The protocol kernel that has safe points. */
  static final String KERNEL = "restartable";

  private static final long KERNEL_NANOS = 4_000_000_000L;
  private static final long HOST_NANOS = 2_000_000_000L;
  private static final int BLOCKS = 64;
  private static final String PTX =
      KernelCatalogue.load()
          .find(KERNEL)
          .map(KernelCatalogue.load()::ptx)
          .orElseThrow(() -> new IllegalStateException("this build has no kernel " + KERNEL));

  /** What is done about a failure. */
  enum Remedy {
    /** The queue pair is reset and connected again. */
    RESET,
    /** Another queue pair by the other port; and back, should that fail. */
    FAILOVER,
    /** The queue pair is reset, and the CPU posts for a while. */
    DEMOTE
  }

  /**
   * What is posted.
   *
   * @param threads of one block
   * @param operations of each thread
   * @param bytes of a put
   * @param window operations of a thread in flight
   * @param immediate puts carry an immediate, and so take a receive at the peer
   */
  record Shape(int threads, int operations, int bytes, int window, boolean immediate) {}

  private final Ports ports;
  private final Shape shape;
  private final Traffic traffic;
  private final PortPair.Tally tally = new PortPair.Tally();
  private final PortConnection[] connections = new PortConnection[Ports.PORTS];
  private final Memory lists;
  private final Memory status;
  private final Memory stamps;
  private final SafePoint point;
  private final PostingSupervisor keeper;
  private final Launch launch;

  KeptKernel(
      Topology topology,
      Shape shape,
      Remedy remedy,
      SupervisionPolicy policy,
      FaultPlan faults,
      long seed) {
    this.shape = shape;
    ports =
        new Ports(
            topology,
            seed,
            Traffic.bufferBytes(shape.threads(), shape.operations(), shape.bytes()));
    traffic = new Traffic(ports, shape, seed);
    lists = device((long) traffic.messages() * OperationView.BYTES, "operations");
    status = device((long) shape.threads() * Integer.BYTES, "status");
    status.fill(0, status.size(), (byte) 0xff);
    stamps = device(2L * Long.BYTES, "stamps");
    Memory views = device(QueuePairView.BYTES, "queue pair view");
    point = new SafePoint(ports.gpu(0), shape.threads());
    for (int port = 0; port < Ports.PORTS; port++) {
      connections[port] =
          new PortConnection(ports, port, BLOCKS, shape.threads() == 1, tally, this::writeLists);
    }
    connections[0].reconnect();
    keeper =
        new PostingSupervisor(
            ports.fabric(),
            Locus.cpu(0),
            point,
            views,
            connections[0],
            (attempt, failed) -> next(remedy, failed),
            policy,
            remedy == Remedy.DEMOTE ? cpuPath(policy) : null);
    ports.inject(faults);
    launch = start(views);
  }

  private Memory device(long bytes, String label) {
    return ports.gpu(0).allocate(MemoryKind.DEVICE, bytes, label);
  }

  private void writeLists(int port) {
    lists.putBytes(0, traffic.lists(ports, port));
  }

  private @Nullable KernelConnection next(Remedy remedy, KernelConnection failed) {
    if (remedy != Remedy.FAILOVER) {
      return failed;
    }
    return failed.equals(connections[0]) ? connections[1] : connections[0];
  }

  private CpuPath cpuPath(SupervisionPolicy policy) {
    return new CpuPath(
        ports.gpu(0),
        attempt -> new CpuConnection(ports, 0, tally),
        Locus.cpu(0),
        ports.cpuPrices(),
        new RecoveryPolicy(policy.silenceNanos(), policy.settleNanos(), policy.attempts()));
  }

  private Launch start(Memory views) {
    JobView job = new JobView();
    job.local = lists.address();
    job.inbox = point.address();
    job.iterations = shape.operations();
    job.window = shape.window();
    job.compare = HOST_NANOS;
    job.status = status.address();
    job.stamps = stamps.address();
    Memory jobs = device(JobView.BYTES, "job");
    jobs.putBytes(0, job.encode());
    GpuModule module = ports.gpu(0).load(KERNEL, PTX);
    KernelArguments arguments = new KernelArguments();
    arguments.add(views);
    arguments.add(jobs);
    return ports
        .gpu(0)
        .launch(
            module.kernel(KERNEL),
            LaunchConfig.of(1, shape.threads()).withTimeout(KERNEL_NANOS),
            arguments,
            ports.gpu(0).createStream());
  }

  /** Runs for {@code nanos}; true when the kernel has ended. */
  boolean run(long nanos) {
    boolean ended = keeper.await(launch::done, nanos);
    if (ended) {
      launch.check();
      ports.fabric().quiesce();
    }
    return ended;
  }

  /** What went wrong with the kernel, in words, or null. */
  @Nullable String firstError() {
    for (int thread = 0; thread < shape.threads(); thread++) {
      byte[] word = status.getBytes((long) thread * Integer.BYTES, Integer.BYTES);
      if (word[0] != Abi.OK) {
        return "thread %d: %s%s".formatted(thread, Abi.statusText(word[0]), errors());
      }
    }
    return null;
  }

  private String errors() {
    StringBuilder text = new StringBuilder();
    for (PortConnection connection : connections) {
      String firstError = connection.firstError();
      text.append(firstError == null ? "" : "; " + firstError);
    }
    return text.toString();
  }

  PostingSupervisor keeper() {
    return keeper;
  }

  Traffic traffic() {
    return traffic;
  }

  Ports ports() {
    return ports;
  }

  /** From the first post to the last completion, in nanoseconds. */
  long nanos() {
    return stamps.getLong(Long.BYTES) - stamps.getLong(0);
  }

  /** Messages that rank 1 has executed, over all connections; closes them. */
  long executed() {
    keeper.close();
    for (PortConnection connection : connections) {
      connection.count();
    }
    return tally.messages();
  }

  @Override
  public void close() {
    keeper.close();
    for (PortConnection connection : connections) {
      connection.close();
    }
    ports.close();
  }
}
