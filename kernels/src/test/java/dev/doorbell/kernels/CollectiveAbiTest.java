package dev.doorbell.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.queue.generated.StepView;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The host's view of a step agrees with collective_abi.h, byte for byte. */
class CollectiveAbiTest {
  private final AbiHeader header;

  CollectiveAbiTest() throws IOException {
    header = AbiHeader.read("collective_abi.h");
  }

  @Test
  void each_field_of_a_step_is_written_where_the_kernel_reads_it() {
    byte[] bytes = new byte[2 * StepView.BYTES];
    new StepView(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
        .encode(bytes, StepView.BYTES);
    AbiHeader.Struct step = header.struct("doorbell_step");
    assertThat(step.bytes()).isEqualTo(StepView.BYTES);
    String[] fields = {
      "wait_peer",
      "wait_flag",
      "wait_flags",
      "combine",
      "target",
      "first",
      "second",
      "bytes",
      "put_peer",
      "put_flag",
      "put_flags",
      "put",
      "put_source",
      "put_target",
      "put_bytes",
      "packed"
    };
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < fields.length; i++) {
      AbiHeader.Field field = step.field(fields[i]);
      int at = StepView.BYTES + field.offset();
      long value = field.width() == Long.BYTES ? buffer.getLong(at) : buffer.getInt(at);
      assertThat(value).as(fields[i]).isEqualTo(i + 1);
    }
  }

  @Test
  void constants_have_the_values_that_the_host_uses() {
    assertThat(header.constants)
        .containsOnly(
            Map.entry("DOORBELL_COMBINE_NONE", (long) StepView.COMBINE_NONE),
            Map.entry("DOORBELL_COMBINE_COPY", (long) StepView.COMBINE_COPY),
            Map.entry("DOORBELL_COMBINE_REDUCE", (long) StepView.COMBINE_REDUCE),
            Map.entry("DOORBELL_COMBINE_SWITCH", (long) StepView.COMBINE_SWITCH),
            Map.entry("DOORBELL_COMBINE_PACKED", (long) StepView.COMBINE_PACKED),
            Map.entry("DOORBELL_PUT_NONE", (long) StepView.PUT_NONE),
            Map.entry("DOORBELL_PUT_DATA", (long) StepView.PUT_DATA),
            Map.entry("DOORBELL_PUT_PACKED", (long) StepView.PUT_PACKED),
            Map.entry("DOORBELL_PUT_INLINE", (long) StepView.PUT_INLINE),
            Map.entry("DOORBELL_PUT_NEAR", (long) StepView.PUT_NEAR),
            Map.entry("DOORBELL_TYPE_F32", 0L),
            Map.entry("DOORBELL_TYPE_F16", 1L),
            Map.entry("DOORBELL_TYPE_BF16", 2L),
            Map.entry("DOORBELL_TYPE_I32", 3L),
            Map.entry("DOORBELL_REDUCE_SUM", 0L),
            Map.entry("DOORBELL_REDUCE_MAX", 1L),
            Map.entry("DOORBELL_REDUCE_MIN", 2L));
  }
}
