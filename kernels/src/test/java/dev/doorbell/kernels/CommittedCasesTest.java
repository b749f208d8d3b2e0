package dev.doorbell.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The PTX of the explorer's cases is what their sources compile to. */
class CommittedCasesTest {
  private static final String REBUILD =
      "run kernels/build --cases (it needs nvcc) and commit kernels/cases with its ptx";

  private static JsonNode manifest() throws IOException {
    return JsonMapper.shared()
        .readTree(Files.readString(SourceTree.ROOT.resolve("cases/ptx/manifest.json")));
  }

  @Test
  void every_source_is_the_one_that_its_ptx_was_compiled_from() throws IOException {
    List<String> sources = new ArrayList<>();
    for (JsonNode kernel : manifest().required("kernels")) {
      sources.add(kernel.required("source").asString());
      for (String file : List.of("source", "ptx")) {
        assertThat(SourceTree.sha256(SourceTree.ROOT.resolve(kernel.required(file).asString())))
            .as(REBUILD)
            .isEqualTo(kernel.required(file + "_sha256").asString());
      }
    }
    assertThat(sources).as(REBUILD).isEqualTo(SourceTree.files("cases", ".cu"));
  }

  @Test
  void every_header_is_the_one_that_the_ptx_was_compiled_with() throws IOException {
    List<String> headers = new ArrayList<>(SourceTree.files("include/doorbell", ".h", ".cuh"));
    headers.addAll(SourceTree.files("cases", ".cuh"));
    JsonNode recorded = manifest().required("headers_sha256");
    assertThat(recorded.propertyNames()).as(REBUILD).containsExactlyInAnyOrderElementsOf(headers);
    for (String header : headers) {
      assertThat(SourceTree.sha256(SourceTree.ROOT.resolve(header)))
          .as("%s: %s", header, REBUILD)
          .isEqualTo(recorded.required(header).asString());
    }
  }

  @Test
  void every_case_has_a_broken_and_a_mended_kernel() {
    KernelCatalogue cases = KernelCatalogue.cases();
    assertThat(cases.kernels()).hasSize(13);
    for (ProtocolKernel kernel : cases.kernels()) {
      assertThat(kernel.entries().stream().map(ProtocolKernel.EntryPoint::name))
          .containsExactlyInAnyOrder(kernel.name() + "_broken", kernel.name() + "_mended");
      assertThat(cases.ptx(kernel)).contains("\"cases/%s.cu\"".formatted(kernel.name()));
    }
  }

  @Test
  void nothing_that_is_compiled_knows_where_it_was_compiled() throws IOException {
    for (String file : SourceTree.files("cases/ptx", ".ptx", ".json")) {
      assertThat(Files.readString(SourceTree.ROOT.resolve(file)))
          .as(file)
          .doesNotContain(SourceTree.ROOT.toString())
          .doesNotContainPattern("(/home|/root|/usr|/tmp|/opt)/");
    }
  }
}
