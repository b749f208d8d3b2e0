package dev.doorbell.experiments.scenario.recovery;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.OperationView;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.experiments.scenario.kernel.KernelJob;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.proxy.recovery.KernelConnection;
import dev.doorbell.proxy.recovery.PostingSupervisor;
import dev.doorbell.proxy.recovery.PostingSupervisor.SupervisionPolicy;
import dev.doorbell.proxy.recovery.SafePoint;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A kernel of rank 0 that posts its traffic, and the supervisor that recovers its failures. */
final class SupervisedKernel implements Trial, AutoCloseable {
  static final String KERNEL = "restartable";

  static final long KERNEL_NANOS = 4_000_000_000L;
  private static final long SLICE_NANOS = 20_000_000;
  private static final long HOST_NANOS = 2_000_000_000L;
  static final int BLOCKS = 64;

  enum Remedy {
    /** The queue pair is reset and connected again. */
    RESET,
    /** Another queue pair by the other port; and back, should that fail. */
    FAILOVER
  }

  /**
   * Traffic of one block; puts that are {@code immediate} carry an immediate, and so take a receive
   * at the peer.
   */
  record Shape(int threads, int operations, int bytes, int window, boolean immediate) {}

  private final Ports ports;
  private final Shape shape;
  private final Traffic traffic;
  private final PortPair.Tally tally = new PortPair.Tally();
  private final PortConnection[] connections = new PortConnection[Ports.PORTS];
  private final Memory lists;
  private final KernelJob job;
  private final SafePoint point;
  private final PostingSupervisor supervisor;
  private final Memory views;

  SupervisedKernel(
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
    job =
        new KernelJob(
            ports.gpu(0), KERNEL, LaunchConfig.of(1, shape.threads()).withTimeout(KERNEL_NANOS));
    views = device(QueuePairView.BYTES, "queue pair view");
    point = new SafePoint(ports.gpu(0), shape.threads());
    for (int port = 0; port < Ports.PORTS; port++) {
      connections[port] =
          new PortConnection(ports, port, BLOCKS, shape.threads() == 1, tally, this::writeLists);
    }
    connections[0].reconnect();
    supervisor =
        new PostingSupervisor(
            ports.fabric(),
            Locus.cpu(0),
            point,
            views,
            connections[0],
            (attempt, failed) -> next(remedy, failed),
            policy);
    ports.inject(faults);
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

  @Override
  public Fabric fabric() {
    return ports.fabric();
  }

  @Override
  public List<Supplier<Launch>> prepare() {
    JobView of = new JobView();
    of.local = lists.address();
    of.inbox = point.address();
    of.iterations = shape.operations();
    of.window = shape.window();
    of.compare = HOST_NANOS;
    return List.of(job.prepare(views.address(), of));
  }

  @Override
  public long sliceNanos() {
    return SLICE_NANOS;
  }

  /** Runs the fabric under the supervisor, which acts between its events. */
  @Override
  public RunOutcome advance(BooleanSupplier done, long nanos) {
    return supervisor.await(done, nanos) ? RunOutcome.DONE : RunOutcome.DEADLINE;
  }

  @Override
  public @Nullable String firstError() {
    String error = job.firstError();
    return error == null ? null : error + errors();
  }

  @Override
  public @Nullable String mismatch() {
    String wrong = traffic.verdict().text();
    return wrong == null ? traffic.disorder() : wrong;
  }

  @Override
  public long verifiedBytes() {
    return traffic.verdict().verifiedBytes();
  }

  private String errors() {
    StringBuilder text = new StringBuilder();
    for (PortConnection connection : connections) {
      String firstError = connection.firstError();
      text.append(firstError == null ? "" : "; " + firstError);
    }
    return text.toString();
  }

  PostingSupervisor supervisor() {
    return supervisor;
  }

  Traffic traffic() {
    return traffic;
  }

  Ports ports() {
    return ports;
  }

  /** Messages that rank 1 has executed, over all connections; closes them. */
  long executed() {
    supervisor.close();
    for (PortConnection connection : connections) {
      connection.count();
    }
    return tally.messages();
  }

  @Override
  public void close() {
    supervisor.close();
    job.close();
    for (PortConnection connection : connections) {
      connection.close();
    }
    ports.close();
  }
}
