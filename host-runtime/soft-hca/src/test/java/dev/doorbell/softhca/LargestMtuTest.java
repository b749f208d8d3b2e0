package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import dev.doorbell.softhca.wire.InProcessWire;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Changes by drivers that verbs do not have. */
class LargestMtuTest {
  @ParameterizedTest
  @CsvSource({"256, 256", "1024, 1024", "4096, 4096", "0, 4096"})
  void initiators_send_packets_of_the_mtu_that_bounds_them(int largest, int mtu) {
    try (SoftWorld world =
        new SoftWorld(
            new DirectFabric(AddressSpace.reserve(1L << 28), 0),
            SoftHcaOptions.DEFAULT,
            new InProcessWire())) {
      Endpoint.Shape shape = Endpoint.Shape.usual().withReceives(0);
      SoftQueuePair initiator =
          (SoftQueuePair) new Endpoint(world, 0, shape.withTransport(Transport.DC, null)).queuePair;
      initiator.toInit(Endpoint.ALL);
      if (largest > 0) {
        initiator.largestMtu(largest);
      }
      initiator.toRtr(ConnectionAttributes.DEFAULT);
      assertThat(initiator.mtu()).isEqualTo(mtu);
    }
  }
}
