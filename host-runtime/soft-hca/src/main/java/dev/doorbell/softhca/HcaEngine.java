package dev.doorbell.softhca;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.softhca.packet.Packet;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The engine of an HCA: who has something to do, and the turns in which they do it.
 *
 * <p>Doorbells may be rung and completion queues armed on any thread; packets arrive, and all else
 * is called, on the thread that steps.
 */
final class HcaEngine implements Agent {
  private final SoftHca hca;
  private final Fabric fabric;
  private final AtomicReference<@Nullable SoftQueuePair> rung = new AtomicReference<>();
  private final AtomicReference<@Nullable SoftCompletionQueue> arming = new AtomicReference<>();
  private @Nullable SoftQueuePair activeHead;
  private @Nullable SoftQueuePair activeTail;
  private int activeCount;
  private final List<SoftQueuePair> acknowledging = new ArrayList<>();
  private final List<SoftQueuePair> starving = new ArrayList<>();

  // Packets that have arrived, in order.
  private Packet[] inbox = new Packet[64];
  private int inboxHead;
  private int inboxCount;

  HcaEngine(SoftHca hca, Fabric fabric) {
    this.hca = hca;
    this.fabric = fabric;
  }

  /** It has something to do. */
  void wake() {
    fabric.wake(this);
  }

  /** Something arrived at a doorbell register. On any thread. */
  void ring(SoftQueuePair queuePair, int index) {
    queuePair.requests.informed();
    // A full barrier: who clears the flag after it is set here looks at the hint afterwards.
    queuePair.hint(index);
    if (queuePair.rung.get() || !queuePair.rung.compareAndSet(false, true)) {
      return;
    }
    SoftQueuePair head;
    do {
      head = rung.get();
      queuePair.nextRung = head;
    } while (!rung.compareAndSet(head, queuePair));
    fabric.wake(this);
  }

  /** A packet is here. */
  void arrive(Packet packet) {
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

  /** A completion queue is to be armed. On any thread. */
  void arm(SoftCompletionQueue queue) {
    if (!queue.rung.compareAndSet(false, true)) {
      return;
    }
    SoftCompletionQueue head;
    do {
      head = arming.get();
      queue.nextRung = head;
    } while (!arming.compareAndSet(head, queue));
    fabric.wake(this);
  }

  private Packet take() {
    Packet packet = inbox[inboxHead];
    inboxHead = (inboxHead + 1) & (inbox.length - 1);
    inboxCount--;
    return packet;
  }

  /** Gives back what has arrived and was not looked at. */
  void drop() {
    while (inboxCount > 0) {
      Packet packet = take();
      packet.pool.release(packet);
    }
  }

  void activate(SoftQueuePair queuePair) {
    if (queuePair.active) {
      return;
    }
    queuePair.active = true;
    SoftQueuePair last = activeTail;
    if (last == null) {
      activeHead = queuePair;
    } else {
      last.nextActive = queuePair;
    }
    activeTail = queuePair;
    activeCount++;
  }

  /** The queue pair's ACK is sent at the end of this step. */
  void acknowledgeLater(SoftQueuePair queuePair) {
    if (!queuePair.acknowledging) {
      queuePair.acknowledging = true;
      acknowledging.add(queuePair);
    }
  }

  /** Packets have come back that somebody waits for. */
  void packetsReturned() {
    for (SoftQueuePair queuePair : starving) {
      queuePair.starving = false;
      activate(queuePair);
    }
    starving.clear();
    fabric.wake(this);
  }

  @Override
  public int step(int budget) {
    if (rung.getPlain() != null) {
      answerDoorbells();
    }
    if (arming.getPlain() != null) {
      armQueues();
    }
    int work = receive();
    for (int i = activeCount; i > 0; i--) {
      work += runNext(budget);
    }
    // Who became active during the step has its turn in the next one, which has to come.
    return work == 0 && activeCount > 0 ? 1 : work;
  }

  private void answerDoorbells() {
    SoftQueuePair queuePair = rung.getAndSet(null);
    while (queuePair != null) {
      SoftQueuePair next = queuePair.nextRung;
      queuePair.nextRung = null;
      queuePair.rung.set(false);
      activate(queuePair);
      queuePair = next;
    }
  }

  private void armQueues() {
    SoftCompletionQueue queue = arming.getAndSet(null);
    while (queue != null) {
      SoftCompletionQueue next = queue.nextRung;
      queue.nextRung = null;
      queue.rung.set(false);
      queue.arm();
      queue = next;
    }
  }

  private int receive() {
    int count = inboxCount;
    for (int i = 0; i < count; i++) {
      Packet packet = take();
      SoftQueuePair queuePair = hca.queuePairs.find(packet.destination);
      if (queuePair == null) {
        packet.pool.release(packet);
      } else {
        queuePair.receive(packet);
        if (hca.packets.isStarved()) {
          starve(queuePair);
        }
      }
    }
    for (int i = 0; i < acknowledging.size(); i++) {
      SoftQueuePair queuePair = acknowledging.get(i);
      queuePair.acknowledging = false;
      queuePair.acknowledge();
      if (hca.packets.isStarved()) {
        starve(queuePair);
      }
    }
    acknowledging.clear();
    return count;
  }

  private int runNext(int budget) {
    SoftQueuePair queuePair = activeHead;
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
    if (hca.packets.isStarved()) {
      starve(queuePair);
    }
    return work;
  }

  private void starve(SoftQueuePair queuePair) {
    if (!queuePair.starving) {
      queuePair.starving = true;
      starving.add(queuePair);
    }
  }

  @Override
  public String where() {
    StringBuilder text = new StringBuilder(hca.name());
    for (SoftQueuePair q = activeHead; q != null; q = q.nextActive) {
      text.append("; ").append(q.describe());
    }
    return text.toString();
  }
}
