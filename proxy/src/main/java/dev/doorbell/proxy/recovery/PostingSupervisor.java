package dev.doorbell.proxy.recovery;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.proxy.SendQueueAccess;
import dev.doorbell.proxy.StoreList;
import dev.doorbell.proxy.recovery.KernelConnection.KernelQueue;
import dev.doorbell.proxy.recovery.KernelRing.PostedWqe;
import dev.doorbell.proxy.recovery.RecoveringPoster.PeerConnection;
import dev.doorbell.proxy.recovery.RecoveringPoster.Recovery;
import dev.doorbell.proxy.recovery.RecoveringPoster.RecoveryPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Supervises a kernel that posts itself: when the kernel's queue pair fails, the host finishes what
 * the kernel has posted there, and the kernel goes on with the same queue pair or another one. With
 * a {@link CpuPath} the CPU posts for the kernel for a while.
 *
 * <p>It notices a failure by a poster that says so at the safe point (an error CQE, a deadline), or
 * by silence: nothing is posted or completed for as long as its policy waits, though something is
 * outstanding. All posters then come to the safe point; what they have posted is finished ({@link
 * KernelReplay}); the descriptor of the queue pair is written anew, and they go on. A kernel sees
 * nothing of it but time: what it posted is done, what was refused it posts again.
 *
 * <p>With a {@link CpuPath}, silence may mean doorbells that do not get through: the supervisor
 * first rings itself, and nothing has to be repeated when that helps. After each failure kernels
 * hand commands to the CPU for {@link SupervisionPolicy#holdNanos}, and then post themselves again.
 *
 * <p>Control calls are made between turns of the fabric and cost no time of its clock.
 */
public final class PostingSupervisor implements AutoCloseable {
  private static final int MOST_DOUBLINGS = 10;

  /** Number of rings without any effect before the host takes the queue pair for broken. */
  private static final int RINGS = 8;

  private final Fabric fabric;
  private final SafePoint point;
  private final Memory views;
  private final SupervisionPolicy policy;
  private final @Nullable CpuPath cpuPath;
  private final DoorbellWriter doorbellWriter;
  private final KernelReplay replay;
  private final List<Recovery> recoveries = new ArrayList<>();
  private final List<ModeSwitch> switches = new ArrayList<>();

  private KernelConnection connection;
  private @Nullable CpuMode cpu;
  private boolean closed;
  private long progress = -1;
  private long progressAt;
  private long holdNanos;
  private long backAt;
  private long returnAt;

  /**
   * Supervises a kernel that is about to be launched.
   *
   * @param locus the CPU it runs on
   * @param views where the kernel reads the {@link QueuePairView} of its one queue pair
   * @param first the connection to begin with, connected
   * @param connections where to go on after a failure
   * @param cpuPath how the CPU posts for the kernel, or null: it never does
   */
  public PostingSupervisor(
      Fabric fabric,
      Locus locus,
      SafePoint point,
      Memory views,
      KernelConnection first,
      KernelConnection.Source connections,
      SupervisionPolicy policy,
      @Nullable CpuPath cpuPath) {
    this.fabric = fabric;
    this.point = point;
    this.views = views;
    this.policy = policy;
    this.cpuPath = cpuPath;
    this.doorbellWriter = new DoorbellWriter(fabric, locus);
    this.replay = new KernelReplay(fabric, doorbellWriter, connections, policy);
    this.connection = first;
    this.holdNanos = policy.holdNanos();
    this.progressAt = fabric.now();
    first.activate();
    write(first.queue().view());
  }

  /** Failures so far, those that the CPU met while it posted included. */
  public List<Recovery> recoveries() {
    List<Recovery> all = new ArrayList<>(recoveries);
    if (cpu != null) {
      all.addAll(cpu.recoveries());
    }
    return all;
  }

  public List<ModeSwitch> switches() {
    return List.copyOf(switches);
  }

  /**
   * Runs the fabric until {@code ended}, or for {@code nanos} of its clock, and gets over what
   * fails meanwhile.
   *
   * @return false after the time
   */
  public boolean await(BooleanSupplier ended, long nanos) {
    long deadline = fabric.now() + nanos;
    while (!ended.getAsBoolean() && fabric.now() < deadline) {
      long left = deadline - fabric.now();
      if (closed) {
        fabric.run(ended, left);
        return ended.getAsBoolean();
      }
      RunOutcome outcome = run(ended, Math.min(policy.pollNanos(), left));
      if (!ended.getAsBoolean()) {
        check(outcome == RunOutcome.STALLED);
      }
    }
    return ended.getAsBoolean();
  }

  private RunOutcome run(BooleanSupplier done, long nanos) {
    CpuMode now = cpu;
    return now == null ? fabric.run(done, nanos) : now.run(done, nanos);
  }

  /** Runs until {@code condition}, which is looked at now and then. */
  private boolean runUntil(BooleanSupplier condition, long nanos) {
    long deadline = fabric.now() + nanos;
    while (!condition.getAsBoolean()) {
      long left = deadline - fabric.now();
      if (left <= 0 || run(() -> false, Math.min(policy.pollNanos(), left)) == RunOutcome.STALLED) {
        return condition.getAsBoolean();
      }
    }
    return true;
  }

  private void check(boolean stalled) {
    long sum = point.posted() + goodCompletions();
    long now = fabric.now();
    if (sum != progress) {
      progress = sum;
      progressAt = now;
    }
    CpuMode posting = cpu;
    if (posting != null) {
      if (point.hasFailed() || posting.hasFailed()) {
        giveUp();
      } else if (stalled || now >= returnAt) {
        backToGpu(posting);
      }
    } else if (point.hasFailed()) {
      recover(Recovery.Cause.ERROR);
    } else if (stalled || now - progressAt >= policy.silenceNanos()) {
      if (isOutstanding()) {
        recover(Recovery.Cause.SILENCE);
      } else if (stalled) {
        giveUp();
      } else {
        progressAt = now;
      }
    }
  }

  /**
   * Counts what only good CQEs raise. An error CQE, too, tells that WQEs are done, those before the
   * failed one that asked for no CQE of their own; that they were done long ago is known when it
   * comes, and is no progress of that moment. A collapsed queue has no index: there it counts as
   * progress.
   */
  private long goodCompletions() {
    KernelQueue queue = connection.queue();
    boolean collapsed = (queue.view().flags() & QueuePairView.FLAG_CQ_COLLAPSED) != 0;
    return collapsed
        ? Abi.completedBlocks(queue.counters())
        : queue.counters().getLong(QueuePairView.COUNTERS_CQ_INDEX);
  }

  private boolean isOutstanding() {
    KernelRing ring = KernelRing.read(connection.queue());
    return ring.completed < ring.reserved;
  }

  private void recover(Recovery.Cause cause) {
    long before = progressAt;
    long noticed = fabric.now();
    KernelConnection failed = connection;
    CpuPath path = cpuPath;
    point.want();
    KernelReplay.Result result = null;
    if (path != null && cause == Recovery.Cause.SILENCE) {
      result = ringInstead();
    }
    if (result == null) {
      failed.stop();
      if (!runUntil(point::isQuiet, policy.arriveNanos())) {
        giveUp();
        return;
      }
      result = replay.finish(failed);
    }
    long arrived = fabric.now();
    KernelConnection next = result.connection();
    if (next == null) {
      giveUp();
    } else {
      connection = next;
      if (path == null) {
        postOn(next);
      } else {
        handOver(path, noticed, arrived);
      }
    }
    progressAt = fabric.now();
    recoveries.add(
        new Recovery(
            cause,
            failed.name(),
            next == null ? "none" : path == null ? next.name() : "CPU",
            before,
            noticed,
            fabric.now(),
            result.outstanding(),
            result.executed(),
            result.replayed(),
            result.lost()));
  }

  /**
   * Rings for the kernel, in case that its doorbells get lost.
   *
   * @return null when that does not help
   */
  private KernelReplay.@Nullable Result ringInstead() {
    KernelQueue queue = connection.queue();
    KernelRing before = KernelRing.read(queue);
    if (before.failed) {
      return null;
    }
    int outstanding = (int) before.unfinished().stream().filter(PostedWqe::isMessage).count();
    for (int silent = 0; silent < RINGS; ) {
      long completed = KernelRing.read(queue).completed;
      doorbellWriter.ring(queue.access(), queue.counters().getLong(QueuePairView.COUNTERS_RUNG));
      if (runUntil(this::isFinished, policy.settleNanos())) {
        replay.markCompleted(connection);
        return new KernelReplay.Result(connection, outstanding, 0, 0, 0);
      }
      KernelRing now = KernelRing.read(queue);
      if (now.failed || point.hasFailed()) {
        return null;
      }
      silent = now.completed == completed ? silent + 1 : 0;
    }
    return null;
  }

  /** True when no thread posts, and all that was posted is done. */
  private boolean isFinished() {
    return point.isQuiet() && !point.hasFailed() && !isOutstanding();
  }

  /** From now on the CPU posts. Nobody is at work, and nothing is outstanding. */
  private void handOver(CpuPath path, long wanted, long arrived) {
    long now = fabric.now();
    boolean tooEarly = backAt != 0 && now - backAt < holdNanos;
    long most = policy.holdNanos() << MOST_DOUBLINGS;
    holdNanos = tooEarly ? Math.min(2 * holdNanos, most) : policy.holdNanos();
    CpuMode opened = new CpuMode(fabric, path);
    cpu = opened;
    write(Abi.proxied(connection.queue().view(), opened.descriptor()));
    point.grant();
    returnAt = now + holdNanos;
    switches.add(new ModeSwitch(ModeSwitch.Poster.CPU, wanted, arrived, fabric.now()));
  }

  private void backToGpu(CpuMode posting) {
    long wanted = fabric.now();
    point.want();
    if (!runUntil(point::isQuiet, policy.arriveNanos())) {
      giveUp();
      return;
    }
    long arrived = fabric.now();
    if (!runUntil(posting::isIdle, policy.arriveNanos()) || posting.hasFailed()) {
      giveUp();
      return;
    }
    fabric.quiesce();
    recoveries.addAll(posting.recoveries());
    posting.close();
    cpu = null;
    postOn(connection);
    backAt = fabric.now();
    progressAt = backAt;
    switches.add(new ModeSwitch(ModeSwitch.Poster.GPU, wanted, arrived, backAt));
  }

  private void postOn(KernelConnection next) {
    next.activate();
    write(next.queue().view());
    point.grant();
  }

  private void write(QueuePairView view) {
    views.putBytes(0, view.encode());
  }

  private void giveUp() {
    closed = true;
    point.refuse();
  }

  @Override
  public void close() {
    if (cpu != null) {
      cpu.close();
      cpu = null;
    }
    doorbellWriter.close();
  }

  /**
   * When a {@link PostingSupervisor} takes what a kernel posts on for broken, and how often it
   * tries again. All times are of the fabric's clock.
   *
   * @param pollNanos between two looks at the kernel
   * @param silenceNanos without progress while something is outstanding
   * @param settleNanos that a stopped connection gets to end what its DMA engines have begun, and
   *     the network to lose what is under way
   * @param arriveNanos within which posters have to come to the safe point; more than a device-side
   *     wait lasts
   * @param attempts failures without progress between them before it gives up
   * @param holdNanos for which the CPU posts before kernels may try again; doubled each time that
   *     it was too early
   */
  public record SupervisionPolicy(
      long pollNanos,
      long silenceNanos,
      long settleNanos,
      long arriveNanos,
      int attempts,
      long holdNanos) {

    public SupervisionPolicy {
      if (pollNanos <= 0
          || silenceNanos < pollNanos
          || settleNanos < 0
          || arriveNanos < silenceNanos
          || attempts < 1
          || holdNanos < 0) {
        throw new IllegalArgumentException(
            "an impossible policy: polls every %d ns, silence %d ns, settle %d ns, arrive %d ns, %d attempts, hold %d ns"
                .formatted(pollNanos, silenceNanos, settleNanos, arriveNanos, attempts, holdNanos));
      }
    }
  }

  /**
   * A change of who posts, in the middle of a kernel's run.
   *
   * @param to who posts from then on
   * @param wantedNanos when the host asked posters to the safe point, or the first had failed
   * @param arrivedNanos when the last poster was there
   * @param grantedNanos when they were let go on: everything posted before is done
   */
  public record ModeSwitch(Poster to, long wantedNanos, long arrivedNanos, long grantedNanos) {
    /** Who posts. */
    public enum Poster {
      /** The kernel, on its queue pair. */
      GPU,
      /** The CPU, what the kernel hands over as commands. */
      CPU
    }

    /** For how long posting stood still, at most. */
    public long nanos() {
      return grantedNanos - wantedNanos;
    }
  }

  /**
   * Resources with which the CPU posts for a kernel, should it have to.
   *
   * @param memory where command queues are allocated: the kernel's GPU
   * @param connections on which the CPU posts
   * @param locus the CPU
   * @param prices what its work costs
   * @param policy when it gives a connection up
   */
  public record CpuPath(
      MemoryProvider memory,
      PeerConnection.Source connections,
      Locus locus,
      ProxyPrices prices,
      RecoveryPolicy policy) {}

  /** A CPU thread that rings for a queue pair when the host asks for it, and else does nothing. */
  static final class DoorbellWriter implements Agent, AutoCloseable {
    /** Until something wakes it. */
    private static final long IDLE_NANOS = 1L << 50;

    private final Fabric fabric;
    private final Locus locus;
    private final ThreadPort port;
    private final StoreList stores = new StoreList();

    DoorbellWriter(Fabric fabric, Locus locus) {
      this.fabric = fabric;
      this.locus = locus;
      this.port = fabric.attachThread(locus, this);
    }

    /** Record, fence, doorbell: everything below {@code index} is posted. */
    void ring(SendQueueAccess queue, long index) {
      stores.ring(queue, index);
      fabric.wake(this);
    }

    @Override
    public int step(int budget) {
      int work = stores.isEmpty() ? 0 : 1;
      if (stores.drain(port) && work == 0) {
        port.pollFailed(IDLE_NANOS);
      }
      return work;
    }

    @Override
    public String where() {
      return "doorbellWriter at %s: %s".formatted(locus, stores.isEmpty() ? "idle" : "ringing");
    }

    @Override
    public void close() {
      fabric.detach(this);
    }
  }
}
