package dev.doorbell.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class KernelCatalogueTest {
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
  void a_name_that_is_not_there_is_empty() {
    assertThat(catalogue.find("put_latency")).isPresent();
    assertThat(catalogue.find("put_latency.cu")).isEmpty();
  }

  @Test
  void every_case_has_a_broken_and_a_fixed_kernel() {
    KernelCatalogue cases = KernelCatalogue.cases();
    assertThat(cases.kernels()).hasSize(36);
    for (ProtocolKernel kernel : cases.kernels()) {
      assertThat(kernel.entries().stream().map(ProtocolKernel.EntryPoint::name))
          .containsExactlyInAnyOrder(kernel.name() + "_broken", kernel.name() + "_fixed");
      assertThat(cases.ptx(kernel)).contains("\"cases/%s.cu\"".formatted(kernel.name()));
    }
  }
}
