package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.HcaWorld;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;

/** Every operation once, for places where the whole suite takes too long. */
final class Scenario {
  private Scenario() {}

  static void run(HcaWorld world) {
    Endpoint a = new Endpoint(world, 0, Endpoint.Shape.usual());
    Endpoint b = new Endpoint(world, 1, Endpoint.Shape.usual());
    Endpoint.connect(a, b);
    for (int i = 0; i < 512; i++) {
      a.buffer.putLong(8L * i, 0x1000L + i);
    }
    b.postReceive(16_384, 4_096);
    b.postReceive(0, 1);
    a.rdmaWrite(b, 0, 4_096, 4_096).write();
    a.wqe(Opcode.SEND_IMM).immediate(7).local(0, 4_096).write();
    a.wqe(Opcode.RDMA_WRITE_IMM)
        .immediate(8)
        .remote(b.address(32_768), b.region.rkey())
        .local(0, 64)
        .write();
    a.wqe(Opcode.RDMA_READ).remote(b.address(4_096), b.region.rkey()).local(8_192, 4_096).write();
    a.wqe(Opcode.ATOMIC_FA)
        .remote(b.address(4_096), b.region.rkey())
        .atomic(5, 0)
        .local(20_000, 8)
        .write();
    a.wqe(Opcode.RDMA_WRITE)
        .remote(b.address(40_000), b.region.rkey())
        .inline(new byte[] {1, 2, 3})
        .write();
    a.record();
    a.ring();
    for (int i = 0; i < 6; i++) {
      assertThat(a.pollSend().opcode()).as("request %d", i).isEqualTo(Cqe.REQUESTER);
    }
    assertThat(b.pollReceive().immediate()).isEqualTo(7);
    assertThat(b.pollReceive().immediate()).isEqualTo(8);
    assertThat(b.buffer.getBytes(16_384, 4_096)).isEqualTo(a.buffer.getBytes(0, 4_096));
    assertThat(b.buffer.getBytes(32_768, 64)).isEqualTo(a.buffer.getBytes(0, 64));
    assertThat(a.buffer.getBytes(8_192, 4_096)).isEqualTo(a.buffer.getBytes(0, 4_096));
    assertThat(a.buffer.getLong(20_000)).isEqualTo(0x1000);
    assertThat(b.buffer.getLong(4_096)).isEqualTo(0x1005);
    assertThat(b.buffer.getBytes(40_000, 3)).containsExactly(1, 2, 3);
    b.close();
    a.close();
  }
}
