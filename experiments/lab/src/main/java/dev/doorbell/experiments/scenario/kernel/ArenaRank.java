package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.PeerView;
import dev.doorbell.core.queue.generated.SignalsView;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One of several ranks that run the same kernel, each over an arena and flags that all others write
 * to.
 */
public final class ArenaRank implements AutoCloseable {
  private final Owned owned = new Owned();
  private final int number;
  private final KernelJob kernel;
  private final Memory arena;
  private final Memory flags;
  private final Memory samples;
  private final MemoryRegion arenaRegion;
  private final MemoryRegion flagsRegion;
  private final JobView job = new JobView();
  private @Nullable Memory views;

  /**
   * Lays out a rank.
   *
   * @param flags words, one after the other
   * @param times that the kernel writes
   * @param parameters what the job's operand points to; empty for nothing
   */
  public ArenaRank(
      Rank rank,
      String kernel,
      Endpoint.Shape shape,
      LaunchConfig grid,
      long bytes,
      int flags,
      int times,
      byte[] parameters) {
    this.number = rank.number();
    this.kernel = owned.add(new KernelJob(rank.gpu(), kernel, grid));
    this.arena = allocate(bytes, "arena");
    this.flags = allocate((long) Long.BYTES * flags, "flags");
    this.samples = allocate((long) Long.BYTES * times, "samples");
    if (parameters.length > 0) {
      job.operand = copy(parameters, "parameters");
    }
    this.arenaRegion = owned.add(rank.domain().register(arena, Endpoint.ALL_RIGHTS));
    this.flagsRegion =
        owned.add(rank.domain().register(this.flags, shape.signalRights(Endpoint.ALL_RIGHTS)));
    job.role = number;
    job.local = arena.address();
    job.localKey = arenaRegion.lkey();
    job.samples = samples.address();
    job.signals =
        copy(
            new SignalsView(this.flags.address(), 0, flagsRegion.lkey(), 0, flags).encode(),
            "signals view");
  }

  private Memory allocate(long bytes, String label) {
    return kernel.allocate(MemoryKind.DEVICE, bytes, label);
  }

  /** Copies bytes to memory of the GPU that is closed with this rank; returns its address. */
  public long copy(byte[] bytes, String label) {
    Memory memory = allocate(bytes.length, label);
    memory.putBytes(0, bytes);
    return memory.address();
  }

  /** Writes where all ranks, by rank, have their arenas and flags. */
  public void introduce(List<ArenaRank> all) {
    byte[] peers = new byte[PeerView.BYTES * all.size()];
    for (ArenaRank peer : all) {
      byte[] view =
          new PeerView(
                  peer.arena.address(),
                  peer.flags.address(),
                  peer.arenaRegion.rkey(),
                  peer.flagsRegion.rkey())
              .encode();
      System.arraycopy(view, 0, peers, peer.number * view.length, view.length);
    }
    job.qpCount = all.size();
    job.peers = copy(peers, "views of the peers");
  }

  /** Says over which queue pairs the kernel runs. */
  public void connect(Connection connection) {
    views = owned.add(connection.writeViews(number));
  }

  public Supplier<Launch> prepare() {
    return kernel.prepare(Objects.requireNonNull(views, "not connected").address(), job);
  }

  /** The first error that a thread reports, or null. */
  public @Nullable String firstError() {
    String error = kernel.firstError();
    return error == null ? null : "rank %d: %s".formatted(number, error);
  }

  public int number() {
    return number;
  }

  public Memory arena() {
    return arena;
  }

  public Memory flags() {
    return flags;
  }

  /** The job, for the caller to complete. */
  public JobView job() {
    return job;
  }

  /**
   * From the first rank's beginning to the last one's end.
   *
   * @param blocks of each rank; the times have two words for each turn of a block, of which those
   *     of the first turn count
   */
  public static long nanos(List<ArenaRank> ranks, int blocks) {
    long first = Long.MAX_VALUE;
    long last = 0;
    for (ArenaRank rank : ranks) {
      for (long at = 0; at < rank.samples.size(); at += rank.samples.size() / blocks) {
        first = Math.min(first, rank.samples.getLong(at));
        last = Math.max(last, rank.samples.getLong(at + Long.BYTES));
      }
    }
    return last - first;
  }

  @Override
  public void close() {
    owned.close();
  }
}
