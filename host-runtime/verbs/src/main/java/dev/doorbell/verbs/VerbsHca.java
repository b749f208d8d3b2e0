package dev.doorbell.verbs;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Doorbell;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Any device that libibverbs drives: Soft-RoCE, EFA's siblings, mlx5 without DEVX.
 *
 * <p>Posters write mlx5 WQEs and ring doorbells as for every {@link Hca}. This one is an agent of a
 * {@link Fabric}: when it is stepped it reads the WQEs that were rung for, posts each by {@code
 * ibv_post_send}, polls by {@code ibv_poll_cq}, and writes mlx5 CQEs. That costs a system call or
 * so a request, so it is for proxies and for comparison, not for GPUs at full speed; queues have to
 * lie where the CPU can read them.
 *
 * <p>What verbs have no word for fails as a local QP operation error: masked atomics and WAIT. A
 * NOP travels as a WRITE of no bytes.
 */
public final class VerbsHca implements Hca {
  private static final int MAX_SEGMENTS = 16;
  private static final int MAX_INLINE_BYTES = 512;
  private static final long MAX_MESSAGE_BYTES = 1L << 30;
  private static final int FIRST_QUEUE = 0x100;
  private static final int LARGEST_RING = 1 << 15;

  private final Fabric fabric;
  private final Locus locus;
  private final Agent agent = new Engine();
  private final DevicePort fabricPort;
  private final List<PostedDomain> domains = new ArrayList<>();
  private @Nullable Allocation armPage;
  private int queuesMade;
  private boolean closed;

  final DeviceContext context;
  final AsyncEvents events;
  final Map<Integer, PostedQueuePair> queuePairs = new ConcurrentHashMap<>();
  final Map<Integer, PostedCompletionQueue> completionQueues = new ConcurrentHashMap<>();

  // What is stepped, copied when it changes: the loop allocates nothing.
  private PostedQueuePair[] sending = {};
  private PostedCompletionQueue[] completing = {};

  /**
   * Opens a device.
   *
   * @param fabric steps it, and carries doorbells to it
   * @param nic where it is: its doorbell pages lie there
   * @param filter which devices and ports may be taken; the first active one is
   * @param gidIndex place in the port's GID table, or -1 to choose
   * @throws HcaException when there is no device, saying which of the four reasons it is
   */
  public VerbsHca(Fabric fabric, Locus nic, DeviceFilter filter, int gidIndex) {
    this.fabric = fabric;
    this.locus = nic;
    this.context = DeviceContext.open(filter, DeviceContext.Kind.ANY, gidIndex);
    this.events = new AsyncEvents(context, this::numberOf);
    this.fabricPort = fabric.attachDevice(nic, agent);
  }

  @Override
  public String name() {
    return context.name;
  }

  /** One line for the beginning of a run: port, link, MTU, GID and why it was chosen. */
  public String describe() {
    return context.describe() + ", by ibv_post_send";
  }

  @Override
  public Locus locus() {
    return locus;
  }

  @Override
  public HcaAttributes attributes() {
    return new HcaAttributes(
        "verbs",
        context.maxQueuePairs,
        Math.min(LARGEST_RING, Integer.highestOneBit(context.maxWorkRequests)),
        1,
        Integer.highestOneBit(context.maxCompletions),
        MAX_INLINE_BYTES,
        maxSegments(),
        0,
        0,
        MAX_MESSAGE_BYTES,
        Math.min(context.maxReadAtomic, 16),
        false);
  }

  int maxSegments() {
    return Math.min(MAX_SEGMENTS, context.maxSegments);
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    if (closed) {
      throw new HcaException("cannot allocate a protection domain: %s is closed".formatted(name()));
    }
    PostedDomain domain = new PostedDomain(this);
    domains.add(domain);
    return domain;
  }

  @Override
  public CompletionChannel createCompletionChannel() {
    return new PostedChannel();
  }

