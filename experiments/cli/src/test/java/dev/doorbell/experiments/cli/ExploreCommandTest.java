package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code explore KERNEL}, as typed. */
class ExploreCommandTest {
  private static final Pattern SCHEDULE = Pattern.compile("--schedule (\\S+)");

  @TempDir private Path folder;
  private final Session session = new Session();

  private ExitCode strict(String... more) {
    String[] arguments = new String[7 + more.length];
    String[] usual = {"explore", "put_rate", "--policy", "strict", "--seeds", "2", "--budget=60s"};
    System.arraycopy(usual, 0, arguments, 0, usual.length);
    System.arraycopy(more, 0, arguments, usual.length, more.length);
    return session.type(arguments);
  }

  @Test
  void a_kernel_without_findings_says_what_was_not_covered() {
    assertThat(session.type("explore", "put_rate", "--seeds", "2")).isEqualTo(ExitCode.NOT_COVERED);
    assertThat(session.out())
        .startsWith("kernel put_rate (put_rate.ptx)   2 x 4 threads, 3 iterations, 32 B, path pull")
        .contains("2 runs, 2 to the end")
        .containsPattern("executed \\d+ of \\d+ instructions, \\d+ of \\d+ ways out of branches")
        .containsPattern("never taken +put_rate.cu:\\d+ +put_rate.ptx:\\d+ to \\d+")
        .containsPattern(
            "no finding in 4 schedules; \\d+ branches never taken, at \\d+ lines: put_")
        .as("a second world of another shape")
        .contains("world    --ring 4 --iterations 9", "1 queue pair of 4 blocks")
        .doesNotContain("CLEAN");
  }

  @ParameterizedTest
  @ValueSource(strings = {"put_latency", "put_bandwidth", "post_once"})
  void the_project_s_kernels_are_explored_as_they_are_meant(String kernel) {
    assertThat(session.type("explore", kernel, "--seeds", "2")).isEqualTo(ExitCode.NOT_COVERED);
    assertThat(session.out()).contains("no finding in 4 schedules");
  }

  @Test
  void a_finding_ends_with_8_and_names_lines_scope_fix_and_schedule() {
    assertThat(strict()).isEqualTo(ExitCode.COUNTER_EXAMPLE);
    assertThat(session.out())
        .contains("COUNTER-EXAMPLE  the doorbell may overtake the doorbell record")
        .contains("put_rate.ptx:")
        .contains("post.cuh:")
        .contains("both are within scope sys")
        .contains("fix      fence between the record's store and the doorbell's")
        .containsPattern(SCHEDULE);
  }

  @Test
  void a_race_that_comes_up_twice_in_a_run_is_found_in_one_run() {
    strict();
    Matcher matcher = Pattern.compile("in (\\d+) of (\\d+) runs").matcher(session.out());
    assertThat(matcher.results().map(one -> Integer.parseInt(one.group(1))).toList())
        .isNotEmpty()
        .allMatch(runs -> runs >= 1 && runs <= 2);
  }

  @Test
  void a_schedule_is_replayed_from_the_command_line_or_a_file() throws IOException {
    strict();
    Matcher matcher = SCHEDULE.matcher(session.out());
    assertThat(matcher.find()).isTrue();
    String schedule = matcher.group(1);
    assertThat(strict("--schedule", schedule)).isEqualTo(ExitCode.COUNTER_EXAMPLE);
    String told = session.out();
    assertThat(told).contains("the last turns of schedule " + schedule).contains("COUNTER-EXAMPLE");
    Path file = folder.resolve("schedule");
    Files.writeString(file, schedule + "\n");
    assertThat(strict("--schedule", file.toString())).isEqualTo(ExitCode.COUNTER_EXAMPLE);
    assertThat(session.out()).isEqualTo(told);
  }

