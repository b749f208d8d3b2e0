package dev.doorbell.softhca;

import dev.doorbell.core.roce.Aeth;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Wire;
import dev.doorbell.softhca.packet.Wire.Route;
import dev.doorbell.softhca.packet.Wire.Station;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A wire that loses, doubles, reorders and delays packets as a seeded random says, until it has
 * done so often enough; and that can be told to lose what a test chooses.
 */
final class FaultyWire extends Wire {
  /** How far a packet falls behind at most. */
  private static final int LARGEST_SETBACK = 6;

  private static final long LONGEST_DELAY_NANOS = 200_000;

  private final SteppedFabric fabric;
  private final Map<String, Station> stations = new LinkedHashMap<>();
  private final List<Held> held = new ArrayList<>();
  private Random random = new Random(0);
  private double rate;

  /** What was done to packets. */
  int faults;

  private int budget;

  /** Packets that went in, by opcode; the newest MSN that a responder told. */
  final List<Integer> opcodes = new ArrayList<>();

  final List<Integer> psns = new ArrayList<>();
  int newestMsn;

  /** Loses packet number n of the wire when told so. */
  private IntPredicate lose = number -> false;

  private int number;

  /** Packets of a connection that it bears. */
  int window = Integer.MAX_VALUE;

  /** A packet that lets others pass. */
  private static final class Held {
    final Packet packet;
    final Station to;
    int passing;

    Held(Packet packet, Station to, int passing) {
      this.packet = packet;
      this.to = to;
      this.passing = passing;
    }
  }

  FaultyWire(SteppedFabric fabric) {
    this.fabric = fabric;
  }

  void join(Station station) {
    stations.put(station.name(), station);
    station.plug(this);
  }

  /** From now on: at most {@code budget} faults, each packet with probability {@code rate}. */
  void plan(long seed, double rate, int budget) {
    this.random = new Random(seed);
    this.rate = rate;
    this.budget = budget;
    this.faults = 0;
    this.newestMsn = 0;
    restart();
  }

  /** Counts packets from 0 and loses those that {@code chosen} names. */
  void lose(IntPredicate chosen) {
    lose = chosen;
    restart();
  }

  private void restart() {
    number = 0;
    opcodes.clear();
    psns.clear();
  }

  @Override
  public @Nullable Route route(Station from, String to) {
    Station station = stations.get(to);
    return station == null ? null : new FaultyRoute(station);
  }

  @Override
  public @Nullable Route route(Station from, long gidHigh, long gidLow) {
    for (Station station : stations.values()) {
      if (station.gidHigh() == gidHigh && station.gidLow() == gidLow) {
        return new FaultyRoute(station);
      }
    }
    return null;
  }

  @Override
  public long @Nullable [] gid(String name) {
    Station station = stations.get(name);
    return station == null ? null : new long[] {station.gidHigh(), station.gidLow()};
  }

  @Override
  public int window(int payloadBytes) {
    return window;
  }

  @Override
  public void leave(Station station) {
    stations.remove(station.name());
    for (Held one : held) {
      one.packet.pool.release(one.packet);
    }
    held.clear();
  }

  @Override
  public String members() {
    return String.join(", ", stations.keySet());
  }

  private final class FaultyRoute extends Route {
    private final Station to;

    FaultyRoute(Station to) {
      this.to = to;
    }

    @Override
    public void transmit(Packet packet) {
      opcodes.add(packet.opcode);
      psns.add(packet.psn);
      if (packet.opcode == BthOpcode.ATOMIC_ACKNOWLEDGE
          || (packet.opcode == BthOpcode.ACKNOWLEDGE && Aeth.isAck(packet.syndrome))
          || BthOpcode.isResponse(packet.opcode)) {
        newestMsn = Math.max(newestMsn, packet.msn);
      }
      if (lose.test(number++)) {
        packet.pool.release(packet);
        return;
      }
      if (budget == 0 || random.nextDouble() >= rate) {
        to.deliver(packet);
      } else {
        budget--;
        faults++;
        hurt(packet);
      }
      letPass();
    }

    private void hurt(Packet packet) {
      switch (random.nextInt(4)) {
        case 0 -> packet.pool.release(packet);
        case 1 -> {
          Packet twin = packet.pool.takeSpare();
          twin.copyOf(packet);
          to.deliver(packet);
          hold(twin, random.nextInt(LARGEST_SETBACK));
        }
        case 2 -> hold(packet, 1 + random.nextInt(LARGEST_SETBACK));
        default -> hold(packet, Integer.MAX_VALUE);
      }
    }

    private void hold(Packet packet, int passing) {
      packet.keep();
      Held one = new Held(packet, to, passing);
      held.add(one);
      // Nobody may pass by for long: it arrives after a while in any case.
      fabric.timer(1 + random.nextLong(LONGEST_DELAY_NANOS), ok -> arrive(one));
    }
  }

  private void letPass() {
    for (int i = held.size() - 1; i >= 0; i--) {
      Held one = held.get(i);
      if (--one.passing <= 0) {
        arrive(one);
      }
    }
  }

  private void arrive(Held one) {
    if (held.remove(one)) {
      one.to.deliver(one.packet);
    }
  }
}
