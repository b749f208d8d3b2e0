package dev.doorbell.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.CommandQueueView;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.core.queue.generated.OperationView;
import dev.doorbell.core.queue.generated.PeerView;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.core.queue.generated.SignalsView;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The host's views agree with abi.h, byte for byte. */
class AbiTest {
  private final AbiHeader header;

  AbiTest() throws IOException {
    header = AbiHeader.read();
  }

  @Test
  void structures_have_the_size_that_the_host_allocates() {
    assertThat(header.structs.keySet())
        .containsExactlyInAnyOrder(
            "doorbell_counters",
            "doorbell_error",
            "doorbell_command_queue",
            "doorbell_qp",
            "doorbell_job",
            "doorbell_signals",
            "doorbell_peer",
            "doorbell_operation");
    assertThat(bytes("doorbell_counters")).isEqualTo(QueuePairView.COUNTERS_BYTES);
    assertThat(bytes("doorbell_error")).isEqualTo(ErrorRecord.BYTES);
    assertThat(bytes("doorbell_command_queue")).isEqualTo(CommandQueueView.BYTES);
    assertThat(bytes("doorbell_qp")).isEqualTo(QueuePairView.BYTES);
    assertThat(bytes("doorbell_job")).isEqualTo(JobView.BYTES);
    assertThat(bytes("doorbell_signals")).isEqualTo(SignalsView.BYTES);
    assertThat(bytes("doorbell_peer")).isEqualTo(PeerView.BYTES);
    assertThat(bytes("doorbell_operation")).isEqualTo(OperationView.BYTES);
  }

  @Test
  void constants_have_the_values_that_the_host_uses() throws IllegalAccessException {
    int compared =
        compare("DOORBELL_", Abi.class, Map.of("VERSION", "ABI_VERSION"))
            + compare("DOORBELL_QP_", QueuePairView.class, "FLAG_")
            + compare("DOORBELL_PATH_", JobView.class, "PATH_")
            + compare("DOORBELL_SCOPE_", JobView.class, "SCOPE_")
            + compare("DOORBELL_OP_", JobView.class, "OP_")
            + compare("DOORBELL_OPERATION_", OperationView.class, "FLAG_");
    assertThat(header.constants.get("DOORBELL_RESERVED_BROKEN"))
        .isEqualTo(QueuePairView.RESERVED_BROKEN);
    assertThat(header.constants.get("DOORBELL_RESERVED_SHIFT"))
        .isEqualTo((long) QueuePairView.RESERVED_SHIFT);
    assertThat(compared + 2).as("constants of abi.h").isEqualTo(header.constants.size());
  }

  @Test
  void the_host_reads_each_counter_where_the_kernel_writes_it() {
    AbiHeader.Struct counters = header.struct("doorbell_counters");
    assertThat(counters.offset("reserved")).isEqualTo(QueuePairView.COUNTERS_RESERVED);
    assertThat(counters.offset("poller")).isEqualTo(QueuePairView.COUNTERS_POLLER);
    assertThat(counters.offset("rung")).isEqualTo(QueuePairView.COUNTERS_RUNG);
    assertThat(counters.offset("blueflame")).isEqualTo(QueuePairView.COUNTERS_BLUEFLAME);
    assertThat(counters.offset("completed")).isEqualTo(QueuePairView.COUNTERS_COMPLETED);
    assertThat(counters.offset("cq_index")).isEqualTo(QueuePairView.COUNTERS_CQ_INDEX);
    assertThat(counters.offset("poison")).isEqualTo(QueuePairView.COUNTERS_POISON);
  }

  @Test
  void counters_that_different_threads_write_lie_on_different_lines() {
    AbiHeader.Struct counters = header.struct("doorbell_counters");
    assertThat(counters.offset("reserved") / 128).isZero();
    assertThat(counters.offset("poller") / 128).isEqualTo(1);
    assertThat(counters.offset("rung") / 128).isEqualTo(2);
    assertThat(counters.offset("completed") / 128).isEqualTo(3);
  }

