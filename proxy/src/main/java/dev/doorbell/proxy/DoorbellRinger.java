package dev.doorbell.proxy;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import java.util.Arrays;

/**
 * The CPU thread that rings for GPU threads which write WQEs themselves but cannot reach, or are
 * not allowed to reach, the doorbell register ({@code DOORBELL_QP_CPU_RUNG}).
 *
 * <p>For each queue pair it watches one 64-bit word, {@code doorbell_qp.ring_request}: the index of
 * the next free block, never wrapping, that kernels raise with release order at system scope after
 * the WQEs below it. When it has risen, the ringer writes the doorbell record with release order,
 * and then the doorbell. The word is the kernels' alone; the ringer never writes it.
 */
public final class DoorbellRinger implements Agent, AutoCloseable {
  /** Where the ringer is in its round. */
  private enum Stage {
    WATCH,
    END
  }

  /** A queue pair and what was rung for it. */
  private static final class Watched {
    final long request;
    final long record;
    final long doorbell;
    final int number24;
    long lastRung;

    Watched(long request, long record, long doorbell, int number24) {
      this.request = request;
      this.record = record;
      this.doorbell = doorbell;
      this.number24 = number24;
    }

    @Override
    public String toString() {
      return "queue pair 0x%x rung up to %d".formatted(number24, lastRung);
    }
  }

  private final Fabric fabric;
  private final Locus locus;
  private final ProxyPrices prices;
  private final ThreadPort port;
  private final StoreList stores = new StoreList();
  private Watched[] queuePairs = new Watched[0];
  private Stage stage = Stage.WATCH;
  private int turn;
  private boolean loadParked;
  private int roundWork;
  private long rings;

  /**
   * Adds the ringer to {@code fabric}.
   *
   * @param locus the CPU it runs on
   * @param prices {@code pollNanos} for every round that rings
   */
  public DoorbellRinger(Fabric fabric, Locus locus, ProxyPrices prices) {
    this.fabric = fabric;
    this.locus = locus;
    this.prices = prices;
    this.port = fabric.attachThread(locus, this);
  }

  /**
   * Rings for {@code queuePair} from now on.
   *
   * @param ringRequest address of the word that kernels raise; zeroed, in memory that both reach
   */
  public void watch(QueuePair queuePair, long ringRequest) {
    watch(
        ringRequest,
        queuePair.recordAddress() + DoorbellRecord.SEND_OFFSET,
        queuePair.doorbellAddress(),
        queuePair.number());
  }

  /** Rings for the queue pair that {@code queue} describes. */
  public void watch(SendQueueAccess queue, long ringRequest) {
    watch(ringRequest, queue.record(), queue.doorbell(), queue.number24());
  }

  private void watch(long request, long record, long doorbell, int number24) {
    queuePairs = Arrays.copyOf(queuePairs, queuePairs.length + 1);
    queuePairs[queuePairs.length - 1] = new Watched(request, record, doorbell, number24);
    fabric.wake(this);
  }

  /** How often it rang. */
  public long rings() {
    return rings;
  }

  @Override
  public int step(int budget) {
    while (loadParked || stores.drain(port)) {
      if (stage == Stage.WATCH) {
        loadParked = !checkRequests();
        if (loadParked) {
          return 0;
        }
        stage = Stage.END;
      } else {
        int work = roundWork;
        stage = Stage.WATCH;
        roundWork = 0;
        if (work == 0) {
          port.pollFailed(ProxyAgent.IDLE_NANOS);
        }
        return work;
      }
    }
    return 0;
  }

  /** Looks at every word; false when the port parked the thread. */
  private boolean checkRequests() {
    while (turn < queuePairs.length) {
      Watched watched = queuePairs[turn];
      long requested = port.load64(watched.request, Access.ACQUIRE | Access.SYS);
      if (port.parked) {
        return false;
      }
      if (requested - watched.lastRung > 0) {
        ring(watched, requested);
      }
      turn++;
    }
    turn = 0;
    return true;
  }

  private void ring(Watched watched, long index) {
    if (roundWork++ == 0) {
      stores.spend(prices.pollNanos());
    }
    stores.store32(watched.record, DoorbellRecord.encode(index), Access.RELEASE | Access.SYS);
    stores.fence(Access.RELEASE | Access.SYS);
    stores.store64(
        watched.doorbell, Doorbell.encode(index, watched.number24), Access.MMIO | Access.SYS);
    watched.lastRung = index;
    rings++;
  }

  @Override
  public String where() {
    return "doorbell ringer at %s: %s".formatted(locus, Arrays.toString(queuePairs));
  }

  /** Takes the ringer out of the fabric. */
  @Override
  public void close() {
    fabric.detach(this);
  }
}
