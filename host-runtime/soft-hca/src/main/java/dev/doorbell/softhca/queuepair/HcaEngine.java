package dev.doorbell.softhca.queuepair;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.objects.Completions;
import dev.doorbell.softhca.objects.NumberTable;
import dev.doorbell.softhca.objects.ObjectOwner;
import dev.doorbell.softhca.objects.PendingList;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.SoftCompletionQueue;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.PacketPool;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The scheduler of an HCA: runs the queue pairs that have work, in turns.
 *
 * <p>Doorbells may be rung and completion queues armed on any thread; everything else is called on
 * the thread that steps.
 */
public final class HcaEngine implements Agent {
  private final String name;
  private final Fabric fabric;
  private final NumberTable<ScheduledQueuePair> queuePairs;
  private final PacketPool packets;
  private final PendingList<ScheduledQueuePair> doorbells = new PendingList<>();
  private final PendingList<SoftCompletionQueue> arming = new PendingList<>();
  final MulticastGroups groups = new MulticastGroups();
  private @Nullable ScheduledQueuePair activeHead;
  private @Nullable ScheduledQueuePair activeTail;
  private int activeCount;
  private final List<ScheduledQueuePair> acknowledging = new ArrayList<>();

  /** Queue pairs that wait for packets, in the order in which they get them. */
  private final ArrayDeque<ScheduledQueuePair> starving = new ArrayDeque<>();

  /** Those of them whose answers do: answers have packets beyond those of requests. */
  private final List<ScheduledQueuePair> answering = new ArrayList<>();

  // Packets that have arrived, in order.
  private Packet[] inbox = new Packet[64];
  private int inboxHead;
  private int inboxCount;

  /**
   * @param packetLimit packets in flight from this HCA
   */
  HcaEngine(
      String name, Fabric fabric, NumberTable<ScheduledQueuePair> queuePairs, int packetLimit) {
    this.name = name;
    this.fabric = fabric;
    this.queuePairs = queuePairs;
    this.packets =
        new PacketPool(this::packetsReturned, packetLimit, task -> fabric.visit(this, task));
  }

  public PacketPool packets() {
    return packets;
  }

  void wake() {
    fabric.wake(this);
  }

  /** The doorbell of a queue pair was rung. On any thread. */
  void ring(ScheduledQueuePair queuePair) {
    if (doorbells.add(queuePair)) {
      fabric.wake(this);
    }
  }

  /** A completion queue is to be armed. On any thread. */
  public void arm(SoftCompletionQueue queue) {
    if (arming.add(queue)) {
      fabric.wake(this);
    }
  }

  public void arrive(Packet packet) {
    int capacity = inbox.length;
    if (inboxCount == capacity) {
      Packet[] larger = new Packet[capacity * 2];
      for (int i = 0; i < capacity; i++) {
        larger[i] = inbox[(inboxHead + i) & (capacity - 1)];
      }
      inbox = larger;
      inboxHead = 0;
      capacity *= 2;
    }
    inbox[(inboxHead + inboxCount) & (capacity - 1)] = packet;
    if (inboxCount++ == 0) {
      fabric.wake(this);
    }
  }

  private Packet take() {
    Packet packet = inbox[inboxHead];
    inboxHead = (inboxHead + 1) & (inbox.length - 1);
    inboxCount--;
    return packet;
  }

  /** Releases packets that have arrived and were not processed. */
  public void drop() {
    while (inboxCount > 0) {
      Packet packet = take();
      packet.pool.release(packet);
    }
  }

  void activate(ScheduledQueuePair queuePair) {
    if (queuePair.active) {
      return;
    }
    queuePair.active = true;
    ScheduledQueuePair last = activeTail;
    if (last == null) {
      activeHead = queuePair;
    } else {
      last.nextActive = queuePair;
    }
    activeTail = queuePair;
    activeCount++;
  }

  /** The queue pair's ACK is sent at the end of this step. */
  void acknowledgeLater(ScheduledQueuePair queuePair) {
    if (!queuePair.acknowledging) {
      queuePair.acknowledging = true;
      acknowledging.add(queuePair);
    }
  }

  /** Packets that a queue pair waits for have come back. */
  private void packetsReturned() {
    answering.forEach(this::activate);
    answering.clear();
    fabric.wake(this);
  }