  @Test
  void a_queue_pair_is_encoded_where_the_kernel_reads_it() {
    QueuePairView view =
        new QueuePairView(101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 1, 2, 3, 4, 5, 6, 7, 8);
    Reader qp = new Reader("doorbell_qp", view.encode());
    assertThat(qp.read("sq_ring")).isEqualTo(101);
    assertThat(qp.read("sq_record")).isEqualTo(102);
    assertThat(qp.read("doorbell")).isEqualTo(103);
    assertThat(qp.read("cq_ring")).isEqualTo(104);
    assertThat(qp.read("cq_record")).isEqualTo(105);
    assertThat(qp.read("counters")).isEqualTo(106);
    assertThat(qp.read("error")).isEqualTo(107);
    assertThat(qp.read("commands")).isEqualTo(108);
    assertThat(qp.read("ring_request")).isEqualTo(109);
    assertThat(qp.read("deadline_ns")).isEqualTo(110);
    assertThat(qp.read("sq_blocks")).isEqualTo(1);
    assertThat(qp.read("cq_entries")).isEqualTo(2);
    assertThat(qp.read("qpn")).isEqualTo(3);
    assertThat(qp.read("flags")).isEqualTo(4);
    assertThat(qp.read("blueflame_bytes")).isEqualTo(5);
    assertThat(qp.read("batch")).isEqualTo(6);
    assertThat(qp.read("max_inline")).isEqualTo(7);
    assertThat(qp.read("number")).isEqualTo(8);
  }

  @Test
  void every_field_of_a_job_is_encoded_where_the_kernel_reads_it() throws IllegalAccessException {
    JobView view = new JobView();
    long value = 0x1122_3344;
    for (Field field : JobView.class.getFields()) {
      if (!Modifier.isStatic(field.getModifiers())) {
        value += 0x0101;
        if (field.getType() == long.class) {
          field.setLong(view, value);
        } else {
          field.setInt(view, (int) value);
        }
      }
    }
    Reader job = new Reader("doorbell_job", view.encode());
    int compared = 0;
    for (Field field : JobView.class.getFields()) {
      if (!Modifier.isStatic(field.getModifiers())) {
        String name = snake(field.getName());
        long expected = ((Number) field.get(view)).longValue();
        assertThat(job.read(name))
            .as(name)
            .isEqualTo(name.endsWith("_key") ? swapped((int) expected) : expected);
        compared++;
      }
    }
    assertThat(compared).isEqualTo(header.struct("doorbell_job").fields().size());
  }

  @Test
  void an_operation_is_encoded_where_the_kernel_reads_it() {
    OperationView view =
        new OperationView(101, 102, 103, 104, 105, 106, 107, 0x1100, 0x2200, 3, 4, 5);
    Reader operation = new Reader("doorbell_operation", view.encode());
    assertThat(operation.read("local")).isEqualTo(101);
    assertThat(operation.read("remote")).isEqualTo(102);
    assertThat(operation.read("bytes")).isEqualTo(103);
    assertThat(operation.read("operand")).isEqualTo(104);
    assertThat(operation.read("compare")).isEqualTo(105);
    assertThat(operation.read("signal")).isEqualTo(106);
    assertThat(operation.read("fetched")).isEqualTo(107);
    assertThat(operation.read("local_key")).isEqualTo(swapped(0x1100));
    assertThat(operation.read("remote_key")).isEqualTo(swapped(0x2200));
    assertThat(operation.read("opcode")).isEqualTo(3);
    assertThat(operation.read("queue_pair")).isEqualTo(4);
    assertThat(operation.read("flags")).isEqualTo(5);
  }

  @Test
  void signal_words_are_encoded_where_the_kernel_reads_them() {
    Reader signals =
        new Reader("doorbell_signals", new SignalsView(101, 102, 0x1100, 0x2200, 5).encode());
    assertThat(signals.read("own")).isEqualTo(101);
    assertThat(signals.read("remote")).isEqualTo(102);
    assertThat(signals.read("own_key")).isEqualTo(swapped(0x1100));
    assertThat(signals.read("remote_key")).isEqualTo(swapped(0x2200));
    assertThat(signals.read("count")).isEqualTo(5);
  }

