package dev.doorbell.verbs;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.prm.Capabilities;
import dev.doorbell.verbs.NativeFunction.Failure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A real mlx5 device. Completion queues and queue pairs are made by firmware commands (DEVX), so
 * that their rings and doorbell records lie where they are asked for, in GPU memory too, and a
 * kernel posts into them by itself; the host only makes, connects and closes.
 *
 * <p>Doorbells: a GPU maps the device's register ({@link
 * dev.doorbell.core.hca.QueuePair#deviceRegisterAddress}); threads of the fabric store to a page
 * that stands for it.
 */
public final class Mlx5Hca implements Hca {
  private static final int SMALLEST_RING = 16;
  private static final int LARGEST_INLINE = 4 * SendQueue.BLOCK - 3 * SendQueue.UNIT - 4;
  private static final long LARGEST_MESSAGE = 1L << 30;
  private static final int READS_AND_ATOMICS = 16;
  private static final int LARGEST_COMPLETION_QUEUE = 22;
  private static final Failure EVENT_QUEUE =
      Failure.of("find the event queue", "see dmesg for what the driver says");

  private final Fabric fabric;
  private final Locus locus;
  private final Agent agent = budget -> 0;
  private final DevicePort fabricPort;
  private final List<DevxDomain> domains = new ArrayList<>();
  private final List<DevxChannel> channels = new ArrayList<>();
  private final AsyncEvents events;
  private final Map<Integer, DevxCompletionQueue> completionQueues = new LinkedHashMap<>();
  private final Capabilities capabilities;
  private final int blueFlameBytes;
  private final long onChipBytes;
  private long onChipTaken;
  private boolean closed;

  final DeviceContext context;
  final DoorbellPage doorbells;
  final QueueEvents queueEvents;
  final int eventQueue;

  /**
   * Opens a device and lets it do nothing once: a NOP on a queue pair that is connected to itself
   * shows that rings, doorbells and completions work.
   *
   * @param fabric whose threads ring at it
   * @param nic where it is: its stand-in for the doorbell page lies there
   * @param filter which devices and ports may be taken; the first active one is
   * @param gidIndex place in the port's GID table, or -1 to choose
   * @param memory for the self-test: host memory of this machine
   * @throws HcaException when there is no device, saying which of the four reasons it is, or when a
   *     step of opening it fails, saying what is missing
   */
  public Mlx5Hca(
      Fabric fabric, Locus nic, DeviceFilter filter, int gidIndex, MemoryProvider memory) {
    this.fabric = fabric;
    this.locus = nic;
    this.context = DeviceContext.open(filter, DeviceContext.Kind.DEVX, gidIndex);
    Allocation page = null;
    @Nullable QueueEvents told = null;
    DoorbellPage opened = null;
    try {
      this.capabilities =
          new Capabilities(
              DevxObject.ask(
                  context,
                  "ask for the capabilities",
                  Capabilities.query(),
                  Capabilities.ANSWER_BYTES));
      this.eventQueue = findEventQueue();
      told = new QueueEvents(context);
      page =
          fabric
              .memory()
              .allocate(MemoryKind.UAR, nic, Doorbell.UAR_BYTES, context.name + " doorbell page");
      opened = DoorbellPage.open(context, page);
    } catch (RuntimeException e) {
      if (page != null) {
        fabric.memory().free(page);
      }
      if (told != null) {
        told.close();
      }
      context.close();
      throw e;
    }
    this.queueEvents = told;
    this.doorbells = opened;
    this.onChipBytes = OnChip.available(context);
    this.blueFlameBytes = capabilities.blueFlameBytes();
    this.events = new AsyncEvents(context, cq -> 0);
    this.fabricPort = fabric.attachDevice(nic, agent);
    fabricPort.onMmio(page.address(), doorbells);
    try {
      SelfTest.run(this, memory);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private int findEventQueue() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment number = arena.allocate(ValueLayout.JAVA_INT);
      Mlx5Functions.DEVX_QUERY_EQN.require(EVENT_QUEUE, context.context, 0, number);
      return number.get(ValueLayout.JAVA_INT, 0);
    }
  }

  @Override
  public String name() {
    return context.name;
  }

  /** One line for the beginning of a run: port, link, MTU, GID and why it was chosen, doorbells. */
  public String describe() {
    return "%s, queues by DEVX, doorbell page %s".formatted(context.describe(), doorbells.kind());
  }

  @Override
  public Locus locus() {
    return locus;
  }

