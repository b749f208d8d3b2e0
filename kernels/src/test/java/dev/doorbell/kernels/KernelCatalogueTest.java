package dev.doorbell.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class KernelCatalogueTest {
  /** A NIC is rung for, and what moves bytes with loads and stores rings nobody. */
  private static final List<String> RINGS_NOTHING =
      List.of("gpu_nic", "gpu_push_nic", "host_move", "proxy_minimal");

  private final KernelCatalogue catalogue = KernelCatalogue.load();

  @Test
  void lists_a_protocol_for_every_source_file() throws IOException {
    assertThat(catalogue.kernels())
        .extracting(ProtocolKernel::source)
        .isEqualTo(SourceTree.files("src", ".cu"));
    assertThat(catalogue.names())
        .contains("put_latency", "put_bandwidth", "put_rate", "post_once", "operations");
  }

  @Test
  void every_entry_takes_the_queue_pairs_and_the_job() {
    for (ProtocolKernel kernel : catalogue.kernels()) {
      String ptx = catalogue.ptx(kernel);
      for (ProtocolKernel.EntryPoint entry : kernel.entries()) {
        String signature =
            "\\.visible \\.entry %1$s\\(\\s*\\.param \\.u64 %1$s_param_0,\\s*\\.param \\.u64 %1$s_param_1\\s*\\)"
                .formatted(entry.name());
        assertThat(Pattern.compile(signature).matcher(ptx).find()).as(entry.name()).isTrue();
        assertThat(entry.registers()).as("registers of %s", entry.name()).isBetween(1, 255);
      }
    }
  }

  @Test
  void says_which_isa_the_text_declares() {
    for (ProtocolKernel kernel : catalogue.kernels()) {
      assertThat(catalogue.ptx(kernel))
          .containsOnlyOnce("\n.version " + kernel.isa() + "\n")
          .containsOnlyOnce("\n.target " + kernel.target() + "\n");
    }
  }

  @Test
  void the_portable_variant_differs_in_version_register_stores_and_inlining_alone() {
    for (ProtocolKernel kernel : catalogue.kernels()) {
      String[] lines = catalogue.ptx(kernel).split("\n", -1);
      String[] portable = catalogue.ptxForIsa80(kernel).split("\n", -1);
      assertThat(portable).hasSameSizeAs(lines);
      int stores = 0;
      for (int i = 0; i < lines.length; i++) {
        if (lines[i].startsWith(".version")) {
          assertThat(portable[i]).isEqualTo(".version 8.0");
        } else if (lines[i].contains("st.mmio.relaxed.sys")) {
          assertThat(portable[i]).contains("st.relaxed.sys").doesNotContain("mmio");
          stores++;
        } else if (lines[i].contains("inlined_at")) {
          assertThat(lines[i]).startsWith(portable[i] + ",");
          assertThat(portable[i]).matches("\\s*\\.loc\\s+\\d+ \\d+ \\d+");
        } else {
          assertThat(portable[i]).isEqualTo(lines[i]);
        }
      }
      if (RINGS_NOTHING.contains(kernel.name())) {
        assertThat(stores).as("%s rings", kernel.name()).isZero();
      } else {
        assertThat(stores).as("%s rings", kernel.name()).isPositive();
      }
    }
  }

  @Test
  void a_name_that_is_not_there_is_empty() {
    assertThat(catalogue.find("put_latency")).isPresent();
    assertThat(catalogue.find("put_latency.cu")).isEmpty();
  }

  @Test
  void every_case_has_a_broken_and_a_fixed_kernel() {
    KernelCatalogue cases = KernelCatalogue.cases();
    assertThat(cases.kernels()).hasSize(28);
    for (ProtocolKernel kernel : cases.kernels()) {
      assertThat(kernel.entries().stream().map(ProtocolKernel.EntryPoint::name))
          .containsExactlyInAnyOrder(kernel.name() + "_broken", kernel.name() + "_fixed");
      assertThat(cases.ptx(kernel)).contains("\"cases/%s.cu\"".formatted(kernel.name()));
    }
  }
}
