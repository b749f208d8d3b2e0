package dev.doorbell.experiments.config.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a kernel's descriptor means, and what is said of a wrong one. */
class KernelDescriptorReaderTest {
  private static final String LEAST =
      """
      kernel: my_put
      description: a put of mine
      measures: goodput
      """;

  private static KernelDescriptor read(String text) throws ConfigException {
    return new KernelDescriptorReader().read("my.kernel.yaml", text);
  }

  private static List<String> problems(String text) {
    return catchThrowableOfType(ConfigException.class, () -> read(text)).problems().stream()
        .map(problem -> problem.where() + " " + problem.what())
        .toList();
  }

  @Test
  void three_keys_are_enough() throws ConfigException {
    KernelDescriptor kernel = read(LEAST);
    assertThat(kernel.ptx()).isEqualTo("my_put.ptx");
    assertThat(kernel.entry()).isEqualTo("my_put");
    assertThat(kernel.isa()).isEqualTo(Optional.empty());
    assertThat(kernel.parameters()).containsExactly("queue_pairs", "job");
    assertThat(kernel.launch())
        .isEqualTo(
            new KernelDescriptor.Launch(
                KernelDescriptor.Ranks.BOTH,
                1,
                1,
                0,
                false,
                KernelDescriptor.Slots.BLOCKS,
                false,
                0,
                false));
    assertThat(kernel.takes("push.memic")).isTrue();
    assertThat(kernel.verify()).isEqualTo(KernelDescriptor.Verify.RECEIVER);
  }

  @Test
  void its_own_settings_can_have_other_defaults() throws Exception {
    String text = LEAST + "settings: { fanout: { type: u32, default: 2, range: [1, 16] } }\n";
    KernelDescriptorReader reader = new KernelDescriptorReader();
    KernelDescriptor kernel = reader.read("my.kernel.yaml", text, List.of("fanout=16"));
    assertThat(kernel.extension().settings().getFirst().standard().text()).isEqualTo("16");
    assertThat(read(kernel.text()).extension()).isEqualTo(kernel.extension());
    assertThat(read(text).extension()).isNotEqualTo(kernel.extension());
    for (String wrong : List.of("fanout=17", "fanut=2", "fanout=many", "fanout")) {
      assertThatThrownBy(() -> reader.read("my.kernel.yaml", text, List.of(wrong)))
          .as(wrong)
          .isInstanceOf(ConfigException.class);
    }
  }

  @Test
  void every_key_is_heard() throws ConfigException {
    KernelDescriptor kernel =
        read(
            """
            kernel: my_put
            description: a put of mine
            ptx: other.ptx
            source: other.cu
            entry: go
            isa: "7.8"
            parameters: [queue_pairs, local, remote, bytes, samples, status]
            launch: { ranks: both, blocks: 2, threads: 64, shared: 1024, cooperative: true, slots: window }
            paths: [pull, proxy]
            measures: latency
            verify: both
            explore: [{ threads: 32 }, { ring: 4, iterations: 9 }]
            """);
    assertThat(kernel.worlds())
        .containsExactly(Map.of("threads", "32"), Map.of("ring", "4", "iterations", "9"));
    assertThat(kernel.launch())
        .isEqualTo(
            new KernelDescriptor.Launch(
                KernelDescriptor.Ranks.BOTH,
                2,
                64,
                1024,
                true,
                KernelDescriptor.Slots.WINDOW,
                false,
                0,
                false));
    assertThat(kernel.paths()).isEqualTo(Set.of("pull", "proxy"));
    assertThat(kernel.takes("staged")).isFalse();
    assertThat(kernel.isa()).contains("7.8");
    assertThat(kernel.entry()).isEqualTo("go");
    assertThat(kernel.place("/parameters/2")).isEqualTo("my.kernel.yaml:7:34");
  }

  @Test
  void as_many_threads_as_the_copying_needs_is_a_word() throws ConfigException {
    assertThat(read(LEAST + "launch: { threads: copy }\n").launch().threads()).isZero();
  }

  @Test
  void a_kernel_at_all_ranks_says_what_arrives_where() throws ConfigException {
    KernelDescriptor kernel = read(LEAST + "launch: { ranks: all }\nverify: allgather\n");
    assertThat(kernel.launch().allRanks()).isTrue();
    assertThat(kernel.launch().ranks()).isNotEqualTo(KernelDescriptor.Ranks.BOTH);
    assertThat(kernel.verify()).isEqualTo(KernelDescriptor.Verify.ALLGATHER);
  }

