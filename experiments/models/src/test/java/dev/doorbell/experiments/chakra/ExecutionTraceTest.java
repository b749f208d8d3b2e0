package dev.doorbell.experiments.chakra;

import static dev.doorbell.experiments.chakra.TraceWriter.COLLECTIVE;
import static dev.doorbell.experiments.chakra.TraceWriter.COMPUTE;
import static dev.doorbell.experiments.chakra.TraceWriter.METADATA;
import static dev.doorbell.experiments.chakra.TraceWriter.RECEIVE;
import static dev.doorbell.experiments.chakra.TraceWriter.SEND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.chakra.ExecutionTrace.Node;
import dev.doorbell.experiments.chakra.ExecutionTrace.Operation;
import dev.doorbell.experiments.chakra.ExecutionTrace.Unit;
import dev.doorbell.experiments.collective.Collective;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Files of traces are read, and wrong ones are refused. */
class ExecutionTraceTest {
  private static final long ALL_GATHER = 2;
  private static final long BARRIER = 9;

  @TempDir private Path folder;

  private static Map<String, Object> collective(long type, long size) {
    return Map.of("comm_type", type, "comm_size", size);
  }

  private static Map<String, Object> to(int rank) {
    return Map.of("comm_dst", rank, "comm_size", 100L);
  }

  private static ExecutionTrace read(String groups, byte[]... ranks) throws ConfigException {
    return ExecutionTrace.read(
        "t", ranks.length, groups, rank -> new ByteArrayInputStream(ranks[rank]));
  }

  @Test
  void nodes_come_by_id_with_their_dependencies_and_operations() throws Exception {
    TraceWriter first =
        new TraceWriter()
            .node(9, COLLECTIVE, 3, collective(ALL_GATHER, 100), 7, 2, 5)
            .node(2, METADATA, 8, Map.of())
            .node(5, COMPUTE, 30, Map.of("is_cpu_op", true))
            .node(7, COMPUTE, 40, Map.of("num_ops", 6L, "tensor_size", 8L), 2)
            .node(11, SEND, 0, to(1));
    TraceWriter second =
        new TraceWriter()
            .node(0, COLLECTIVE, 3, collective(ALL_GATHER, 100))
            .node(1, RECEIVE, 0, Map.of("comm_src", 0, "comm_size", 100L));
    ExecutionTrace trace = read("{}", first.bytes(), second.bytes());
    List<Node> nodes = trace.ranks().getFirst();
    assertThat(nodes).extracting(Node::id).containsExactly(2L, 5L, 7L, 9L, 11L);
    assertThat(nodes)
        .extracting(Node::unit)
        .containsExactly(Unit.NONE, Unit.CPU, Unit.COMPUTE, Unit.COMMUNICATION, Unit.COMMUNICATION);
    assertThat(nodes).extracting(Node::micros).containsExactly(0L, 30L, 40L, 0L, 0L);
    assertThat(nodes.get(2).ops()).isEqualTo(6);
    assertThat(nodes.get(2).bytes()).isEqualTo(8);
    assertThat(nodes.get(3).after()).containsExactly(2, 0, 1);
    // A rank's 100 bytes become whole lines of 16 of each block.
    assertThat(trace.operations())
        .containsExactly(
            new Operation(Collective.ALL_GATHER, List.of(0, 1), 224),
            new Operation(Collective.BROADCAST, List.of(0, 1), 100));
    assertThat(trace.ranks().get(1)).extracting(Node::operation).containsExactly(0, 1);
    assertThat(ExecutionTrace.waiting(nodes)[0]).containsExactlyInAnyOrder(2, 3);
  }

  @Test
  void groups_have_operations_of_their_own() throws Exception {
    byte[] inner =
        new TraceWriter()
            .node(1, COLLECTIVE, 0, Map.of("comm_type", BARRIER, "pg_name", "a"))
            .bytes();
    byte[] outer =
        new TraceWriter()
            .node(1, COLLECTIVE, 0, Map.of("comm_type", BARRIER, "pg_name", "b"))
            .bytes();
    byte[] alone =
        new TraceWriter()
            .node(1, COLLECTIVE, 0, Map.of("comm_type", BARRIER, "pg_name", "c"))
            .bytes();
    ExecutionTrace trace =
        read("{\"a\": [2, 1], \"b\": [0, 3], \"c\": [4]}", outer, inner, inner, outer, alone);
    assertThat(trace.operations())
        .extracting(Operation::members)
        .containsExactly(List.of(0, 3), List.of(2, 1));
    assertThat(trace.ranks().get(4).getFirst().operation()).isEqualTo(ExecutionTrace.ALONE);
  }

  private static Arguments refused(String message, TraceWriter first) {
    return Arguments.of(message, first);
  }