  @Override
  public int step(int budget) {
    for (ScheduledQueuePair next, queuePair = doorbells.takeAll();
        queuePair != null;
        queuePair = next) {
      next = doorbells.release(queuePair);
      activate(queuePair);
    }
    for (SoftCompletionQueue next, queue = arming.takeAll(); queue != null; queue = next) {
      next = arming.release(queue);
      queue.arm();
    }
    int work = receive();
    for (int i = activeCount; i > 0; i--) {
      work += runNext(budget);
    }
    // Few packets come back at a time: where one queue pair finds none, the others would not
    // either.
    for (ScheduledQueuePair first; !packets.isStarved() && (first = starving.poll()) != null; ) {
      first.starving = false;
      work += first.run(budget);
      starve(first, true);
    }
    // Queue pairs that were activated during this step run in the next one, which has to come.
    return work == 0 && activeCount > 0 ? 1 : work;
  }

  private int receive() {
    int count = inboxCount;
    for (int i = 0; i < count; i++) {
      Packet packet = take();
      ScheduledQueuePair queuePair = queuePairs.find(packet.destination);
      if (queuePair == null) {
        if (packet.destination == Packet.MANY) {
          spread(packet);
        }
        packet.pool.release(packet);
      } else {
        queuePair.receive(packet);
        starve(queuePair, false);
      }
    }
    for (int i = 0; i < acknowledging.size(); i++) {
      ScheduledQueuePair queuePair = acknowledging.get(i);
      queuePair.acknowledging = false;
      queuePair.acknowledge();
      starve(queuePair, false);
    }
    acknowledging.clear();
    return count;
  }

  /** Gives copies to all of a group but who sent it; what the HCA has no packets for is lost. */
  private void spread(Packet packet) {
    groups.forEach(
        new Gid(packet.destinationGidHigh, packet.destinationGidLow),
        queuePair -> {
          boolean sender = isOwn(packet) && packet.originQpn == queuePair.number;
          Packet copy = sender ? null : packets.take();
          if (copy != null) {
            copy.copyOf(packet);
            queuePair.receive(copy);
          }
        });
  }

  @SuppressWarnings("ReferenceEquality") // an HCA's packets are of its own pool
  private boolean isOwn(Packet packet) {
    return packet.pool == packets;
  }

  private int runNext(int budget) {
    ScheduledQueuePair queuePair = activeHead;
    if (queuePair == null) {
      return 0;
    }
    activeHead = queuePair.nextActive;
    if (activeHead == null) {
      activeTail = null;
    }
    queuePair.nextActive = null;
    queuePair.active = false;
    activeCount--;
    int work = queuePair.run(budget);
    starve(queuePair, false);
    return work;
  }

  /** Puts a queue pair that found no packet among those that wait for some. */
  private void starve(ScheduledQueuePair queuePair, boolean first) {
    if (!packets.isStarved()) {
      return;
    }
    if (packets.takeRefusedAnswer()) {
      answering.add(queuePair);
    }
    if (!queuePair.starving) {
      queuePair.starving = true;
      if (first) {
        starving.addFirst(queuePair);
      } else {
        starving.addLast(queuePair);
      }
    }
  }

  @Override
  public String where() {
    StringBuilder text = new StringBuilder(name);
    for (ScheduledQueuePair q = activeHead; q != null; q = q.nextActive) {
      text.append("; ").append(q.describe());
    }
    return text.toString();
  }

  /** The engine runs these: packets arrive at one, and it makes progress in turns. */
  public abstract static class ScheduledQueuePair extends QueuePairContext {
    final HcaEngine engine;

    // Links of the engine's lists.
    boolean active;
    @Nullable ScheduledQueuePair nextActive;
    boolean acknowledging;
    boolean starving;

    ScheduledQueuePair(
        HcaObjects objects,
        int number,
        int ordinal,
        Transport transport,
        ObjectOwner domain,
        Completions sendCompletions,
        @Nullable Completions receiveCompletions) {
      super(
          objects.hca.port(),
          number,
          ordinal,
          transport,
          domain,
          objects.regions,
          sendCompletions,
          receiveCompletions);
      this.engine = objects.engine;
    }

    /** Makes whatever progress is possible. */
    abstract int run(int budget);

    /** A packet for this queue pair; takes it over. */
    abstract void receive(Packet packet);

    /** Sends the ACK that is due. */
    abstract void acknowledge();

    /** State and backlog, for reports. */
    abstract String describe();

    @Override
    public final void activate() {
      engine.activate(this);
    }

    @Override
    public final void activateFromOutside() {
      engine.activate(this);
      engine.wake();
    }

    @Override
    public final void acknowledgeLater() {
      engine.acknowledgeLater(this);
    }
  }
}
