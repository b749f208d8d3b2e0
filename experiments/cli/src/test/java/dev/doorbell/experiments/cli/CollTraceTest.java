package dev.doorbell.experiments.cli;

import static dev.doorbell.experiments.chakra.TraceWriter.COLLECTIVE;
import static dev.doorbell.experiments.chakra.TraceWriter.COMPUTE;
import static dev.doorbell.experiments.chakra.TraceWriter.METADATA;
import static dev.doorbell.experiments.chakra.TraceWriter.RECEIVE;
import static dev.doorbell.experiments.chakra.TraceWriter.SEND;
import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.chakra.TraceWriter;
import dev.doorbell.experiments.cli.command.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Execution traces in virtual time, and lines as ASTRA-sim prints them. */
class CollTraceTest {
  /** Parsers of ASTRA-sim's log look for this line. */
  private static final Pattern LINE =
      Pattern.compile(
          "sys\\[(\\d+)\\] finished, (\\d+) cycles, exposed communication (\\d+) cycles\\.");

  private static final Map<String, Object> ALL_REDUCE = Map.of("comm_type", 0L, "comm_size", 4096L);

  @TempDir private Path folder;
  private final RealSession session = new RealSession();

  /** Times of a rank, in nanoseconds. */
  private record Times(long finish, long exposed) {
    long compute() {
      return finish - exposed;
    }
  }

  private ExitCode type(String... settings) {
    List<String> words = new ArrayList<>(List.of("coll", "--trace", folder.toString()));
    words.addAll(List.of("--out", folder.resolve("runs").toString()));
    for (String setting : settings) {
      words.addAll(List.of("-s", setting));
    }
    return session.type(words.toArray(String[]::new));
  }

  private List<Times> run(String[] settings, TraceWriter... ranks) throws Exception {
    TraceWriter.write(folder, ranks);
    assertThat(type(settings)).as(session.out() + session.err()).isEqualTo(ExitCode.OK);
    List<Times> times = new ArrayList<>();
    for (Matcher line = LINE.matcher(session.out()); line.find(); ) {
      assertThat(Integer.parseInt(line.group(1))).isEqualTo(times.size());
      times.add(new Times(Long.parseLong(line.group(2)), Long.parseLong(line.group(3))));
    }
    assertThat(times).hasSize(ranks.length);
    return times;
  }

  private List<Times> run(TraceWriter... ranks) throws Exception {
    return run(new String[0], ranks);
  }

  private static TraceWriter trace() {
    return new TraceWriter();
  }

  @Test
  void a_gpu_computes_one_node_after_the_other_and_the_cpu_beside_it() throws Exception {
    TraceWriter busy =
        trace()
            .node(1, COMPUTE, 10, Map.of())
            .node(2, COMPUTE, 20, Map.of())
            .node(3, COMPUTE, 25, Map.of("is_cpu_op", true))
            .node(4, METADATA, 99, Map.of(), 3)
            .node(5, COMPUTE, 40, Map.of("is_cpu_op", true), 4, 1);
    List<Times> times = run(busy, trace());
    assertThat(times).containsExactly(new Times(65_000, 35_000), new Times(0, 0));
  }

  @Test
  void communication_is_hidden_behind_computation_that_does_not_need_it() throws Exception {
    TraceWriter alone = trace().node(1, COLLECTIVE, 0, ALL_REDUCE);
    List<Times> exposed = run(alone, alone);
    long nanos = exposed.getFirst().finish();
    assertThat(nanos).isBetween(5_000L, 100_000L);
    assertThat(exposed.getFirst().compute()).isZero();

    TraceWriter beside = trace().node(1, COMPUTE, 500, Map.of()).node(2, COLLECTIVE, 0, ALL_REDUCE);
    assertThat(run(beside, beside)).containsExactly(new Times(500_000, 0), new Times(500_000, 0));

    TraceWriter after =
        trace().node(1, COMPUTE, 500, Map.of()).node(2, COLLECTIVE, 0, ALL_REDUCE, 1);
    Times last = run(after, after).getFirst();
    assertThat(last.compute()).isEqualTo(500_000);
    // The phase of polls alone differs.
    assertThat(last.exposed()).isBetween(nanos - 2_000, nanos + 2_000);
  }

  @Test
  void a_receive_waits_for_a_send_that_is_late_while_its_rank_does_other_things() throws Exception {
    Map<String, Object> to = Map.of("comm_dst", 1, "comm_size", 8192L, "comm_tag", 3);
    Map<String, Object> from = Map.of("comm_src", 0, "comm_size", 8192L, "comm_tag", 3);
    List<Times> times =
        run(
            trace().node(1, COMPUTE, 300, Map.of()).node(2, SEND, 0, to, 1),
            trace()
                .node(1, RECEIVE, 0, from)
                .node(2, COMPUTE, 100, Map.of())
                .node(3, COMPUTE, 50, Map.of(), 1));
    assertThat(times.get(0).finish()).isBetween(300_000L, 340_000L);
    assertThat(times.get(1).finish()).isBetween(350_000L, 390_000L);
    assertThat(times.get(1).compute()).isEqualTo(150_000);
  }

