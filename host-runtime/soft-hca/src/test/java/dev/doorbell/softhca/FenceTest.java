package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.roce.BthOpcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The fence modes of a WQE behind a WRITE whose acknowledgement is missing. */
class FenceTest {
  private static final int FIRST = 0x11;
  private static final int SECOND = 0x22;

  private final SteppedWorld world = SteppedWorld.withMtu(256);
  private Endpoint a;
  private Endpoint b;

  @BeforeEach
  void connect() {
    a = new Endpoint(world, 0, Endpoint.Shape.usual());
    b = new Endpoint(world, 1, Endpoint.Shape.usual());
    Endpoint.connect(a, b, new ConnectionAttributes(14, 7, 7, 12, 16, 16, 0));
  }

  @AfterEach
  void close() {
    world.close();
  }

  @ParameterizedTest
  @CsvSource({
    ControlSegment.FENCE_NONE + ", 2",
    ControlSegment.FENCE_INITIATOR_SMALL + ", 2",
    ControlSegment.FENCE_READS + ", 2",
    ControlSegment.FENCE_STRONG_ORDERING + ", 1"
  })
  void strong_ordering_alone_waits_until_an_earlier_write_is_acknowledged(int fence, int sent) {
    a.buffer.putBytes(0, new byte[] {FIRST, SECOND});
    world.wire.lose(number -> number < 2);
    a.rdmaWrite(b, 0, 0, 1).post();
    a.rdmaWrite(b, 1, 0, 1).flags(ControlSegment.CQ_UPDATE | fence).post();
    world.settle();
    assertThat(world.wire.opcodes.stream().filter(opcode -> opcode == BthOpcode.WRITE_ONLY))
        .hasSize(sent);
    assertThat(a.pollSend().isError()).isFalse();
    assertThat(a.pollSend().isError()).isFalse();
    assertThat(b.buffer.getBytes(0, 1)).containsExactly(SECOND);
  }
}