  @Test
  void what_speaks_of_two_ranks_is_refused_at_all_of_them_and_the_other_way() {
    assertThat(problems(LEAST + "launch: { ranks: all }\n"))
        .anySatisfy(
            text -> assertThat(text).contains("runs at all ranks, and verify speaks of two"));
    assertThat(problems(LEAST + "verify: shift\n"))
        .containsExactly("my.kernel.yaml:4:9 verify speaks of all ranks, and it runs at two");
    assertThat(
            problems(
                LEAST
                    + """
                    parameters: [queue_pairs, stamps, status]
                    launch: { ranks: all, slots: window }
                    verify: alltoall
                    """))
        .containsExactly(
            "my.kernel.yaml:5:30 at all ranks, payload and inbox hold a message for each rank",
            "my.kernel.yaml:4:13 it runs at all ranks, but gets neither the job nor its peers");
  }

  @Test
  void a_world_to_explore_has_numbers_and_settings_of_the_kernel() {
    assertThat(problems(LEAST + "explore: [{ thread: 3 }]\n"))
        .singleElement()
        .asString()
        .startsWith("my.kernel.yaml:4:21 unknown number of a world 'thread'")
        .contains("did you mean 'threads'");
    assertThat(problems(LEAST + "explore: [{ ranks: 3 }]\n"))
        .containsExactly("my.kernel.yaml:4:20 it runs at two ranks");
  }

  @Test
  void every_problem_is_told_with_line_and_column_and_the_nearest_word() {
    assertThat(
            problems(
                """
                kernel: MyPut
                description: a put of mine
                measure: latency
                measures: latancy
                parameters: [queue_pairs, locl]
                launch: { rank: both, threads: 2000 }
                paths: [pull, puhs.bf]
                isa: 8.2
                ptx: ../x.ptx
                """))
        .anySatisfy(
            text ->
                assertThat(text)
                    .startsWith("my.kernel.yaml:1:9 kernel is 'MyPut', and must be a name of"))
        .anySatisfy(
            text ->
                assertThat(text)
                    .startsWith("my.kernel.yaml:3:1 unknown key 'measure'")
                    .contains("did you mean 'measures'"))
        .anySatisfy(
            text ->
                assertThat(text)
                    .startsWith("my.kernel.yaml:4:11 unknown measures 'latancy'")
                    .contains("did you mean 'latency'"))
        .anySatisfy(
            text ->
                assertThat(text)
                    .startsWith("my.kernel.yaml:5:27 unknown parameter 'locl'")
                    .contains("did you mean 'local'"))
        .anySatisfy(
            text ->
                assertThat(text)
                    .startsWith("my.kernel.yaml:6:11 unknown key 'rank' in launch")
                    .contains("did you mean 'ranks'"))
        .anySatisfy(text -> assertThat(text).startsWith("my.kernel.yaml:6:32 "))
        .anySatisfy(
            text ->
                assertThat(text)
                    .startsWith("my.kernel.yaml:7:15 unknown path 'puhs.bf'")
                    .contains("'push.bf'"))
        .anySatisfy(text -> assertThat(text).startsWith("my.kernel.yaml:8:6 isa"))
        .anySatisfy(
            text ->
                assertThat(text)
                    .startsWith("my.kernel.yaml:9:6 ptx is '../x.ptx'")
                    .endsWith("the name of a file beside this one"));
  }

  @Test
  void a_kernel_that_could_not_be_judged_is_refused() {
    assertThat(problems(LEAST.replace("goodput", "latency") + "parameters: [queue_pairs, local]\n"))
        .anySatisfy(text -> assertThat(text).contains("neither the job nor its samples"))
        .anySatisfy(text -> assertThat(text).contains("neither the job nor its status words"));
    assertThat(problems(LEAST + "parameters: [queue_pairs, status]\n"))
        .singleElement()
        .asString()
        .isEqualTo(
            "my.kernel.yaml:4:13 it measures goodput, but gets neither the job nor its stamps");
    assertThat(problems(LEAST + "launch: { ranks: sender }\nverify: both\n"))
        .singleElement()
        .asString()
        .contains("my.kernel.yaml:5:9")
        .contains("only the sender runs");
  }

  @Test
  void an_empty_file_is_no_descriptor() {
    assertThat(problems(""))
        .containsExactly("my.kernel.yaml the file is empty; a kernel descriptor is a mapping");
  }
}
