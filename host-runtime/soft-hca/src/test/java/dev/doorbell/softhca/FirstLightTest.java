package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.mlx5.Opcode;
import org.junit.jupiter.api.Test;

class FirstLightTest {
  @Test
  void one_put_arrives_and_completes() {
    try (SoftWorld world =
        new SoftWorld(new DirectFabric(), SoftHcaOptions.DEFAULT, new InProcessWire())) {
      Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
      Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
      Endpoint.connect(a, b);
      byte[] payload = "twelve bytes".getBytes(java.nio.charset.StandardCharsets.UTF_8);
      a.buffer.putBytes(100, payload);
      a.rdmaWrite(b, 100, 300, payload.length).post();
      Endpoint.Completion completion = a.pollSend();
      assertThat(completion.wqeOpcode()).isEqualTo(Opcode.RDMA_WRITE);
      assertThat(completion.isError()).isFalse();
      assertThat(b.buffer.getBytes(300, payload.length)).isEqualTo(payload);
    }
  }
}
