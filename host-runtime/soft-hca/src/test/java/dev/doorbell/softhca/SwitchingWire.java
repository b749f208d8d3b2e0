package dev.doorbell.softhca;

import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Wire;
import dev.doorbell.softhca.packet.Wire.Route;
import dev.doorbell.softhca.packet.Wire.Station;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A wire without faults that says, whenever it is asked, whether packets are needed at all. */
final class SwitchingWire extends Wire {
  private final Map<String, Station> stations = new LinkedHashMap<>();
  private final BooleanSupplier immediate;

  /** Packets that went over it. */
  int packets;

  SwitchingWire(BooleanSupplier immediate) {
    this.immediate = immediate;
  }

  void join(Station station) {
    stations.put(station.name(), station);
    station.plug(this);
  }

  @Override
  public @Nullable Route route(Station from, String to) {
    Station station = stations.get(to);
    return station == null ? null : new SwitchingRoute(station);
  }

  @Override
  public @Nullable Route route(Station from, long gidHigh, long gidLow) {
    return null;
  }

  @Override
  public long @Nullable [] gid(String name) {
    Station station = stations.get(name);
    return station == null ? null : new long[] {station.gidHigh(), station.gidLow()};
  }

  @Override
  public void leave(Station station) {
    stations.remove(station.name());
  }

  @Override
  public String members() {
    return String.join(", ", stations.keySet());
  }

  private final class SwitchingRoute extends Route {
    private final Station to;

    SwitchingRoute(Station to) {
      this.to = to;
    }

    @Override
    public void transmit(Packet packet) {
      packets++;
      to.deliver(packet);
    }

    @Override
    public @Nullable Station immediate() {
      return immediate.getAsBoolean() ? to : null;
    }
  }
}
