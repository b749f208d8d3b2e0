package dev.doorbell.proxy.recovery;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.proxy.SendQueueAccess;
import dev.doorbell.proxy.StoreList;
import dev.doorbell.proxy.recovery.KernelConnection.KernelQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Supervises a kernel that posts itself: when the kernel's queue pair fails, the host finishes what
 * the kernel has posted there, and the kernel goes on with the same queue pair or another one.
 *
 * <p>It notices a failure by a poster that says so at the safe point (an error CQE, a deadline), or
 * by silence: nothing is posted or completed for as long as its policy waits, though something is
 * outstanding. All posters then come to the safe point; what they have posted is finished ({@link
 * KernelReplay}); the descriptor of the queue pair is written anew, and they go on. A kernel sees
 * nothing of it but time: what it posted is done, what was refused it posts again.
 *
 * <p>Control calls are made between turns of the fabric and cost no time of its clock.
 */
public final class PostingSupervisor implements AutoCloseable {
  private final Fabric fabric;
  private final SafePoint point;
  private final Memory views;
  private final SupervisionPolicy policy;
  private final DoorbellWriter doorbellWriter;
  private final KernelReplay replay;
  private final List<Recovery> recoveries = new ArrayList<>();

  private KernelConnection connection;
  private boolean closed;
  private long progress = -1;
  private long progressAt;

  /**
   * Supervises a kernel that is about to be launched.
   *
   * @param locus the CPU it runs on
   * @param views where the kernel reads the {@link QueuePairView} of its one queue pair
   * @param first the connection to begin with, connected
   * @param connections where to go on after a failure
   */
  public PostingSupervisor(
      Fabric fabric,
      Locus locus,
      SafePoint point,
      Memory views,
      KernelConnection first,
      KernelConnection.Source connections,
      SupervisionPolicy policy) {
    this.fabric = fabric;
    this.point = point;
    this.views = views;
    this.policy = policy;
    this.doorbellWriter = new DoorbellWriter(fabric, locus);
    this.replay = new KernelReplay(fabric, doorbellWriter, connections, policy);
    this.connection = first;
    this.progressAt = fabric.now();
    first.activate();
    write(first.queue().view());
  }

  /** Failures so far. */
  public List<Recovery> recoveries() {
    return List.copyOf(recoveries);
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
      RunOutcome outcome = fabric.run(ended, Math.min(policy.pollNanos(), left));
      if (!ended.getAsBoolean()) {
        check(outcome == RunOutcome.STALLED);
      }
    }
    return ended.getAsBoolean();
  }

  /** Runs until {@code condition}, which is looked at now and then. */
  private boolean runUntil(BooleanSupplier condition, long nanos) {
    long deadline = fabric.now() + nanos;
    while (!condition.getAsBoolean()) {
      long left = deadline - fabric.now();
      if (left <= 0
          || fabric.run(() -> false, Math.min(policy.pollNanos(), left)) == RunOutcome.STALLED) {
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
    if (point.hasFailed()) {
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
    point.want();
    failed.stop();
    if (!runUntil(point::isQuiet, policy.arriveNanos())) {
      giveUp();
      return;
    }
    KernelReplay.Result result = replay.finish(failed);
    KernelConnection next = result.connection();
    if (next == null) {
      giveUp();
    } else {
      connection = next;
      next.activate();
      write(next.queue().view());
      point.grant();
    }
    progressAt = fabric.now();
    recoveries.add(
        new Recovery(
            cause,
            failed.name(),
            next == null ? "none" : next.name(),
            before,
            noticed,
            fabric.now(),
            result.outstanding(),
            result.executed(),
            result.replayed(),
            result.lost()));
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
   */
  public record SupervisionPolicy(
      long pollNanos, long silenceNanos, long settleNanos, long arriveNanos, int attempts) {

    public SupervisionPolicy {
      if (pollNanos <= 0
          || silenceNanos < pollNanos
          || settleNanos < 0
          || arriveNanos < silenceNanos
          || attempts < 1) {
        throw new IllegalArgumentException(
            "an impossible policy: polls every %d ns, silence %d ns, settle %d ns, arrive %d ns, %d attempts"
                .formatted(pollNanos, silenceNanos, settleNanos, arriveNanos, attempts));
      }
    }
  }

  /**
   * One failure and how it was got over. Times are on the fabric's clock.
   *
   * @param cause what gave the failure away
   * @param from connection that failed
   * @param to connection that went on
   * @param lastProgressNanos of the last progress before
   * @param detectedNanos when the failure was noticed
   * @param resumedNanos when posters went on
   * @param outstanding messages without a completion
   * @param executed of those, had been executed all the same, and were not posted again
   * @param replayed of those, were posted again
   * @param lost of those, whose result cannot be had any more
   */
  public record Recovery(
      Cause cause,
      String from,
      String to,
      long lastProgressNanos,
      long detectedNanos,
      long resumedNanos,
      int outstanding,
      int executed,
      int replayed,
      int lost) {

    /** Sign of a failure. */
    public enum Cause {
      /** An error CQE. */
      ERROR,
      /** Nothing was posted or completed for as long as the policy waits. */
      SILENCE
    }

    /** From the last sign of life to the notice. */
    public long detectNanos() {
      return detectedNanos - lastProgressNanos;
    }

    /** From the notice until work went on. */
    public long recoverNanos() {
      return resumedNanos - detectedNanos;
    }
  }

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
