package dev.doorbell.core.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.efa.generated.EfaView;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.queue.CHeader.Field;
import dev.doorbell.core.queue.CHeader.Struct;
import dev.doorbell.core.queue.generated.CommandQueueView;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.core.queue.generated.OperationView;
import dev.doorbell.core.queue.generated.QueuePairView;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java views against the headers that kernels are compiled with. */
class AbiTest {
  private static final ValueLayout.OfLong U64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final CHeader ABI = read("kernels/include/doorbell/abi.h");
  private static final CHeader COMMANDS = read("kernels/include/doorbell/command_queue.cuh");
  private static final Set<String> KEYS = Set.of("localKey", "remoteKey", "stagingKey");

  /** C names of Java fields, where they are not the same in another spelling. */
  private static final Map<String, String> QUEUE_PAIR_NAMES =
      Map.ofEntries(
          Map.entry("sendRing", "sq_ring"),
          Map.entry("sendRecord", "sq_record"),
          Map.entry("completionRing", "cq_ring"),
          Map.entry("completionRecord", "cq_record"),
          Map.entry("deadlineNanos", "deadline_ns"),
          Map.entry("sendBlocks", "sq_blocks"),
          Map.entry("completionEntries", "cq_entries"),
          Map.entry("number24", "qpn"),
          Map.entry("blueFlameBytes", "blueflame_bytes"),
          Map.entry("index", "number"));

  private static CHeader read(String path) {
    try {
      return CHeader.read(path);
    } catch (IOException e) {
      throw new IllegalStateException("cannot read " + path, e);
    }
  }

  private static Struct struct(CHeader header, String name) {
    return Objects.requireNonNull(header.structs().get(name), name);
  }

  private static String cName(String javaName, Map<String, String> exceptions) {
    String exception = exceptions.get(javaName);
    return exception != null
        ? exception
        : javaName.replaceAll("([A-Z])", "_$1").toLowerCase(java.util.Locale.ROOT);
  }

  private static boolean isPadding(String field) {
    return field.equals("reserved") || field.endsWith("_pad");
  }

  /** A value for a field of {@code type} that no other field has in any 4 of its bytes. */
  private static Object value(Class<?> type, int ordinal) {
    int low = 0x1001_0101 * (ordinal + 1);
    return type == long.class ? (Object) (((long) ~low << 32) | low) : (Object) low;
  }

  private static void assertFieldsAreWhereTheHeaderSays(
      Struct struct, byte[] encoded, Map<String, Object> values, Map<String, String> names) {
    assertThat(encoded).hasSize(struct.bytes());
    Set<String> left = new TreeSet<>(struct.fields().keySet());
    left.removeIf(AbiTest::isPadding);
    MemorySegment bytes = MemorySegment.ofArray(encoded);
    values.forEach(
        (javaName, value) -> {
          String name = cName(javaName, names);
          assertThat(left.remove(name)).as("%s is a field of the header", name).isTrue();
          Field field = Objects.requireNonNull(struct.fields().get(name));
          if (value instanceof Long number) {
            assertThat(field.width()).as(name).isEqualTo(Long.BYTES);
            assertThat(bytes.get(U64, field.offset())).as(name).isEqualTo(number);
          } else {
            assertThat(field.width()).as(name).isEqualTo(Integer.BYTES);
            int stored = bytes.get(U32, field.offset());
            int number = (Integer) value;
            assertThat(stored)
                .as(name)
                .isEqualTo(KEYS.contains(javaName) ? BigEndian.swap(number) : number);
          }
        });
    assertThat(left).as("fields of the header that Java does not know").isEmpty();
    struct
        .fields()
        .forEach(
            (name, field) -> {
              if (isPadding(name)) {
                int end = field.offset() + field.width() * field.elements();
                assertThat(Arrays.copyOfRange(encoded, field.offset(), end))
                    .as(name)
                    .containsOnly(0);
              }
            });
  }

