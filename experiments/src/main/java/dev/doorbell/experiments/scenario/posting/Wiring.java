package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.QueuePairView;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.proxy.CommandQueue;
import dev.doorbell.proxy.DoorbellRinger;
import dev.doorbell.proxy.ProxyAgent;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The queue pairs from rank 0 to rank 1, and the CPU threads of rank 0 that post or ring for its
 * kernels: queue pair i belongs to thread i modulo their number.
 */
final class Wiring implements AutoCloseable {
  private static final int COMMAND_ENTRIES = 256;

  private final World world;
  private final List<Endpoint> senders = new ArrayList<>();
  private final Owned owned = new Owned();
  private final Memory views;

  Wiring(World world, PostingShape shape) {
    this.world = world;
    for (int i = 0; i < shape.queuePairs(); i++) {
      Endpoint sender = owned.add(Endpoint.open(world.rank(0), shape.endpoint(), i));
      Endpoint receiver = owned.add(Endpoint.open(world.rank(1), shape.endpoint(), i));
      Endpoint.connect(sender, receiver);
      senders.add(sender);
    }
    switch (shape.posting()) {
      case DIRECT -> {}
      case CPU_RUNG -> ring(shape.proxies());
      case PROXY -> post(shape.proxies());
    }
    this.views = owned.add(writeViews(shape.moreFlags()));
  }

  private void ring(int threads) {
    List<DoorbellRinger> ringers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      ringers.add(owned.add(new DoorbellRinger(world.fabric(), Locus.cpu(0), world.cpuPrices())));
    }
    for (int i = 0; i < senders.size(); i++) {
      Endpoint sender = senders.get(i);
      Memory request =
          owned.add(world.rank(0).gpu().allocate(MemoryKind.HOST, Long.BYTES, "ring request"));
      ringers.get(i % threads).watch(sender.queuePair(), request.address());
      sender.useCpuRinger(request.address());
    }
  }

  private void post(int threads) {
    List<ProxyAgent> proxies = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      proxies.add(owned.add(new ProxyAgent(world.fabric(), Locus.cpu(0), world.cpuPrices())));
    }
    for (int i = 0; i < senders.size(); i++) {
      Endpoint sender = senders.get(i);
      CommandQueue queue = owned.add(new CommandQueue(world.rank(0).gpu(), COMMAND_ENTRIES, 0));
      proxies.get(i % threads).serve(queue, sender.queuePair(), sender.view());
      sender.useCommandQueue(queue.descriptorAddress());
    }
  }

  private Memory writeViews(int flags) {
    Memory memory =
        world
            .rank(0)
            .gpu()
            .allocate(
                MemoryKind.DEVICE, (long) senders.size() * QueuePairView.BYTES, "queue pair views");
    for (int i = 0; i < senders.size(); i++) {
      memory.putBytes((long) i * QueuePairView.BYTES, senders.get(i).view().with(flags).encode());
    }
    return memory;
  }

  /** Address of what kernels get to see of the queue pairs. */
  long views() {
    return views.address();
  }

  /**
   * What is left over once every thread has seen its quiet, in words, or null: blocks that were
   * handed out and are not done.
   */
  @Nullable String leftOver() {
    for (Endpoint sender : senders) {
      long reserved =
          sender.counters().getLong(QueuePairView.COUNTERS_RESERVED)
              >>> QueuePairView.RESERVED_SHIFT;
      long completed = sender.counters().getLong(QueuePairView.COUNTERS_COMPLETED);
      if (reserved != completed) {
        return "queue pair 0x%x: %d blocks posted and %d completed"
            .formatted(sender.queuePair().number(), reserved, completed);
      }
    }
    return null;
  }

  /** Blocks that were posted so far by kernels themselves, over all queue pairs. */
  long blocks() {
    long blocks = 0;
    for (Endpoint sender : senders) {
      blocks += sender.counters().getLong(QueuePairView.COUNTERS_COMPLETED);
    }
    return blocks;
  }

  @Override
  public void close() {
    owned.close();
  }
}
