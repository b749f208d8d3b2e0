package dev.doorbell.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.push.PushHeader;
import dev.doorbell.core.push.generated.PushCredit;
import dev.doorbell.core.push.generated.PushRingView;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The host's views agree with push_abi.h, byte for byte. */
class PushAbiTest {
  private final AbiHeader header;

  PushAbiTest() throws IOException {
    header = AbiHeader.read("push_abi.h");
  }

  @Test
  void structures_have_the_size_that_the_host_allocates() {
    assertThat(header.structs.keySet())
        .containsExactlyInAnyOrder(
            "doorbell_push_header",
            "doorbell_push_credit",
            "doorbell_push_counters",
            "doorbell_push_ring");
    assertThat(header.struct("doorbell_push_header").bytes()).isEqualTo(PushHeader.BYTES);
    assertThat(header.struct("doorbell_push_credit").bytes()).isEqualTo(PushCredit.BYTES);
    assertThat(header.struct("doorbell_push_counters").bytes())
        .isEqualTo(PushRingView.COUNTERS_BYTES);
    assertThat(header.struct("doorbell_push_ring").bytes()).isEqualTo(PushRingView.BYTES);
  }

  @Test
  void constants_have_the_values_that_the_host_uses() {
    assertThat(header.constants)
        .containsOnly(
            Map.entry("DOORBELL_PUSH_STAGED", (long) PushHeader.FLAG_STAGED),
            Map.entry("DOORBELL_PUSH_CHECKED", (long) PushHeader.FLAG_CHECKED),
            Map.entry("DOORBELL_PUSH_LOSSY", (long) PushRingView.LOSSY),
            Map.entry("DOORBELL_PUSH_CHECKSUMS", (long) PushRingView.CHECKSUMS),
            Map.entry("DOORBELL_PUSH_NO_CREDITS", (long) PushRingView.NO_CREDITS),
            Map.entry("DOORBELL_PUSH_NO_FENCE", (long) PushRingView.NO_FENCE),
            Map.entry("DOORBELL_PUSH_NO_FLUSH", (long) PushRingView.NO_FLUSH));
  }

  @Test
  void fields_lie_where_the_host_looks_for_them() {
    AbiHeader.Struct message = header.struct("doorbell_push_header");
    assertThat(message.offset("index")).isEqualTo(PushHeader.INDEX);
    assertThat(message.offset("local")).isEqualTo(PushHeader.LOCAL);
    assertThat(message.offset("remote")).isEqualTo(PushHeader.REMOTE);
    assertThat(message.offset("bytes")).isEqualTo(PushHeader.LENGTH);
    assertThat(message.offset("destination")).isEqualTo(PushHeader.DESTINATION);
    assertThat(message.offset("checksum")).isEqualTo(PushHeader.CHECKSUM);
    assertThat(message.offset("flags")).isEqualTo(PushHeader.FLAGS);
    assertThat(message.offset("phase")).isEqualTo(PushHeader.PHASE);
    assertThat(message.offset("seal")).isEqualTo(PushHeader.SEAL);
    AbiHeader.Struct credit = header.struct("doorbell_push_credit");
    assertThat(credit.offset("released")).isEqualTo(PushCredit.RELEASED);
    assertThat(credit.offset("acknowledged")).isEqualTo(PushCredit.ACKNOWLEDGED);
    AbiHeader.Struct counters = header.struct("doorbell_push_counters");
    assertThat(counters.offset("reserved")).isEqualTo(PushRingView.COUNTERS_RESERVED);
    assertThat(counters.offset("seen")).isEqualTo(PushRingView.COUNTERS_SEEN);
    assertThat(counters.offset("rung")).isEqualTo(PushRingView.COUNTERS_RUNG);
    assertThat(counters.offset("dropped")).isEqualTo(PushRingView.COUNTERS_DROPPED);
    assertThat(counters.offset("pulled")).isEqualTo(PushRingView.COUNTERS_PULLED);
    assertThat(counters.offset("committed")).isEqualTo(PushRingView.COUNTERS_COMMITTED);
  }

  @Test
  void each_field_of_a_ring_is_written_where_the_kernel_reads_it() {
    byte[] bytes = new PushRingView(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14).encode();
    AbiHeader.Struct ring = header.struct("doorbell_push_ring");
    String[] fields = {
      "headers",
      "payload",
      "record",
      "doorbell",
      "credit",
      "counters",
      "deadline_ns",
      "entries",
      "slots",
      "slot_bytes",
      "batch",
      "number",
      "destinations",
      "first_destination"
    };
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < fields.length; i++) {
      AbiHeader.Field field = ring.field(fields[i]);
      long value =
          field.width() == Long.BYTES
              ? buffer.getLong(field.offset())
              : buffer.getInt(field.offset());
      assertThat(value).as(fields[i]).isEqualTo(i + 1);
    }
  }
}