  private static <T> T record(Class<T> type, Map<String, Object> values)
      throws ReflectiveOperationException {
    RecordComponent[] components = type.getRecordComponents();
    Object[] arguments = new Object[components.length];
    Class<?>[] types = new Class<?>[components.length];
    for (int i = 0; i < components.length; i++) {
      types[i] = components[i].getType();
      arguments[i] = value(types[i], i);
      values.put(components[i].getName(), arguments[i]);
    }
    Constructor<T> constructor = type.getDeclaredConstructor(types);
    return constructor.newInstance(arguments);
  }

  @Test
  void a_queue_pair_is_laid_out_as_the_header_says() throws ReflectiveOperationException {
    Map<String, Object> values = new HashMap<>();
    byte[] encoded = record(QueuePairView.class, values).encode();
    assertThat(QueuePairView.BYTES).isEqualTo(encoded.length);
    assertFieldsAreWhereTheHeaderSays(
        struct(ABI, "doorbell_qp"), encoded, values, QUEUE_PAIR_NAMES);
  }

  @Test
  void queues_of_efa_are_laid_out_as_their_header_says() throws ReflectiveOperationException {
    Map<String, Object> values = new HashMap<>();
    byte[] encoded = record(EfaView.class, values).encode();
    assertThat(EfaView.BYTES).isEqualTo(encoded.length);
    assertFieldsAreWhereTheHeaderSays(
        struct(read("kernels/include/doorbell/efa_abi.h"), "doorbell_efa"),
        encoded,
        values,
        Map.of());
  }

  @Test
  void a_job_is_laid_out_as_the_header_says() throws ReflectiveOperationException {
    JobView job = new JobView();
    Map<String, Object> values = new HashMap<>();
    int ordinal = 0;
    for (java.lang.reflect.Field field : JobView.class.getFields()) {
      if (!Modifier.isStatic(field.getModifiers())) {
        Object value = value(field.getType(), ordinal++);
        field.set(job, value);
        values.put(field.getName(), value);
      }
    }
    assertThat(JobView.BYTES).isEqualTo(job.encode().length);
    assertFieldsAreWhereTheHeaderSays(struct(ABI, "doorbell_job"), job.encode(), values, Map.of());
  }

  @Test
  void an_operation_is_laid_out_as_the_header_says() throws ReflectiveOperationException {
    Map<String, Object> values = new HashMap<>();
    byte[] encoded = record(OperationView.class, values).encode();
    assertThat(OperationView.BYTES).isEqualTo(encoded.length);
    assertFieldsAreWhereTheHeaderSays(struct(ABI, "doorbell_operation"), encoded, values, Map.of());
  }

  @Test
  void a_command_queue_is_laid_out_as_the_header_says() throws ReflectiveOperationException {
    Map<String, Object> values = new HashMap<>();
    byte[] encoded = record(CommandQueueView.class, values).encode();
    assertThat(CommandQueueView.BYTES).isEqualTo(encoded.length);
    assertThat(CommandQueueView.ENTRY_BYTES).isEqualTo(CommandEntry.WORDS * Long.BYTES);
    assertFieldsAreWhereTheHeaderSays(
        struct(ABI, "doorbell_command_queue"), encoded, values, Map.of());
  }

  @Test
  void an_error_record_is_read_where_the_header_says() throws ReflectiveOperationException {
    Struct struct = struct(ABI, "doorbell_error");
    assertThat(struct.bytes()).isEqualTo(ErrorRecord.BYTES);
    byte[] encoded = new byte[struct.bytes()];
    MemorySegment bytes = MemorySegment.ofArray(encoded);
    Map<String, Long> written = new TreeMap<>();
    struct
        .fields()
        .forEach(
            (name, field) -> {
              if (!isPadding(name)) {
                long value = 0x1111_2222_0000_0000L * (written.size() + 1) + written.size() + 77;
                if (field.width() == Long.BYTES) {
                  bytes.set(U64, field.offset(), value);
                } else {
                  bytes.set(U32, field.offset(), (int) value);
                }
                written.put(name, field.width() == Long.BYTES ? value : (int) value);
              }
            });
    ErrorRecord record = ErrorRecord.decode(encoded);
    Map<String, Long> read = new TreeMap<>();
    Map<String, String> names = Map.of("number24", "qpn", "timeNanos", "time_ns");
    for (RecordComponent component : ErrorRecord.class.getRecordComponents()) {
      Number value = (Number) component.getAccessor().invoke(record);
      read.put(cName(component.getName(), names), value.longValue());
    }
    assertThat(read).isEqualTo(written);
  }