  @Test
  void groups_of_some_ranks_communicate_over_the_same_hcas() throws Exception {
    Files.writeString(folder.resolve("t.json"), "{\"a\": [3, 1], \"b\": [0, 2]}");
    List<TraceWriter> ranks = new ArrayList<>();
    for (int rank = 0; rank < 4; rank++) {
      String group = rank % 2 == 1 ? "a" : "b";
      TraceWriter one = trace();
      for (int id = 1; id <= 7; id++) {
        // Reduce-scatter, all-gather, all-to-all, broadcast, reduce, all-reduce and barrier.
        long type = List.of(7L, 2L, 6L, 5L, 1L, 0L, 9L).get(id - 1);
        Map<String, Object> of = Map.of("comm_type", type, "comm_size", 1000L, "pg_name", group);
        one.node(id, COLLECTIVE, 0, of);
      }
      ranks.add(one);
    }
    List<Times> times = run(new String[] {"algorithm=ring"}, ranks.toArray(TraceWriter[]::new));
    assertThat(times).allSatisfy(each -> assertThat(each.finish()).isPositive());
  }

  @Test
  void ranks_of_a_node_store_and_others_put() throws Exception {
    TraceWriter alone = trace().node(1, COLLECTIVE, 0, ALL_REDUCE);
    List<Times> near = run(alone, alone);
    List<Times> stored = run(new String[] {"placement=h800-cx7"}, alone, alone);
    assertThat(stored.getFirst().finish()).isLessThan(near.getFirst().finish());
  }

  @Test
  void a_roofline_takes_the_slower_of_operations_and_bytes() throws Exception {
    TraceWriter ops =
        trace().node(1, COMPUTE, 7, Map.of("num_ops", 4_000_000_000L, "tensor_size", 1_000_000L));
    TraceWriter bytes =
        trace().node(1, COMPUTE, 7, Map.of("num_ops", 1_000L, "tensor_size", 1_000_000L));
    String[] roofline = {"peak_perf=2", "local_mem_bw=500"};
    assertThat(run(roofline, ops, bytes))
        .containsExactly(new Times(2_000_000, 0), new Times(2_000, 0));
    assertThat(run(ops, bytes)).containsExactly(new Times(7_000, 0), new Times(7_000, 0));
  }

  @Test
  void operations_without_a_duration_are_refused_before_anything_runs() throws Exception {
    TraceWriter.write(folder, trace().node(8, COMPUTE, 0, Map.of("num_ops", 4L)), trace());
    assertThat(type()).isEqualTo(ExitCode.CONFIG);
    assertThat(session.err()).contains("DB-P038", "rank 0, node 8", "use peak_perf");
  }

  @Test
  void a_file_that_ends_in_a_node_is_refused_by_its_name() throws Exception {
    TraceWriter.write(folder, trace(), trace().node(1, COMPUTE, 5, Map.of()));
    Path second = folder.resolve("t.1.et");
    byte[] whole = Files.readAllBytes(second);
    Files.write(second, Arrays.copyOf(whole, whole.length - 1));
    assertThat(type()).isEqualTo(ExitCode.CONFIG);
    assertThat(session.err()).contains("DB-P038", "t.1.et", "convert the trace again");
  }

  @Test
  void settings_of_one_collective_mean_nothing_to_a_trace() throws Exception {
    TraceWriter.write(folder, trace(), trace());
    assertThat(type("redop=max")).isEqualTo(ExitCode.CONFIG);
    assertThat(session.err()).contains("redop is max", "trace: PATH");
  }

  @Test
  void ranks_that_wait_for_each_other_are_named() throws Exception {
    Files.writeString(folder.resolve("t.json"), "{\"a\": [0, 1], \"b\": [0, 1]}");
    Map<String, Object> a = Map.of("comm_type", 9L, "pg_name", "a");
    Map<String, Object> b = Map.of("comm_type", 9L, "pg_name", "b");
    TraceWriter.write(
        folder,
        trace().node(1, COLLECTIVE, 0, a).node(2, COLLECTIVE, 0, b, 1),
        trace().node(3, COLLECTIVE, 0, b).node(4, COLLECTIVE, 0, a, 3));
    assertThat(type()).isNotEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("DB-P003", "rank 0 in node 1, rank 1 in node 3");
  }
}
