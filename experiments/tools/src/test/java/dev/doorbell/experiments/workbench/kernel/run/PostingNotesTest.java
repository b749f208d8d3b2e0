package dev.doorbell.experiments.workbench.kernel.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelReport;
import dev.doorbell.kernels.KernelCatalogue;
import dev.doorbell.kernels.ProtocolKernel;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What `kernel check` sees of a kernel that posts by its own hand. */
class PostingNotesTest {
  /** They measure what each order of a post costs, also those without a fence. */
  private static final List<String> EVERY_ORDER =
      List.of("put_minimal", "put_minimal_rare", "put_dynamic");

  private static final String HEAD =
      """
      .version 8.2
      .target sm_75
      .address_size 64
      .visible .entry post(.param .u64 qps, .param .u64 jobs)
      {
        .reg .b32 %r<8>;
        .reg .b64 %rd<16>;
        ld.param.u64 %rd1, [qps];
        cvta.to.global.u64 %rd2, %rd1;
        ld.param.u64 %rd3, [jobs];
        cvta.to.global.u64 %rd4, %rd3;
        ld.global.u64 %rd5, [%rd2];
        ld.global.u64 %rd6, [%rd2+8];
        ld.global.u64 %rd7, [%rd2+16];
        ld.global.u64 %rd8, [%rd4+8];
        ld.global.u32 %r1, [%rd4+140];
        add.u32 %r2, %r1, 1;
        prmt.b32 %r3, %r2, 0, 0x0123;
        cvt.u64.u32 %rd9, %r3;
        cvt.u64.u32 %rd10, %r2;
      """;

  private static List<String> notes(String body) {
    KernelReport report =
        KernelWorkbench.find().check("post.ptx", HEAD + body.indent(2) + "  ret;\n}\n");
    assertThat(report.unsupported()).isEmpty();
    return report.notes().stream().map(note -> note.text().strip() + "  " + note.what()).toList();
  }

  @Test
  void a_post_with_its_fences_is_not_remarked_on() {
    assertThat(
            notes(
                """
                st.global.u64 [%rd5], %rd9;
                fence.acq_rel.sys;
                st.relaxed.sys.global.b32 [%rd6], %r3;
                fence.acq_rel.sys;
                st.mmio.relaxed.sys.global.b64 [%rd7], %rd9;
                st.global.u64 [%rd5], %rd9;
                """))
        .isEmpty();
  }

  @Test
  void a_store_that_no_fence_parts_from_the_doorbell_is_named() {
    assertThat(
            notes(
                """
                st.global.u64 [%rd5], %rd9;
                st.mmio.relaxed.sys.global.b64 [%rd7], %rd9;
                """))
        .singleElement()
        .asString()
        .contains("st.mmio", "no fence lies between", "in line 21:", "what was there before");
    assertThat(
            notes(
                """
                fence.acq_rel.sys;
                st.relaxed.sys.global.b32 [%rd6], %r3;
                st.mmio.relaxed.sys.global.b64 [%rd7], %rd9;
                """))
        .singleElement()
        .asString()
        .contains("it may overtake the doorbell record");
  }

  @Test
  void a_fence_on_one_of_two_ways_is_none() {
    assertThat(
            notes(
                """
                .reg .pred %p;
                setp.eq.u32 %p, %r1, 0;
                st.global.u64 [%rd5], %rd9;
                @%p bra $skip;
                fence.acq_rel.sys;
                $skip:
                st.mmio.relaxed.sys.global.b64 [%rd7], %rd9;
                """))
        .singleElement()
        .asString()
        .contains("no fence lies between");
  }

  @Test
  void weak_rings_and_numbers_that_were_not_swapped_are_named() {
    assertThat(
            notes(
                """
                st.global.b32 [%rd6], %r3;
                fence.acq_rel.sys;
                st.global.b64 [%rd7], %rd9;
                """))
        .hasSize(2)
        .anySatisfy(note -> assertThat(note).contains("a weak store to the doorbell record"))
        .anySatisfy(note -> assertThat(note).contains("a weak store to the doorbell register"));
    assertThat(
            notes(
                """
                st.relaxed.sys.global.b32 [%rd6], %r2;
                fence.acq_rel.sys;
                st.mmio.relaxed.sys.global.b64 [%rd7], %rd10;
                """))
        .hasSize(2)
        .allSatisfy(note -> assertThat(note).contains("big-endian", "never byte-swapped"));
  }

  @Test
  void memory_of_the_peer_is_out_of_a_threads_reach() {
    assertThat(notes("st.global.u64 [%rd8+8], %rd9;\n"))
        .singleElement()
        .asString()
        .contains("job.remote", "on an emulator alone");
  }

  /** Cases that the explorer has found by running them, and their like. */
  @ParameterizedTest
  @ValueSource(strings = {"no_fence", "two_fences"})
  void public_bugs_are_seen_without_running_them(String name) {
    assertThat(of(KernelCatalogue.cases(), name)).isNotEmpty();
  }

  @Test
  void kernels_of_the_library_have_nothing_to_remark_on() {
    KernelCatalogue catalogue = KernelCatalogue.load();
    for (String name : catalogue.names()) {
      if (!EVERY_ORDER.contains(name)) {
        assertThat(of(catalogue, name)).as(name).isEmpty();
      }
    }
  }

  @Test
  void a_kernel_that_can_post_without_a_fence_is_remarked_on() {
    for (String name : EVERY_ORDER) {
      assertThat(of(KernelCatalogue.load(), name))
          .anySatisfy(note -> assertThat(note).contains("no fence lies between"));
    }
  }

  private static List<String> of(KernelCatalogue catalogue, String name) {
    ProtocolKernel kernel = catalogue.find(name).orElseThrow();
    return KernelWorkbench.find().check(name, catalogue.ptx(kernel)).notes().stream()
        .map(KernelReport.Line::what)
        .filter(what -> what.contains("doorbell"))
        .toList();
  }

  private static List<String> problems(String parameters, String body) throws ConfigException {
    String descriptor =
        """
        kernel: post
        description: a post of mine
        parameters: %s
        launch: { ranks: sender }
        measures: nothing
        """
            .formatted(parameters);
    return KernelWorkbench.find()
        .checkAbi(
            new UserKernel(
                new KernelDescriptorReader().read("post.kernel.yaml", descriptor),
                "post.kernel.yaml",
                "post.ptx",
                HEAD + body + "  ret;\n}\n"))
        .stream()
        .map(Problem::what)
        .toList();
  }

  @Test
  void parameters_in_the_wrong_order_are_told_by_what_the_kernel_does_with_them()
      throws ConfigException {
    assertThat(problems("[queue_pairs, job]", "")).isEmpty();
    assertThat(problems("[job, queue_pairs]", ""))
        .anySatisfy(
            what ->
                assertThat(what)
                    .isEqualTo("parameter 1 gets the queue pairs, and is read as the job"));
    assertThat(problems("[iterations, status]", ""))
        .containsExactly("parameter 0 is used as an address, and gets iterations, a number");
  }
}