  @Test
  void counters_are_where_the_header_says_each_group_on_lines_of_its_own() {
    Struct struct = struct(ABI, "doorbell_counters");
    Map<String, Integer> offsets = new TreeMap<>();
    struct
        .fields()
        .forEach(
            (name, field) -> {
              if (!isPadding(name) || name.equals("reserved")) {
                offsets.put("COUNTERS_" + name.toUpperCase(java.util.Locale.ROOT), field.offset());
              }
            });
    assertThat(struct.bytes()).isEqualTo(QueuePairView.COUNTERS_BYTES);
    Map<String, Long> java = constants(QueuePairView.class, "COUNTERS_");
    java.remove("COUNTERS_BYTES");
    assertThat(java)
        .isEqualTo(
            offsets.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, e -> (long) e.getValue())));
    assertThat(
            List.of(
                QueuePairView.COUNTERS_RESERVED,
                QueuePairView.COUNTERS_POLLER,
                QueuePairView.COUNTERS_RUNG,
                QueuePairView.COUNTERS_COMPLETED))
        .allMatch(offset -> offset % 128 == 0);
  }

  @Test
  void the_producers_structure_is_laid_out_as_the_header_says() {
    Struct struct = struct(COMMANDS, "doorbell_command_producer");
    assertThat(struct.bytes()).isEqualTo(CommandEntry.PRODUCER_BYTES);
    Map<String, Long> offsets = new TreeMap<>();
    struct
        .fields()
        .forEach(
            (name, field) -> {
              if (!isPadding(name)) {
                offsets.put(
                    "PRODUCER_" + name.toUpperCase(java.util.Locale.ROOT), (long) field.offset());
              }
            });
    Map<String, Long> java = constants(CommandEntry.class, "PRODUCER_");
    java.remove("PRODUCER_BYTES");
    assertThat(java).isEqualTo(offsets);
  }

  @Test
  void every_constant_of_the_headers_has_its_value_in_java_and_the_other_way_round() {
    Map<String, Long> c = new TreeMap<>(ABI.constants());
    c.putAll(COMMANDS.constants());
    Map<String, Long> java = new TreeMap<>();
    java.put("DOORBELL_ABI_VERSION", (long) Abi.VERSION);
    constants(Abi.class, "ERROR_").forEach((name, value) -> java.put("DOORBELL_" + name, value));
    java.put("DOORBELL_OK", (long) Abi.OK);
    add(java, QueuePairView.class, "FLAG_", "DOORBELL_QP_");
    java.put("DOORBELL_RESERVED_BROKEN", QueuePairView.RESERVED_BROKEN);
    java.put("DOORBELL_RESERVED_SHIFT", (long) QueuePairView.RESERVED_SHIFT);
    add(java, JobView.class, "PATH_", "DOORBELL_PATH_");
    add(java, JobView.class, "SCOPE_", "DOORBELL_SCOPE_");
    add(java, JobView.class, "OP_", "DOORBELL_OP_");
    add(java, OperationView.class, "FLAG_", "DOORBELL_OPERATION_");
    add(java, CommandEntry.class, "FLAG_", "DOORBELL_COMMAND_");
    constants(CommandEntry.class, "OP_")
        .forEach(
            (name, value) -> {
              if (!java.containsKey("DOORBELL_" + name)) {
                java.put("DOORBELL_COMMAND_" + name.substring("OP_".length()), value);
              } else {
                assertThat(value).as(name).isEqualTo(java.get("DOORBELL_" + name));
              }
            });
    java.put("DOORBELL_COMMAND_INLINE_BYTES", (long) CommandEntry.INLINE_BYTES);
    java.put("DOORBELL_COMMANDS_FAILED", CommandEntry.FINISHED_FAILED);
    assertThat(java).isEqualTo(c);
  }

  @Test
  void every_status_has_a_text() {
    for (long status : constants(Abi.class, "ERROR_").values()) {
      assertThat(Abi.statusText((int) status)).doesNotContain("unknown");
    }
    assertThat(Abi.statusText(Abi.OK)).isEqualTo("ok");
    assertThat(Abi.statusText(99)).isEqualTo("unknown status 99");
  }

  private static void add(
      Map<String, Long> to, Class<?> holder, String javaPrefix, String cPrefix) {
    constants(holder, javaPrefix)
        .forEach((name, value) -> to.put(cPrefix + name.substring(javaPrefix.length()), value));
  }

  private static Map<String, Long> constants(Class<?> holder, String prefix) {
    Map<String, Long> values = new TreeMap<>();
    for (java.lang.reflect.Field field : holder.getFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getName().startsWith(prefix)) {
        try {
          values.put(field.getName(), ((Number) field.get(null)).longValue());
        } catch (IllegalAccessException e) {
          throw new IllegalStateException(e);
        }
      }
    }
    return values;
  }

  @Test
  void a_c_compiler_lays_the_structures_out_the_same(@TempDir Path directory)
      throws IOException, InterruptedException {
    assumeTrue(onPath("gcc"), "no gcc on PATH; 'apt-get install gcc' enables this test");
    Map<String, Long> expected = new TreeMap<>();
    StringBuilder lines = new StringBuilder();
    ABI.structs()
        .forEach(
            (struct, layout) -> {
              put(expected, lines, "sizeof(struct " + struct + ")", layout.bytes());
              layout
                  .fields()
                  .forEach(
                      (name, field) -> {
                        String at = "struct " + struct + ", " + name;
                        put(expected, lines, "offsetof(" + at + ")", field.offset());
                        String member = "((struct " + struct + " *)0)->" + name;
                        put(
                            expected,
                            lines,
                            "sizeof(" + member + ")",
                            (long) field.width() * field.elements());
                      });
            });
    ABI.constants().forEach((name, value) -> put(expected, lines, name, value));
    String program =
        """
        #include <stddef.h>
        #include <stdio.h>
        #include "doorbell/abi.h"
        int main(void) {
        %s  return 0;
        }
        """
            .formatted(lines);
    Files.writeString(directory.resolve("abi.c"), program);
    Path include = CHeader.locate("kernels/include");
    String compiler =
        output(
            directory,
            "gcc",
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-I",
            include.toString(),
            "-o",
            "abi",
            "abi.c");
    assertThat(compiler).isEmpty();
    Map<String, Long> printed = new TreeMap<>();
    for (String line : output(directory, directory.resolve("abi").toString()).lines().toList()) {
      int equals = line.lastIndexOf('=');
      printed.put(line.substring(0, equals), Long.parseUnsignedLong(line.substring(equals + 1)));
    }
    assertThat(printed).isEqualTo(expected);
  }

  private static void put(
      Map<String, Long> expected, StringBuilder lines, String expression, long value) {
    expected.put(expression, value);
    lines.append(
        "  printf(\"%%s=%%llu\\n\", \"%1$s\", (unsigned long long)(%1$s));\n"
            .formatted(expression));
  }

  private static boolean onPath(String program) {
    String path = System.getenv("PATH");
    return path != null
        && Arrays.stream(path.split(java.io.File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  private static String output(Path directory, String... command)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