  @Override
  public @Nullable AsyncEvent pollAsyncEvent() {
    return events.poll();
  }

  private int numberOf(long cq) {
    for (PostedCompletionQueue queue : completing) {
      if (queue.cq() == cq) {
        return queue.number();
      }
    }
    return 0;
  }

  // For the objects of this HCA.

  Allocation allocatePage(String label) {
    return fabric.memory().allocate(MemoryKind.UAR, locus, Doorbell.UAR_BYTES, label);
  }

  void freePage(Allocation page) {
    fabricPort.offMmio(page.address());
    fabric.memory().free(page);
  }

  /** Numbers of completion queues are ours: verbs does not tell its own. */
  int nextQueueNumber() {
    return FIRST_QUEUE + queuesMade++;
  }

  void requireReadable(Memory memory) {
    if (!fabric.memory().accessibleRange(memory.address(), memory.size())) {
      throw new HcaException(
          "%s posts from the CPU, which cannot address %s memory here; place rings and records in host memory"
              .formatted(name(), memory.kind().word()),
          Errno.EINVAL);
    }
  }

  /** Stores to the page ring for whichever queue pair they name. */
  void listen(Allocation page) {
    fabricPort.onMmio(page.address(), (address, source, bytes) -> stored(page, address, source));
  }

  /** The page at which completion queues are armed. */
  long armPage() {
    Allocation page = armPage;
    if (page == null) {
      page = allocatePage(name() + " doorbell page");
      armPage = page;
      listen(page);
    }
    return page.address();
  }

  private void stored(Allocation page, long address, long source) {
    long value = Doorbell.read(source);
    if (address - page.address() == Doorbell.ARM_OFFSET) {
      PostedCompletionQueue queue = completionQueues.get(Doorbell.armCqn(value));
      if (queue != null) {
        queue.arm(value);
      }
      return;
    }
    PostedQueuePair queuePair = queuePairs.get(Doorbell.qpn(value));
    if (queuePair != null) {
      queuePair.ring();
    }
  }

  void opened(PostedQueuePair queuePair) {
    queuePairs.put(queuePair.number(), queuePair);
    changed();
  }

  void opened(PostedCompletionQueue queue) {
    completionQueues.put(queue.number(), queue);
    changed();
  }

  void closed(PostedQueuePair queuePair) {
    queuePairs.remove(queuePair.number());
    changed();
  }

  void closed(PostedCompletionQueue queue) {
    completionQueues.remove(queue.number());
    changed();
  }

  void closed(PostedDomain domain) {
    domains.remove(domain);
  }

  private void changed() {
    sending = queuePairs.values().toArray(new PostedQueuePair[0]);
    completing = completionQueues.values().toArray(new PostedCompletionQueue[0]);
  }

  /** Posts what was rung for and reports what was completed. */
  private final class Engine implements Agent {
    @Override
    public int step(int budget) {
      int work = 0;
      PostedQueuePair[] queuePairsNow = sending;
      // Receives first: a peer of the same process need not be told to try again.
      for (int i = 0; i < queuePairsNow.length; i++) {
        work += queuePairsNow[i].postReceives();
      }
      for (int i = 0; i < queuePairsNow.length; i++) {
        work += queuePairsNow[i].post(budget);
      }
      PostedCompletionQueue[] queuesNow = completing;
      for (int i = 0; i < queuesNow.length; i++) {
        work += queuesNow[i].poll();
      }
      return work;
    }

    @Override
    public String where() {
      return "HCA '%s' at %s".formatted(name(), locus);
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    List<PostedDomain> open = new ArrayList<>(domains);
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).closeAll();
    }
    closed = true;
    if (armPage != null) {
      freePage(armPage);
    }
    fabric.detach(agent);
    context.close();
  }

  @Override
  public String toString() {
    return "HCA '%s' at %s".formatted(name(), locus);
  }
}