  @Test
  void a_peer_is_encoded_where_the_kernel_reads_it() {
    Reader peer = new Reader("doorbell_peer", new PeerView(101, 102, 0x1100, 0x2200).encode());
    assertThat(peer.read("inbox")).isEqualTo(101);
    assertThat(peer.read("signals")).isEqualTo(102);
    assertThat(peer.read("inbox_key")).isEqualTo(swapped(0x1100));
    assertThat(peer.read("signals_key")).isEqualTo(swapped(0x2200));
  }

  @Test
  void a_command_queue_is_encoded_where_the_kernel_reads_it() {
    Reader queue =
        new Reader(
            "doorbell_command_queue", new CommandQueueView(101, 102, 103, 104, 5, 6).encode());
    assertThat(queue.read("ring")).isEqualTo(101);
    assertThat(queue.read("head")).isEqualTo(102);
    assertThat(queue.read("consumed")).isEqualTo(103);
    assertThat(queue.read("finished")).isEqualTo(104);
    assertThat(queue.read("entries")).isEqualTo(5);
    assertThat(queue.read("number")).isEqualTo(6);
  }

  @Test
  void an_error_record_is_read_where_the_kernel_wrote_it() {
    AbiHeader.Struct error = header.struct("doorbell_error");
    ByteBuffer bytes = ByteBuffer.allocate(error.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(error.offset("status"), 1);
    bytes.putInt(error.offset("qpn"), 2);
    bytes.putInt(error.offset("syndrome"), 3);
    bytes.putInt(error.offset("vendor_syndrome"), 4);
    bytes.putInt(error.offset("wqe_index"), 5);
    bytes.putInt(error.offset("opcode"), 6);
    bytes.putLong(error.offset("thread"), 7);
    bytes.putLong(error.offset("awaited"), 8);
    bytes.putLong(error.offset("completed"), 9);
    bytes.putLong(error.offset("time_ns"), 10);
    assertThat(ErrorRecord.decode(bytes.array()))
        .isEqualTo(new ErrorRecord(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  }

  private int bytes(String struct) {
    return header.struct(struct).bytes();
  }

  /** Compares the constants whose name begins alike; both sides must have all of them. */
  private int compare(String prefix, Class<?> host, String hostPrefix)
      throws IllegalAccessException {
    int compared = 0;
    for (Field field : host.getFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getName().startsWith(hostPrefix)) {
        same(prefix + field.getName().substring(hostPrefix.length()), field);
        compared++;
      }
    }
    return compared;
  }

  private int compare(String prefix, Class<?> host, Map<String, String> renamed)
      throws IllegalAccessException {
    int compared = 0;
    for (Field field : host.getFields()) {
      if (field.getType() == int.class && Modifier.isPublic(field.getModifiers())) {
        same(prefix + renamed.getOrDefault(field.getName(), field.getName()), field);
        compared++;
      }
    }
    return compared;
  }

  private void same(String name, Field field) throws IllegalAccessException {
    assertThat(header.constants).containsKey(name);
    assertThat(header.constants.get(name)).as(name).isEqualTo(field.getInt(null));
  }

  private static long swapped(int key) {
    return Integer.toUnsignedLong(BigEndian.swap(key));
  }

  private static String snake(String camel) {
    return camel.replaceAll("([A-Z])", "_$1").toLowerCase(java.util.Locale.ROOT);
  }

  /** A structure's bytes, read by field name. */
  private final class Reader {
    private final AbiHeader.Struct struct;
    private final ByteBuffer bytes;

    Reader(String name, byte[] encoded) {
      struct = header.struct(name);
      assertThat(encoded).hasSize(struct.bytes());
      bytes = ByteBuffer.wrap(encoded).order(ByteOrder.LITTLE_ENDIAN);
    }

    long read(String field) {
      int offset = struct.offset(field);
      return struct.field(field).width() == 8
          ? bytes.getLong(offset)
          : Integer.toUnsignedLong(bytes.getInt(offset));
    }
  }
}
