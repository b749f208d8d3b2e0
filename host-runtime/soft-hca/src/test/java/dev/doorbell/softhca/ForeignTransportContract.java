package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.FabricWorld;
import dev.doorbell.contract.HcaTransportContractTest;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.hca.SharedReceiveQueueAttributes;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.InProcessWire;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The transport contract on an HCA whose queues are not mlx5's: what it has is held to the
 * contract, and what it lacks is refused.
 */
abstract class ForeignTransportContract extends HcaTransportContractTest {
  private static final Set<HcaWorld.Feature> LACKING =
      EnumSet.of(
          HcaWorld.Feature.UNRELIABLE_TRANSPORTS,
          HcaWorld.Feature.SHARED_RECEIVES,
          HcaWorld.Feature.COMPLETION_EVENTS,
          HcaWorld.Feature.MIXED_SEGMENTS,
          HcaWorld.Feature.INVALIDATION);

  private final String adapter;
  private final Set<HcaWorld.Feature> lacks;
  private HcaWorld here;

  ForeignTransportContract(String adapter, HcaWorld.Feature... more) {
    this.adapter = adapter;
    this.lacks = EnumSet.copyOf(LACKING);
    lacks.addAll(Set.of(more));
  }

  @BeforeEach
  void openAnother() {
    here = newWorld();
  }

  @AfterEach
  void closeIt() {
    here.close();
  }

  @Override
  protected HcaWorld newWorld() {
    Fabric fabric = new DirectFabric(AddressSpace.reserve(1L << 28), 0);
    InProcessWire wire = new InProcessWire();
    SoftHca[] hcas = new SoftHca[2];
    for (int side = 0; side < 2; side++) {
      hcas[side] =
          new SoftHca(
              fabric,
              Locus.nic(side, 0),
              "soft" + side,
              SoftHcaOptions.DEFAULT.withAdapter(Adapters.named(adapter)));
      wire.join(hcas[side]);
    }
    return new FabricWorld(fabric, hcas) {
      @Override
      public Set<HcaWorld.Feature> lacks() {
        return lacks;
      }
    };
  }

  @ParameterizedTest
  @EnumSource(names = {"UC", "UD"})
  void unreliable_transports_are_refused(Transport transport) {
    assertThatThrownBy(
            () -> new Endpoint(here, 0, Endpoint.Shape.usual().withTransport(transport, null)))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("queue pairs alone");
  }

  @Test
  void shared_receive_queues_are_refused() {
    ProtectionDomain domain = here.hca(1).allocateProtectionDomain();
    assertThatThrownBy(
            () ->
                domain.createSharedReceiveQueue(
                    new SharedReceiveQueueAttributes(8, 1, MemoryKind.HOST, MemoryKind.HOST),
                    here.memory(1)))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining(adapter + " queues")
        .hasMessageContaining("no shared receive queues");
  }

  @Test
  void events_of_completion_queues_are_refused() {
    ProtectionDomain domain = here.hca(1).allocateProtectionDomain();
    try (CompletionChannel channel = here.hca(1).createCompletionChannel()) {
      assertThatThrownBy(
              () ->
                  domain.createCompletionQueue(
                      CompletionQueueAttributes.ring(64, MemoryKind.HOST), here.memory(1), channel))
          .isInstanceOf(HcaException.class)
          .hasMessageContaining("no completion channels");
    }
  }

  @Test
  void what_a_work_request_cannot_express_ends_the_queue_pair() {
    for (int opcode : new int[] {Opcode.RDMA_WRITE, Opcode.SEND_INVAL}) {
      Endpoint a = new Endpoint(here, 0, Endpoint.Shape.usual());
      Endpoint b = new Endpoint(here, 1, Endpoint.Shape.usual());
      Endpoint.connect(a, b);
      if (opcode == Opcode.RDMA_WRITE) {
        a.wqe(opcode).remote(b.address(0), b.region.rkey()).inline(new byte[3]).local(0, 8).post();
      } else {
        a.wqe(opcode).immediate(b.region.rkey()).local(0, 8).post();
      }
      assertThat(a.pollSend().isError()).as("opcode %x", opcode).isTrue();
      here.settle();
      assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }
  }
}