  static List<Arguments> wrong() {
    return List.of(
        refused("t.0.et, node 1  DB-P038  a node of type 0", one(0, Map.of())),
        refused("a node of type 2", one(2, Map.of())),
        refused("comm_type 3", one(COLLECTIVE, collective(3, 8))),
        refused("comm_type 10", one(COLLECTIVE, collective(10, 8))),
        refused("comm_size 0", one(COLLECTIVE, Map.of("comm_type", 0L))),
        refused("comm_size -1", one(COLLECTIVE, collective(0, -1))),
        refused("comm_size 2147483648", one(COLLECTIVE, collective(0, 1L << 31))),
        refused("comm_size 1073741824", one(COLLECTIVE, collective(ALL_GATHER, 1L << 30))),
        refused("no group 'x' with rank 0", one(COLLECTIVE, Map.of("pg_name", "x"))),
        refused(
            "no group '' with rank 0",
            one(COLLECTIVE, Map.of("involved_dim", new boolean[] {true, false}))),
        refused("from rank 0 to rank 0", one(SEND, to(0))),
        refused("from rank 0 to rank 2", one(SEND, to(2))),
        refused("from rank 0 to rank -1", one(SEND, Map.of("comm_size", 8L))),
        refused("from rank -1 to rank 0", one(RECEIVE, Map.of("comm_size", 8L))),
        refused("no such node of rank 1", one(SEND, to(1))),
        refused("no such node of rank 1", one(COLLECTIVE, collective(0, 8))),
        refused("num_ops -1", one(COMPUTE, Map.of("num_ops", -1L))),
        refused("duration -1", new TraceWriter().node(1, COMPUTE, -1, Map.of())),
        refused("the file lacks node 7", new TraceWriter().node(1, COMPUTE, 1, Map.of(), 7)),
        refused(
            "node 1  DB-P038  it waits for itself", new TraceWriter().node(1, 4, 1, Map.of(), 1)),
        refused(
            "node 2  DB-P038  it waits for itself",
            new TraceWriter()
                .node(1, COMPUTE, 1, Map.of())
                .node(2, COMPUTE, 1, Map.of(), 3, 1)
                .node(3, COMPUTE, 1, Map.of(), 2)),
        refused(
            "a second node has this id",
            new TraceWriter().node(1, COMPUTE, 1, Map.of()).node(1, COMPUTE, 1, Map.of())));
  }

  private static TraceWriter one(int type, Map<String, Object> attributes) {
    return new TraceWriter().node(1, type, 0, attributes);
  }

  @ParameterizedTest
  @MethodSource("wrong")
  void what_cannot_be_executed_is_refused_by_file_and_node(String message, TraceWriter first) {
    ConfigException refused =
        catchThrowableOfType(
            ConfigException.class, () -> read("{}", first.bytes(), new TraceWriter().bytes()));
    assertThat(refused).isNotNull();
    assertThat(refused.problems().getFirst().text()).contains("t.0.et, node", message, "  fix  ");
  }

  @Test
  void ranks_that_meet_in_different_operations_are_named() {
    byte[] first = one(COLLECTIVE, collective(0, 8)).bytes();
    byte[] second = one(COLLECTIVE, collective(0, 12)).bytes();
    ConfigException refused =
        catchThrowableOfType(ConfigException.class, () -> read("{}", first, second));
    assertThat(refused.problems().getFirst().text()).contains("t.1.et", "node 1 of rank 0");
  }

  @Test
  void no_beginning_of_a_file_is_a_whole_one() {
    byte[] whole =
        new TraceWriter()
            .node(1, COMPUTE, 5, Map.of())
            .node(2, COLLECTIVE, 0, collective(0, 64), 1)
            .bytes();
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      ConfigException refused =
          catchThrowableOfType(ConfigException.class, () -> read("{}", whole, cut));
      assertThat(refused).as("%d bytes", length).isNotNull();
    }
  }

  @Test
  void a_length_that_nothing_has_is_refused_before_memory_is_taken() {
    byte[] huge = {7, 10, 5, '0', '.', '0', '.', '4', -1, -1, -1, -1, 7};
    ConfigException refused =
        catchThrowableOfType(ConfigException.class, () -> read("{}", huge, huge));
    assertThat(refused.problems().getFirst().text())
        .contains("t.0.et", "message 1: it has 2147483647 bytes");
  }

  @Test
  void a_node_in_the_place_of_the_metadata_is_not_left_out() {
    byte[] whole = one(COMPUTE, Map.of()).bytes();
    byte[] without = Arrays.copyOfRange(whole, 8, whole.length);
    ConfigException refused =
        catchThrowableOfType(ConfigException.class, () -> read("{}", without, whole));
    assertThat(refused.problems().getFirst().text()).contains("no GlobalMetadata");
  }

  @Test
  void files_are_found_by_folder_and_by_name() throws Exception {
    TraceWriter barrier = one(COLLECTIVE, Map.of("comm_type", BARRIER));
    TraceWriter.write(folder, barrier, barrier);
    assertThat(ExecutionTrace.read(folder).ranks()).hasSize(2);
    Files.writeString(folder.resolve("other.0.et"), "");
    assertThat(ExecutionTrace.read(folder.resolve("t")).operations()).hasSize(1);
    assertThat(catchThrowableOfType(ConfigException.class, () -> ExecutionTrace.read(folder)))
        .hasMessageContaining("3 files NAME.RANK.et of 2 traces");
    Files.move(folder.resolve("t.1.et"), folder.resolve("t.2.et"));
    assertThat(
            catchThrowableOfType(
                ConfigException.class, () -> ExecutionTrace.read(folder.resolve("t"))))
        .hasMessageContaining("t.1.et");
    assertThat(
            catchThrowableOfType(
                ConfigException.class, () -> ExecutionTrace.read(folder.resolve("no/t"))))
        .hasMessageContaining("cannot be read");
  }

  @Test
  void a_file_of_groups_names_ranks_of_the_trace_once() {
    byte[] none = new TraceWriter().bytes();
    for (String groups : List.of("{\"1\": [0, 2]}", "{\"1\": [0, 0]}", "{\"1\": [\"a\"]}", "{")) {
      ConfigException refused =
          catchThrowableOfType(ConfigException.class, () -> read(groups, none, none));
      assertThat(refused).as(groups).hasMessageContaining("t.json");
    }
  }
}
