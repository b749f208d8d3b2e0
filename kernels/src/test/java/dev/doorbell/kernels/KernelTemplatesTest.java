package dev.doorbell.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests the templates that a kernel's author starts from. */
class KernelTemplatesTest {
  private static final String REBUILD =
      "run kernels/build-templates (it needs nvcc) and commit kernels/templates with the sources";

  private final KernelTemplates templates = KernelTemplates.load();

  @Test
  void there_is_one_of_each_kind() {
    assertThat(templates.names())
        .containsExactly(
            "alltoall", "dispatch", "exchange", "proxy", "put", "reduce", "ring", "signal");
    assertThat(templates.compilerFlags()).contains("-ptx").contains("-lineinfo");
  }

  @Test
  void a_new_kernel_carries_its_name_and_no_other() {
    for (String template : templates.names()) {
      Map<String, String> files =
          templates.instantiate(template, "my_ring2", "kernels/my_ring2", "nvcc x");
      assertThat(files.keySet())
          .containsExactly(
              "my_ring2.cu",
              "my_ring2.ptx",
              "my_ring2.kernel.yaml",
              "my_ring2.experiment.yaml",
              "README.md");
      assertThat(files.values())
          .allSatisfy(
              text ->
                  assertThat(text).doesNotContain("template").doesNotContainPattern("@[A-Z]+@"));
      assertThat(files.get("my_ring2.ptx"))
          .contains(".visible .entry my_ring2(")
          .contains("\"my_ring2.cu\"");
      assertThat(files.get("my_ring2.cu")).startsWith("// my_ring2: ");
      assertThat(files.get("my_ring2.experiment.yaml")).startsWith("experiment: my-ring2\n");
      assertThat(files.get("README.md")).contains("    nvcc x\n");
    }
  }

  @Test
  void a_template_that_is_not_there_is_refused() {
    assertThatThrownBy(() -> templates.instantiate("rong", "a", "a", ""))
        .hasMessageContaining("rong");
  }

  @Test
  void every_template_is_what_its_sources_compile_to() throws IOException {
    JsonNode manifest =
        JsonMapper.shared()
            .readTree(Files.readString(SourceTree.ROOT.resolve("templates/manifest.json")));
    for (JsonNode template : manifest.required("templates")) {
      Path folder = SourceTree.ROOT.resolve("templates/" + template.required("name").asString());
      assertThat(SourceTree.sha256(folder.resolve("template.cu")))
          .as("%s has changed: %s", folder, REBUILD)
          .isEqualTo(template.required("source_sha256").asString());
      assertThat(SourceTree.sha256(folder.resolve("template.ptx.gz")))
          .as("%s is not what was built: %s", folder, REBUILD)
          .isEqualTo(template.required("ptx_sha256").asString());
      assertThat(SourceTree.text(folder.resolve("template.ptx.gz")))
          .doesNotContainPattern("(/home|/root|/usr|/tmp|/opt|/work)/");
    }
    JsonNode headers = manifest.required("headers_sha256");
    List<String> files = SourceTree.files("include/doorbell", ".h", ".cuh");
    assertThat(headers.propertyNames()).containsExactlyInAnyOrderElementsOf(files);
    for (String header : files) {
      assertThat(SourceTree.sha256(SourceTree.ROOT.resolve(header)))
          .as("%s has changed: %s", header, REBUILD)
          .isEqualTo(headers.required(header).asString());
    }
  }
}
