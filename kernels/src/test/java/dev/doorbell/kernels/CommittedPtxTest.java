package dev.doorbell.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests that the committed PTX is what the sources compile to. */
class CommittedPtxTest {
  /** The files that one call of {@code kernels/build} compiles. */
  enum Build {
    KERNELS("src", "ptx", "kernels/build"),
    CASES("cases", "cases/ptx", "kernels/build --cases");

    private final String sources;
    private final String ptx;
    private final String command;

    Build(String sources, String ptx, String command) {
      this.sources = sources;
      this.ptx = ptx;
      this.command = command;
    }

    private JsonNode manifest() throws IOException {
      return JsonMapper.shared()
          .readTree(Files.readString(SourceTree.ROOT.resolve(ptx).resolve("manifest.json")));
    }

    /** Asserts that a file has the digest of the manifest. */
    private void isAsRecorded(String file, JsonNode digest) throws IOException {
      assertThat(SourceTree.sha256(SourceTree.ROOT.resolve(file)))
          .as("%s is not what its PTX was built with: %s", file, advice())
          .isEqualTo(digest.asString());
    }

    private String advice() {
      return "run %s (it needs nvcc) and commit kernels/%s with the sources"
          .formatted(command, ptx);
    }
  }

  @ParameterizedTest
  @EnumSource
  void every_source_is_the_one_that_its_ptx_was_compiled_from(Build build) throws IOException {
    List<String> sources = new ArrayList<>();
    for (JsonNode kernel : build.manifest().required("kernels")) {
      sources.add(kernel.required("source").asString());
      for (String file : List.of("source", "ptx")) {
        build.isAsRecorded(kernel.required(file).asString(), kernel.required(file + "_sha256"));
      }
    }
    assertThat(sources).as(build.advice()).isEqualTo(SourceTree.files(build.sources, ".cu"));
  }

  @ParameterizedTest
  @EnumSource
  void every_header_is_the_one_that_the_ptx_was_compiled_with(Build build) throws IOException {
    List<String> headers = new ArrayList<>(SourceTree.files("include/doorbell", ".h", ".cuh"));
    headers.addAll(SourceTree.files(build.sources, ".cuh"));
    JsonNode recorded = build.manifest().required("headers_sha256");
    assertThat(recorded.propertyNames())
        .as(build.advice())
        .containsExactlyInAnyOrderElementsOf(headers);
    for (String header : headers) {
      build.isAsRecorded(header, recorded.required(header));
    }
  }

  @ParameterizedTest
  @EnumSource
  void nothing_that_is_compiled_knows_where_it_was_compiled(Build build) throws IOException {
    for (String file : SourceTree.files(build.ptx, ".ptx.gz", ".json")) {
      assertThat(SourceTree.text(SourceTree.ROOT.resolve(file)))
          .as(file)
          .doesNotContain(SourceTree.ROOT.toString())
          .doesNotContainPattern("(/home|/root|/usr|/tmp|/opt)/")
          .doesNotContain("_INTERNAL_")
          .doesNotContain("used_bytes_mask");
    }
  }

  @Test
  void lines_of_kernels_are_known_by_paths_that_hold_everywhere() throws IOException {
    for (String file : SourceTree.files("ptx", ".ptx.gz")) {
      List<String> named =
          Pattern.compile("^\\s*\\.file\\s+\\d+ (.*)$", Pattern.MULTILINE)
              .matcher(SourceTree.text(SourceTree.ROOT.resolve(file)))
              .results()
              .map(match -> match.group(1))
              .toList();
      assertThat(named)
          .as(file)
          .contains("\"%s\"".formatted(file.replace("ptx/", "src/").replace(".ptx.gz", ".cu")))
          .allMatch(path -> path.matches("\"(src|include/doorbell|cuda/include)/[^\"]+\""))
          .noneMatch(path -> path.contains(".."));
    }
  }

  @Test
  @Tag("slow") // compiles and assembles each kernel several times
  void the_same_nvcc_compiles_the_sources_to_the_same_bytes_in_another_directory(
      @TempDir Path elsewhere) throws IOException, InterruptedException {
    String recorded = Build.KERNELS.manifest().required("nvcc").asString();
    String here = nvccVersion();
    assumeTrue(
        here.equals(recorded),
        "skipped: the PTX was built by nvcc %s, here is %s; install CUDA 13.0 to enable this"
            .formatted(recorded, here));
    List<String> inputs = new ArrayList<>(SourceTree.files("src", ".cu", ".cuh"));
    inputs.addAll(SourceTree.files("include/doorbell", ".h", ".cuh"));
    inputs.add("build");
    for (String input : inputs) {
      Path copy = elsewhere.resolve(input);
      Files.createDirectories(copy.getParent());
      Files.copy(SourceTree.ROOT.resolve(input), copy, StandardCopyOption.COPY_ATTRIBUTES);
    }
    Process build =
        new ProcessBuilder(elsewhere.resolve("build").toString()).redirectErrorStream(true).start();
    String log = new String(build.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(build.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(build.exitValue()).as(log).isZero();
    for (String file : SourceTree.files("ptx", ".ptx.gz", ".json")) {
      Path rebuilt = elsewhere.resolve(file);
      assertThat(SourceTree.text(rebuilt))
          .as(file)
          .isEqualTo(SourceTree.text(SourceTree.ROOT.resolve(file)));
    }
  }

  /** Returns the version of nvcc on PATH, or why there is none. */
  private static String nvccVersion() throws InterruptedException {
    try {
      Process nvcc = new ProcessBuilder("nvcc", "--version").redirectErrorStream(true).start();
      String text = new String(nvcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      nvcc.waitFor();
      Matcher version = Pattern.compile("release .*, V(\\S+)").matcher(text);
      return version.find() ? version.group(1) : "an nvcc of unknown version";
    } catch (IOException e) {
      return "no nvcc";
    }
  }
}
