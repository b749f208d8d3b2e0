package dev.doorbell.experiments.scenario.handoff;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.proxy.Chaining;
import dev.doorbell.proxy.CommandFormat;
import dev.doorbell.proxy.CommandQueue;
import dev.doorbell.proxy.ProxyAgent;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.proxy.SendQueueAccess;
import java.util.ArrayList;
import java.util.List;

/**
 * Rings of commands from the kernels of one rank, and the CPU threads that post what is in them:
 * ring r to queue pair r modulo their number, which is one thread's. A first ring that is private
 * has the first queue pair alone, if there are several.
 */
public final class HandoffRings implements AutoCloseable {
  private final Owned owned = new Owned();
  private final Memory views;

  /**
   * What they are like.
   *
   * @param entries of a ring, a power of two
   * @param counter memory of the counters of finished commands
   * @param workers CPU threads
   * @param privateFirst whether no other ring goes to the first ring's queue pair
   * @param blueFlame whether a lone WQE goes to the BlueFlame register
   * @param prices what the threads' own work costs in virtual time
   */
  public record Shape(
      int rings,
      int entries,
      MemoryKind counter,
      int workers,
      Chaining chaining,
      boolean privateFirst,
      boolean blueFlame,
      ProxyPrices prices) {
    private int queuePair(int ring, int all) {
      return privateFirst && all > 1 && ring > 0 ? 1 + (ring - 1) % (all - 1) : ring % all;
    }
  }

  /**
   * Starts the CPU threads.
   *
   * @param endpoints queue pairs of {@code rank} on which nothing was posted
   * @param format of the commands, which says where payload and inbox lie
   */
  public HandoffRings(
      World world, int rank, List<Endpoint> endpoints, Shape shape, CommandFormat format) {
    List<ProxyAgent> workers = new ArrayList<>();
    for (int i = 0; i < shape.workers; i++) {
      workers.add(
          owned.add(new ProxyAgent(world.fabric(), Locus.cpu(rank), shape.prices, shape.chaining)));
    }
    byte[] bytes = new byte[shape.rings * QueuePairView.BYTES];
    for (int ring = 0; ring < shape.rings; ring++) {
      Endpoint endpoint = endpoints.get(shape.queuePair(ring, endpoints.size()));
      CommandQueue queue =
          owned.add(
              new CommandQueue(world.rank(rank).gpu(), shape.entries, ring, format, shape.counter));
      SendQueueAccess access = SendQueueAccess.of(endpoint.queuePair(), endpoint.view());
      workers
          .get(endpoint.index() % shape.workers)
          .serve(queue, shape.blueFlame ? access : access.withoutBlueFlame());
      byte[] view = Abi.proxied(endpoint.view(), queue.descriptorAddress()).encode();
      System.arraycopy(view, 0, bytes, ring * view.length, view.length);
    }
    views =
        owned.add(world.rank(rank).gpu().allocate(MemoryKind.DEVICE, bytes.length, "ring views"));
    views.putBytes(0, bytes);
  }

  /** What kernels see of the queue pairs, one view for each ring. */
  public Memory views() {
    return views;
  }

  @Override
  public void close() {
    owned.close();
  }
}
