package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.RoundTopology;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.ErrorCqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.softhca.device.HcaTiming;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.wire.InProcessWire;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A machine whose root complex does not route reads between the HCA and the GPU. */
class RefusedReadsTest {
  private final SoftWorld world =
      new SoftWorld(
          new TimedFabric(RoundTopology.withoutPeerReads(), AddressSpace.reserve(1L << 28), 1),
          SoftHcaOptions.DEFAULT.withTiming(new HcaTiming(50, 120, 100)),
          new InProcessWire());

  @AfterEach
  void close() {
    world.close();
  }

  private Endpoint[] pair(Endpoint.Shape shape) {
    Endpoint a = new Endpoint(world, 0, shape);
    Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
    Endpoint.connect(a, b);
    return new Endpoint[] {a, b};
  }

  @Test
  void payload_in_gpu_memory_cannot_be_pulled() {
    Endpoint[] ends = pair(Endpoint.Shape.usual().withBufferIn(MemoryKind.DEVICE));
    ends[0]
        .wqe(Opcode.RDMA_WRITE)
        .remote(ends[1].address(0), ends[1].region.rkey())
        .inline(new byte[] {7})
        .write();
    ends[0].rdmaWrite(ends[1], 0, 64, 10_000).post();
    assertThat(ends[0].pollSend().isError()).isFalse();
    assertThat(ends[0].pollSend().syndrome()).isEqualTo(Syndrome.LOCAL_PROTECTION);
    assertThat(ErrorCqe.vendorSyndrome(ends[0].sendQueue.ringAddress() + 64))
        .isEqualTo(VendorSyndrome.PATH_REFUSED);
    world.settle();
    assertThat(ends[1].buffer.getBytes(64, 10_000)).containsOnly(0);
    assertThat(world.soft(0).packets().out()).isZero();
  }

  @Test
  void a_peers_read_of_gpu_memory_is_the_owners_fault() {
    Endpoint[] ends = pair(Endpoint.Shape.usual().withBufferIn(MemoryKind.DEVICE));
    ends[1]
        .wqe(Opcode.RDMA_READ)
        .remote(ends[0].address(0), ends[0].region.rkey())
        .local(0, 64)
        .post();
    assertThat(ends[1].pollSend().syndrome()).isEqualTo(Syndrome.REMOTE_OPERATION);
    assertThat(world.hca(0).pollAsyncEvent())
        .isEqualTo(new AsyncEvent(AsyncEvent.Type.QP_FATAL, ends[0].queuePair.number()));
  }

  @Test
  void a_send_ring_in_gpu_memory_cannot_be_fetched() {
    Endpoint[] ends = pair(Endpoint.Shape.usual().withPlaces(MemoryKind.DEVICE, MemoryKind.HOST));
    ends[0].rdmaWrite(ends[1], 0, 64, 8).post();
    world.settle();
    assertThat(ends[0].queuePair.state()).isEqualTo(QueuePairState.ERR);
    assertThat(world.hca(0).pollAsyncEvent())
        .isEqualTo(new AsyncEvent(AsyncEvent.Type.QP_FATAL, ends[0].queuePair.number()));
    assertThat(ends[0].hasSendCompletion()).isFalse();
  }
}