  @Test
  void a_schedule_of_something_else_is_refused() {
    strict();
    Matcher matcher = SCHEDULE.matcher(session.out());
    assertThat(matcher.find()).isTrue();
    assertThat(session.type("explore", "put_rate", "--schedule", matcher.group(1)))
        .isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U021").contains("made for something else");
    assertThat(strict("--schedule", "yesterday")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U026").contains("'yesterday' is no schedule");
  }

  @Test
  void a_budget_that_no_run_fits_in_is_partial() {
    assertThat(
            session.type(
                "explore",
                "put_rate",
                "--threads",
                "256",
                "--iterations",
                "500",
                "--budget",
                "1ms"))
        .isEqualTo(ExitCode.PARTIAL);
    assertThat(session.out()).contains("0 to the end").doesNotContain("CLEAN");
  }

  @Test
  void json_has_each_race_with_its_schedule() {
    assertThat(strict("--json")).isEqualTo(ExitCode.COUNTER_EXAMPLE);
    assertThat(session.out())
        .startsWith("{")
        .contains("\"races\"")
        .contains("\"schedule\"")
        .contains("\"scope\"");
  }

  @ParameterizedTest
  @CsvSource({
    "--queues,  moon, DB-U025",
    "--ringer,  cpuu, DB-U025",
    "--ring,    63,   DB-U025",
    "--bytes,   12,   DB-U025",
    "--threads, 2000, DB-U025",
    "--budget,  soon, DB-U025",
    "--seeds,   0,    DB-U025",
  })
  void a_bad_option_says_what_is_possible(String option, String value, String code) {
    assertThat(session.type("explore", "put_rate", option, value)).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains(code);
  }

  @Test
  void an_unknown_kernel_gets_a_suggestion_and_nothing_at_all_a_hint() {
    assertThat(session.type("explore", "put_rat")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U022").contains("put_rate");
    assertThat(session.type("explore")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U003");
  }

  @ParameterizedTest
  @ValueSource(strings = {"put_batch", "put_quiet", "put_light", "put_exclusive"})
  void a_kernel_of_one_poster_is_explored_with_one(String kernel) {
    assertThat(session.type("explore", kernel, "--seeds", "1")).isEqualTo(ExitCode.NOT_COVERED);
    assertThat(session.out()).contains("1 x 1 thread, ");
  }

  /** A thread sets a flag, or waits for it; both ways of each branch are taken. */
  private static final String SMALL =
      """
      .version 8.2
      .target sm_75
      .address_size 64
      .visible .entry small(.param .u64 qps, .param .u64 jobs) {
        .reg .pred %p<4>;
        .reg .b32 %r<8>;
        .reg .b64 %rd<8>;
        ld.param.u64 %rd1, [jobs];
        ld.global.u64 %rd2, [%rd1+STATUS];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd4, %rd2, %rd3;
        mov.u32 %r2, 0;
        st.global.u32 [%rd4], %r2;
        ld.global.u64 %rd5, [%rd1+STAMPS];
        setp.eq.u32 %p1, %r1, 0;
        @%p1 bra SET;
      WAIT:
        ld.acquire.gpu.global.u32 %r3, [%rd5];
        setp.eq.u32 %p2, %r3, 0;
        @%p2 bra WAIT;
        MORE
        ret;
      SET:
        mov.u32 %r4, 1;
        st.release.gpu.global.u32 [%rd5], %r4;
        ret;
      BAD:
        trap;
      }
      """;

  private static final int MARK = 77;

  /** Returns the offset of a field of the job, which nothing else in it is equal to. */
  private static int offset(Consumer<JobView> field) {
    JobView job = new JobView();
    field.accept(job);
    byte[] encoded = job.encode();
    int at = 0;
    while (encoded[at] != MARK) {
      at++;
    }
    return at;
  }

  private ExitCode small(String more, String... options) throws IOException {
    Path file = folder.resolve("small.ptx");
    Files.writeString(
        file,
        SMALL
            .replace("STATUS", "" + offset(job -> job.status = MARK))
            .replace("STAMPS", "" + offset(job -> job.stamps = MARK))
            .replace("MORE", more));
    List<String> line =
        new ArrayList<>(List.of("explore", file.toString(), "--blocks", "1", "--threads", "2"));
    line.addAll(List.of(options));
    return session.type(line.toArray(String[]::new));
  }

  @Test
  void clean_is_a_kernel_of_which_everything_was_covered() throws IOException {
    assertThat(small("", "--until", "covered")).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains(
            "4 of 4 ways out of branches", "1 of 1 pair in both orders", "CLEAN: nothing found")
        .contains(
            "each of 4 ways out of branches taken, each of 1 pair of accesses in both orders");
    assertThat(small("setp.eq.u32 %p3, %r3, 7;\n@%p3 bra BAD;", "--until", "covered"))
        .as("a way to a trap alone is not to be taken")
        .isEqualTo(ExitCode.OK);
  }

  @Test
  void a_descriptor_names_the_worlds_that_are_worth_it() throws IOException {
    Path own = folder.resolve("mine");
    String descriptor = own.resolve("mine.kernel.yaml").toString();
    session.type("kernel", "new", "mine", "--template", "put", "--dir", own.toString());
    Files.writeString(
        Path.of(descriptor),
        "explore: [{ ring: 8 }, { threads: 1, iterations: 2 }]\n",
        StandardOpenOption.APPEND);
    session.type("explore", descriptor, "--seeds", "1");
    assertThat(session.out())
        .contains("world    --ring 8\n", "world    --threads 1 --iterations 2\n");
    session.type("explore", descriptor, "--seeds", "1", "--iterations", "1,2", "--json");
    assertThat(session.out())
        .contains(
            "--ring 8 --iterations 1", "--ring 8 --iterations 2", "--threads 1 --iterations 1");
  }

  @Test
  void a_refused_world_names_the_branch_behind_which_threads_end() throws IOException {
    small("", "--seeds", "1");
    Path file = folder.resolve("small.ptx");
    String refusing =
        Files.readString(file)
            .replace("mov.u32 %r2, 0;", "mov.u32 %r2, " + Abi.ERROR_ARGUMENT + ";");
    Files.writeString(file, refusing);
    String[] line = {"explore", file.toString(), "--blocks", "1", "--threads", "2", "--seeds", "2"};
    assertThat(session.type(line)).isEqualTo(ExitCode.NOT_COVERED);
    assertThat(session.out())
        .containsPattern("REFUSED  its threads end at once, behind small.ptx:\\d+\n")
        .contains("the kernel refuses each of these worlds")
        .doesNotContain("cannot be expressed");
  }

  @Test
  void a_kernel_that_sends_nothing_is_not_accused_of_wrong_bytes() throws IOException {
    small("", "--seeds", "1");
    Path file = folder.resolve("small.ptx");
    Files.writeString(file, Files.readString(file).replace(".entry small", ".entry put_nothing"));
    String[] line = {"explore", file.toString(), "--blocks", "1", "--threads", "2"};
    assertThat(session.type(line)).isNotEqualTo(ExitCode.COUNTER_EXAMPLE);
    assertThat(session.out()).doesNotContain("wrong byte");
  }

  @Test
  void a_branch_that_is_never_taken_is_named_in_words_json_and_junit() throws IOException {
    String seldom = "setp.eq.u32 %p3, %r3, 7;\n@%p3 bra SET;";
    assertThat(small(seldom, "--until", "covered")).isEqualTo(ExitCode.NOT_COVERED);
    assertThat(session.out())
        .containsPattern("never taken +small.ptx:23 to 26")
        .containsPattern(
            "no finding in \\d+ schedules; 1 branch never taken, at 1 line: small.ptx:23");
    Path report = folder.resolve("report.xml");
    assertThat(small(seldom, "--json", "--junit", report.toString()))
        .isEqualTo(ExitCode.NOT_COVERED);
    assertThat(session.out()).contains("\"verdict\" : \"not_covered\"", "\"to_line\" : 26");
    assertThat(report)
        .content()
        .contains("<error message=\"1 branch never taken, at 1 line: small.ptx:23");
  }

  @Test
  void a_counter_that_no_world_wraps_is_named() throws IOException {
    String loop =
        """
        mov.u64 %rd6, 0;
        TURN:
        and.b64 %rd7, %rd6, MASK;
        add.u64 %rd6, %rd6, 1;
        setp.lt.u64 %p3, %rd6, 3;
        @%p3 bra TURN;\
        """;
    assertThat(small(loop.replace("MASK", "255"), "--until", "covered"))
        .isEqualTo(ExitCode.NOT_COVERED);
    assertThat(session.out())
        .containsPattern("never wrapped small.ptx:24 +counts to 256: --iterations 257\n")
        .containsPattern("no finding in .*; never wrapped: small.ptx:24\n");
    assertThat(small(loop.replace("MASK", "7"), "--until", "covered")).isEqualTo(ExitCode.OK);
  }

  private static final String PEER =
      """
      .version 8.2
      .target sm_75
      .address_size 64
      .visible .entry peer(.param .u64 local, .param .u64 remote, .param .u32 role,
          .param .u64 status, .param .u32 group, .param .u64 peers, .param .u32 qp_count) {
        .reg .pred %p<2>;
        .reg .b32 %r<3>;
        .reg .b64 %rd<8>;
        ld.param.u64 %rd1, [status];
        ld.param.u32 %r1, [role];
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra END;
        ld.param.u64 %rd2, [local];
        ld.param.u64 %rd3, [remote];
        ld.global.v2.u64 {%rd4, %rd5}, [%rd2];
        st.global.v2.u64 [%rd3], {%rd4, %rd5};
        ld.global.v2.u64 {%rd6, %rd7}, [%rd2+16];
        st.global.v2.u64 [%rd3+16], {%rd6, %rd7};
      END:
        mov.u32 %r2, 0;
        st.global.u32 [%rd1], %r2;
        ret;
      }
      """;

  private String peer(String launch, String verify) throws IOException {
    Files.writeString(folder.resolve("peer.ptx"), PEER);
    Path descriptor = folder.resolve("peer.kernel.yaml");
    Files.writeString(
        descriptor,
        """
        kernel: peer
        description: stores to its peer
        isa: "8.2"
        parameters: [local, remote, role, status, group, peers, qp_count]
        launch: { LAUNCH }
        settings:
          group: { type: u32, default: 1, range: [1, 8], description: ranks of a node }
        measures: nothing
        verify: VERIFY
        """
            .replace("LAUNCH", launch)
            .replace("VERIFY", verify));
    return descriptor.toString();
  }

  @Test
  void a_peer_s_memory_is_reached_over_nvlink_alone() throws IOException {
    assertThat(session.type("explore", peer("ranks: both", "receiver")))
        .isEqualTo(ExitCode.COUNTER_EXAMPLE);
    assertThat(session.out())
        .contains("rank0.gpu0 cannot address memory of rank1.gpu0, no NVLink is between them")
        .contains("launch: { nvlink: true }", "peer.ptx:16");
    assertThat(session.type("explore", peer("ranks: both, nvlink: true", "receiver")))
        .as("and a kernel without queue pairs is right")
        .isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("CLEAN: nothing found");
  }

  private static final String BARRIER =
      """
      .version 8.2
      .target sm_75
      .address_size 64
      .visible .entry peer(.param .u64 local, .param .u64 remote, .param .u32 role,
          .param .u64 status, .param .u32 group, .param .u64 peers, .param .u32 qp_count,
          .param .u64 signals) {
        .reg .pred %p<3>;
        .reg .b32 %r<6>;
        .reg .b64 %rd<24>;
        ld.param.u64 %rd1, [local];
        ld.param.u64 %rd2, [peers];
        ld.param.u64 %rd3, [status];
        ld.param.u32 %r1, [role];
        add.u32 %r2, %r1, 1;
        rem.u32 %r2, %r2, 3;
        add.u32 %r3, %r1, 2;
        rem.u32 %r3, %r3, 3;
        mul.wide.u32 %rd4, %r1, 8;
        mul.wide.u32 %rd5, %r2, 8;
        mul.wide.u32 %rd6, %r3, 8;
        mad.wide.u32 %rd7, %r1, 32, %rd2;
        mad.wide.u32 %rd8, %r2, 32, %rd2;
        mad.wide.u32 %rd9, %r3, 32, %rd2;
        add.u64 %rd10, %rd1, %rd4;
        ld.global.u64 %rd11, [%rd10];
        ld.global.u64 %rd12, [%rd8];
        add.u64 %rd12, %rd12, %rd4;
        st.global.u64 [%rd12], %rd11;
        mov.u64 %rd13, 1;
        ld.global.u64 %rd14, [%rd8+8];
        add.u64 %rd14, %rd14, %rd4;
        st.ORDER.sys.global.u64 [%rd14], %rd13;
        ld.global.u64 %rd15, [%rd9+8];
        add.u64 %rd15, %rd15, %rd4;
        st.ORDER.sys.global.u64 [%rd15], %rd13;
        ld.global.u64 %rd16, [%rd7+8];
        add.u64 %rd17, %rd16, %rd5;
      NEXT:
        ld.acquire.sys.global.u64 %rd18, [%rd17];
        setp.eq.u64 %p1, %rd18, 0;
        @%p1 bra NEXT;
        add.u64 %rd19, %rd16, %rd6;
      BEFORE:
        ld.acquire.sys.global.u64 %rd20, [%rd19];
        setp.eq.u64 %p1, %rd20, 0;
        @%p1 bra BEFORE;
        ld.global.u64 %rd21, [%rd7];
        add.u64 %rd21, %rd21, %rd6;
        ld.global.u64 %rd22, [%rd21];
        setp.eq.u64 %p2, %rd22, 0;
        selp.u32 %r4, 5, 0, %p2;
        st.global.u32 [%rd3], %r4;
        ret;
      }
      """;

  /** Each rank stores to the next one, tells all, and waits for all. */
  @Test
  void a_barrier_of_three_ranks_is_proven_and_without_a_release_has_a_trace() throws IOException {
    for (String order : List.of("release", "relaxed")) {
      Path kernel = Path.of(peer("ranks: all, nvlink: true, signals: 32", "shift"));
      Files.writeString(
          kernel, Files.readString(kernel).replace("qp_count]", "qp_count, signals]"));
      Files.writeString(folder.resolve("peer.ptx"), BARRIER.replace("ORDER", order));
      ExitCode code =
          session.type(
              "explore", kernel.toString(), "--prove", "--ranks=3", "--iterations=1", "--bytes=8");
      assertThat(code).isEqualTo(order.equals("release") ? ExitCode.OK : ExitCode.COUNTER_EXAMPLE);
      assertThat(session.out())
          .contains(
              order.equals("release")
                  ? "PROVED   no execution within 3 ranks, 1 thread each, 1 message of a thread"
                  : "COUNTER-EXAMPLE  a load races with a store");
    }
  }

  @Test
  void the_folder_of_one_kernel_stands_for_it() throws IOException {
    peer("ranks: both, nvlink: true", "receiver");
    assertThat(session.type("explore", folder.toString(), "--seeds", "2")).isEqualTo(ExitCode.OK);
    assertThat(session.out()).startsWith("kernel peer (peer.ptx)");
    Files.copy(folder.resolve("peer.kernel.yaml"), folder.resolve("other.kernel.yaml"));
    Files.writeString(
        folder.resolve("other.kernel.yaml"),
        Files.readString(folder.resolve("peer.kernel.yaml"))
            .replace("kernel: peer", "kernel: other\nptx: peer.ptx\nentry: peer"));
    assertThat(session.type("explore", folder.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U022", "has 2 kernels", "other.kernel.yaml or ");
    Path empty = Files.createDirectory(folder.resolve("empty"));
    assertThat(session.type("explore", empty.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("the folder has 0 kernels", "NAME.ptx");
  }

  @Test
  void ranks_that_form_groups_have_a_world_with_a_middle() throws IOException {
    String everybody = peer("ranks: all, nvlink: true", "shift");
    session.type("explore", everybody, "--seeds", "1");
    assertThat(session.out())
        .contains("world    --ranks 3\n")
        .contains("world    --ranks 4 --ring 4 --iterations 9 -s group=2\n")
        .contains("world    --ranks 6 -s group=3\n")
        .contains("world    --ranks 6 -s group=2\n")
        .contains("tried    ranks=3,4,6 of 2 to 16\n")
        .contains("tried    group=1,2,3 of 1 to 8\n");
  }
}
