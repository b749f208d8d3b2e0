package dev.doorbell.proxy;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.memory.Locus;
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
public final class DoorbellRinger extends RoundAgent {
  private enum Stage {
    WATCH,
    END
  }

  private static final class Watched {
    final long request;
    final SendQueueAccess queue;
    long lastRung;

    Watched(long request, SendQueueAccess queue) {
      this.request = request;
      this.queue = queue;
    }

    @Override
    public String toString() {
      return "queue pair 0x%x rung up to %d".formatted(queue.number24(), lastRung);
    }
  }

  private Watched[] queuePairs = new Watched[0];
  private Stage stage = Stage.WATCH;
  private int turn;
  private int roundWork;
  private long rings;

  /**
   * Adds the ringer to {@code fabric}.
   *
   * @param locus the CPU it runs on
   * @param prices {@code pollNanos} for every round that rings
   */
  public DoorbellRinger(Fabric fabric, Locus locus, ProxyPrices prices) {
    super(fabric, locus, prices);
  }

  /**
   * Rings for {@code queuePair} from now on.
   *
   * @param ringRequest address of the word that kernels raise; zeroed, in memory that both reach
   */
  public void watch(QueuePair queuePair, long ringRequest) {
    watch(SendQueueAccess.of(queuePair, 0, 0), ringRequest);
  }

  /** Rings for the queue pair that {@code queue} describes. */
  public void watch(SendQueueAccess queue, long ringRequest) {
    queuePairs = Arrays.copyOf(queuePairs, queuePairs.length + 1);
    queuePairs[queuePairs.length - 1] = new Watched(ringRequest, queue);
    fabric.wake(this);
  }

  /** Number of doorbells that it rang. */
  public long rings() {
    return rings;
  }

  @Override
  public int step(int budget) {
    while (mayContinue()) {
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
          port.pollFailed(IDLE_NANOS);
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
    stores.ring(watched.queue, index);
    watched.lastRung = index;
    rings++;
  }

  @Override
  public String where() {
    return "doorbell ringer at %s: %s".formatted(locus, Arrays.toString(queuePairs));
  }
}