  @Override
  public HcaAttributes attributes() {
    int logQueue = capabilities.logLargestQueue();
    int logCompletions = capabilities.logLargestCompletionQueue();
    return new HcaAttributes(
        "mlx5",
        context.maxQueuePairs,
        logQueue == 0 ? SendQueue.MAX_BLOCKS : Math.min(SendQueue.MAX_BLOCKS, 1 << logQueue),
        SMALLEST_RING,
        1
            << (logCompletions == 0
                ? LARGEST_COMPLETION_QUEUE
                : Math.min(LARGEST_COMPLETION_QUEUE, logCompletions)),
        LARGEST_INLINE,
        ControlSegment.MAX_DS - 2,
        onChipBytes,
        blueFlameBytes,
        LARGEST_MESSAGE,
        READS_AND_ATOMICS,
        false);
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    if (closed) {
      throw new HcaException("cannot allocate a protection domain: %s is closed".formatted(name()));
    }
    DevxDomain domain = new DevxDomain(this);
    domains.add(domain);
    return domain;
  }

  @Override
  public CompletionChannel createCompletionChannel() {
    if (closed) {
      throw new HcaException("cannot create a completion channel: %s is closed".formatted(name()));
    }
    DevxChannel channel = new DevxChannel(this);
    channels.add(channel);
    return channel;
  }

  void closed(DevxChannel channel) {
    channels.remove(channel);
  }

  @Override
  public @Nullable AsyncEvent pollAsyncEvent() {
    AsyncEvent ofPort = events.poll();
    return ofPort == null ? queueEvents.poll() : ofPort;
  }

  /**
   * A doorbell page for a queue pair: its own with BlueFlame where the device has one left and
   * posters can be served by a stand-in, else the one that all share.
   *
   * @param ring its send ring; where no thread of the fabric can address it, a GPU rings, which
   *     wants a page that combines no stores
   */
  DoorbellPage doorbellsFor(Memory ring) {
    if (blueFlameBytes == 0 || !fabric.memory().accessibleRange(ring.address(), ring.size())) {
      return doorbells;
    }
    Allocation standIn =
        fabric
            .memory()
            .allocate(MemoryKind.UAR, locus, Doorbell.UAR_BYTES, context.name + " BlueFlame page");
    DoorbellPage own = DoorbellPage.openBlueFlame(context, standIn);
    if (own == null) {
      fabric.memory().free(standIn);
      return doorbells;
    }
    fabricPort.onMmio(standIn.address(), own);
    return own;
  }

  /** Ends a page of {@link #doorbellsFor}. */
  void release(DoorbellPage page) {
    if (page != doorbells) {
      closeNow(page);
    }
  }

  private void closeNow(DoorbellPage page) {
    fabricPort.offMmio(page.page().address());
    page.close();
    fabric.memory().free(page.page());
  }

  /** Bytes of a BlueFlame half of that page. */
  int blueFlameBytes(DoorbellPage page) {
    return page == doorbells ? 0 : blueFlameBytes;
  }

  /** Bytes of on-chip memory that nobody has taken by this. */
  long onChipFree() {
    return onChipBytes - onChipTaken;
  }

  /** Pages of the fabric for so much on-chip memory. */
  Allocation standInFor(long bytes) {
    return fabric.memory().allocate(MemoryKind.UAR, locus, bytes, context.name + " on-chip memory");
  }

  void takeOnChip(long bytes, Allocation standIn, MmioTarget target) {
    onChipTaken += bytes;
    for (long at = 0; at < standIn.size(); at += AddressSpace.PAGE) {
      fabricPort.onMmio(standIn.address() + at, target);
    }
  }

  void giveOnChip(long bytes, Allocation standIn) {
    onChipTaken -= bytes;
    for (long at = 0; at < standIn.size(); at += AddressSpace.PAGE) {
      fabricPort.offMmio(standIn.address() + at);
    }
    fabric.memory().free(standIn);
  }

  void opened(DevxCompletionQueue queue) {
    completionQueues.put(queue.number(), queue);
  }

  void closed(DevxCompletionQueue queue) {
    completionQueues.remove(queue.number());
  }

  boolean isOpen(DevxCompletionQueue queue) {
    return completionQueues.get(queue.number()) == queue;
  }

  void closed(DevxDomain domain) {
    domains.remove(domain);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    List<DevxDomain> open = new ArrayList<>(domains);
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).closeAll();
    }
    closed = true;
    List.copyOf(channels).forEach(DevxChannel::closeNow);
    queueEvents.close();
    closeNow(doorbells);
    fabric.detach(agent);
    context.close();
  }

  @Override
  public String toString() {
    return "HCA '%s' at %s".formatted(name(), locus);
  }
}
