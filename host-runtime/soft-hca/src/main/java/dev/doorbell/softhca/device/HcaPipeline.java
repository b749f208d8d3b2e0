package dev.doorbell.softhca.device;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.timed.event.Calendar;
import dev.doorbell.softhca.device.HcaTiming.HcaRates;
import dev.doorbell.softhca.packet.Packet;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * All queue pairs of an HCA share an engine, and memory for what is under way.
 *
 * <p>The engine takes WQEs and arriving request packets, each kind in the order in which they come.
 * The states of the queue pairs used last are held; a packet for another one waits until its state
 * was fetched, and so do those behind it. States are fetched for a few packets at the head of those
 * that have arrived: visits of one packet each overlap their fetches, long visits do not. An
 * initiator of dynamic connections has one state at each target, which every connection makes anew.
 */
public final class HcaPipeline {
  private static final long PICOS = 1_000;

  /** The connection of a queue pair that has one for good. */
  private static final long CONNECTED = 0;

  private final DevicePort port;
  private final HcaRates rates;
  private final SharedBuffer transmits;
  private final SharedBuffer fetches;

  /** In picoseconds. A WQE that its queue pair holds back leaves the time before it to others. */
  private final Calendar engine = new Calendar();

  /** When the packet that arrived last is taken, in picoseconds. */
  private long arrivalsPicos;

  /** The connection of each queue pair or initiator, that of the one used last at the end. */
  private final Map<Long, Long> held = new LinkedHashMap<>(16, 0.75f, true);

  /** When the last packets were taken, in nanoseconds, as many as may be fetched for together. */
  private final long[] taken;

  private int next;

  public HcaPipeline(DevicePort port, HcaRates rates) {
    this.port = port;
    this.rates = rates;
    taken = new long[rates.fetches()];
    transmits = new SharedBuffer(port, rates.transmitBytes());
    fetches = new SharedBuffer(port, rates.fetchBytes());
  }

  /** Memory for payload from the begin of its gather until the wire has taken it. */
  public SharedBuffer transmits() {
    return transmits;
  }

  /** Memory for WQEs that are being fetched. */
  public SharedBuffer fetches() {
    return fetches;
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
    hold(number, CONNECTED);
    long now = port.now();
    long turn = queue.serve(now, rates.queueNanos());
    return serve(now, (now + turn) * PICOS, rates.wqeNanos());
  }

  /**
   * Books the engine.
   *
   * @param now in nanoseconds
   * @param earliest in picoseconds
   * @return nanoseconds from now until it begins, rounded
   */
  private long serve(long now, long earliest, double nanos) {
    engine.book(earliest, Math.round(nanos * PICOS), now * PICOS);
    return (engine.started() - now * PICOS + PICOS / 2) / PICOS;
  }

  /** Returns true if {@link #packet} may be other than 0. */
  public boolean limitsArrivals() {
    return rates.limitsArrivals();
  }

  /**
   * A request packet has arrived. The first one of a dynamic connection finds no state of it, so it
   * waits as one whose state is fetched.
   *
   * @return nanoseconds until it is taken
   */
  public long packet(Packet packet) {
    long now = port.now();
    int place = next;
    next = (next + 1) % taken.length;
    // The packet reaches the head when the one so many before it is taken.
    double ready = hold(packet) ? now : Math.max(now, taken[place]) + rates.missNanos();
    long earliest = Math.max(Math.round(ready * PICOS), arrivalsPicos);
    long wait = serve(now, earliest, rates.packetNanos());
    arrivalsPicos = engine.started();
    taken[place] = now + wait;
    return wait;
  }

  private boolean hold(Packet packet) {
    if (!packet.dynamic) {
      return hold(packet.destination, CONNECTED);
    }
    long initiator = (long) packet.sourceQueuePair << Integer.SIZE | packet.destination;
    return hold(~(initiator ^ packet.sourceGidLow), packet.connection);
  }

  /**
   * Holds the state of a queue pair from now on; false when it did not.
   *
   * @param connection which of those that it has one after the other
   */
  private boolean hold(long number, long connection) {
    int most = rates.connections();
    if (most == 0) {
      return true;
    }
    Long before = held.put(number, connection);
    boolean there = before != null && before == connection;
    if (held.size() > most) {
      held.remove(held.keySet().iterator().next());
    }
    return there;
  }

  /** When a server that takes one customer after the other is free again, in virtual time. */
  public static final class ServiceTimes {
    private static final int PICOS = 1_000;
    private double freePicos;

    /**
     * Serves a customer that comes at {@code now} for {@code nanos}.
     *
     * @return nanoseconds until its service begins, rounded
     */
    public long serve(long now, double nanos) {
      double arrival = (double) now * PICOS;
      double start = Math.max(arrival, freePicos);
      freePicos = start + nanos * PICOS;
      return Math.round((start - arrival) / PICOS);
    }
  }
}
