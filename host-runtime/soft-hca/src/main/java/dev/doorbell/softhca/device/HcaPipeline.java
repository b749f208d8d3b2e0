package dev.doorbell.softhca.device;

import dev.doorbell.core.fabric.DevicePort;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The engine that all queue pairs of an HCA share: WQEs and arriving request packets wait for it in
 * the order in which they come. The states of the queue pairs used last are held; a packet for
 * another one waits until its state was fetched, and so does everything behind it. States are
 * fetched for a few packets at the head of those that have arrived: visits of one packet each
 * overlap their fetches, long visits do not.
 */
public final class HcaPipeline {
  private final DevicePort port;
  private final HcaRates rates;
  private final ServiceTimes engine = new ServiceTimes();

  /** Numbers of queue pairs, the one used last at the end. */
  private final Map<Integer, Boolean> held = new LinkedHashMap<>(16, 0.75f, true);

  /** When the last packets were taken, in nanoseconds, as many as may be fetched for together. */
  private final long[] taken;

  private int next;

  public HcaPipeline(DevicePort port, HcaRates rates) {
    this.port = port;
    this.rates = rates;
    taken = new long[rates.fetches()];
  }

  /**
   * A WQE of queue pair {@code number} was fetched.
   *
   * @param queue of that queue pair
   * @return nanoseconds until the WQE is taken
   */
  public long wqe(int number, ServiceTimes queue) {
    if (rates.wqeNanos() == 0 && rates.queueNanos() == 0) {
      return 0;
    }
    hold(number);
    long now = port.now();
    long turn = queue.serve(now, rates.queueNanos());
    return turn + engine.serve(now + turn, rates.wqeNanos());
  }

  /** Whether {@link #packet} may be other than 0. */
  public boolean limitsArrivals() {
    return rates.limitsArrivals();
  }

  /**
   * A request packet for queue pair {@code number} has arrived.
   *
   * @return nanoseconds until it is taken
   */
  public long packet(int number) {
    long now = port.now();
    int place = next;
    next = (next + 1) % taken.length;
    // The packet reaches the head when the one so many before it is taken.
    double ready = hold(number) ? 0 : Math.max(now, taken[place]) + rates.missNanos();
    long wait = engine.serve(now, ready, rates.packetNanos());
    taken[place] = now + wait;
    return wait;
  }

  /** Holds the state of a queue pair from now on; false when it did not. */
  private boolean hold(int number) {
    int most = rates.connections();
    if (most == 0) {
      return true;
    }
    boolean there = held.put(number, true) != null;
    if (held.size() > most) {
      held.remove(held.keySet().iterator().next());
    }
    return there;
  }
}
