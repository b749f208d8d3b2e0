package dev.doorbell.softhca.packet;

import dev.doorbell.core.memory.LazyMemory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The packets of one HCA. When all are out, senders wait until receivers give some back: that is
 * the back-pressure of the wire.
 *
 * <p>Answers to READs and atomics have packets beyond those of requests. Requests behind a READ or
 * an atomic wait at its responder for its answer; without packets of their own, the answers of two
 * HCAs would wait for each other's requests. Acknowledgements share those of requests: no request
 * holds its packet until an acknowledgement leaves.
 */
public final class PacketPool {
  /** Packets of the first slab; each further one doubles what there is, up to {@link #MOST}. */
  private static final int FIRST = 4;

  private static final int MOST = 64;

  /** One packet for answers for each eight for requests. */
  private static final int REQUESTS_PER_ANSWER = 8;

  private final Runnable returned;
  private final Consumer<Runnable> atHome;

  /** Packets that receivers on other host threads have given back. */
  private final AtomicReference<@Nullable Packet> back = new AtomicReference<>();

  private final Runnable takeBack = this::takeBack;
  private final int limit;
  private Packet[] free = new Packet[16];
  private int freeCount;
  private int made;
  private boolean starved;
  private boolean refusedAnswer;

  // A packet's buffer must outlive the HCA while a fabric still owes it a transfer. The garbage
  // collector knows when that is: each packet keeps its slab reachable.
  private @Nullable MemorySegment slab;
  private int slabUsed;

  private int slabPackets;

  /**
   * @param returned called when a packet has come back after {@link #take} found none
   * @param limit packets that requests may take
   * @param atHome carries out a task when no other thread uses this pool
   */
  public PacketPool(Runnable returned, int limit, Consumer<Runnable> atHome) {
    this.returned = returned;
    this.atHome = atHome;
    this.limit = limit;
  }

  /**
   * A packet for a request, or null when all of those are in use; the owner is notified when a
   * packet is returned.
   */
  public @Nullable Packet take() {
    return take(limit);
  }

  /** Acts as {@link #take()}, for an answer to a READ or an atomic. */
  public @Nullable Packet takeForAnswer() {
    return take(limit + Math.max(1, limit / REQUESTS_PER_ANSWER));
  }

  /** A packet for a refusal, beyond the limit if need be: a refusal cannot be taken back. */
  public Packet takeSpare() {
    return unused();
  }

  private @Nullable Packet take(int most) {
    if (out() >= most) {
      starved = true;
      refusedAnswer |= most > limit;
      return null;
    }
    return unused();
  }

  private Packet unused() {
    if (freeCount > 0) {
      Packet packet = free[--freeCount];
      packet.reset();
      return packet;
    }
    made++;
    return new Packet(this);
  }

  /** True after {@link #take} found nothing, until a packet comes back. */
  public boolean isStarved() {
    return starved;
  }

  /** True if an answer was refused a packet since the last call. */
  public boolean takeRefusedAnswer() {
    boolean refused = refusedAnswer;
    refusedAnswer = false;
    return refused;
  }

  public void release(Packet packet) {
    if (packet.isHandedOver()) {
      Packet before;
      do {
        before = back.get();
        packet.next = before;
      } while (!back.compareAndSet(before, packet));
      if (before == null) {
        atHome.accept(takeBack);
      }
    } else {
      put(packet);
    }
  }

  private void takeBack() {
    Packet packet = back.getAndSet(null);
    while (packet != null) {
      Packet following = packet.next;
      packet.comeBack();
      put(packet);
      packet = following;
    }
  }

  private void put(Packet packet) {
    packet.retire();
    if (freeCount == free.length) {
      free = Arrays.copyOf(free, freeCount * 2);
    }
    free[freeCount++] = packet;
    if (starved) {
      starved = false;
      returned.run();
    }
  }

  public int out() {
    return made - freeCount;
  }

  MemorySegment slab() {
    MemorySegment current = slab;
    if (current == null || slabUsed == slabPackets) {
      slabPackets = Math.clamp(made, FIRST, MOST);
      current = LazyMemory.DENSE.allocate((long) slabPackets * Packet.MAX_PAYLOAD, Long.BYTES);
      slab = current;
      slabUsed = 0;
    }
    return current;
  }

  long nextBuffer() {
    return slab().address() + (long) slabUsed++ * Packet.MAX_PAYLOAD;
  }
}
