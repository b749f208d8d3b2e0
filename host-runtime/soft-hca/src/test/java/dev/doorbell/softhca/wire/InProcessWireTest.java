package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.softhca.SoftWorld;
import dev.doorbell.softhca.device.HcaTiming;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.packet.Wire;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Packets reach the peer at once where nothing on their way takes time, and nowhere else. */
class InProcessWireTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0, false, true",
    "1, 0, false, false",
    "0, 100, false, false",
    "0, 0, true, false",
    "1, 100, true, false"
  })
  void latency_rate_and_the_receivers_delay_each_alone_take_time(
      long latencyNanos, double gigabits, boolean receiverDelays, boolean atOnce) {
    HcaTiming timing = new HcaTiming(0, 0, 0, 7, 0, HcaTiming.HcaRates.UNLIMITED);
    SoftHcaOptions options =
        receiverDelays ? SoftHcaOptions.DEFAULT.withTiming(timing) : SoftHcaOptions.DEFAULT;
    assertThat(options.timing().delaysArrivals()).isEqualTo(receiverDelays);
    InProcessWire wire = new InProcessWire(latencyNanos, gigabits);
    try (SoftWorld world =
        new SoftWorld(new DirectFabric(AddressSpace.reserve(1L << 28), 0), options, wire)) {
      Wire.Route route = Objects.requireNonNull(wire.route(world.soft(0), "soft1"));
      assertThat(route.immediate()).isEqualTo(atOnce ? world.soft(1) : null);
    }
  }
}
