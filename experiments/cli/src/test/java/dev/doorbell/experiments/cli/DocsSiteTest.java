package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The site that {@code ./doorbell docs} builds. */
class DocsSiteTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  @TempDir private Path folder;
  private String said = "";

  private int run(Path where, ProcessBuilder builder) throws IOException, InterruptedException {
    try (TestProgram program = TestProgram.start(folder, builder.directory(where.toFile()))) {
      int status = program.await();
      said = program.said();
      return status;
    }
  }

  /** Builds the site of this checkout, which installs the generator as well. */
  private void build() throws IOException, InterruptedException {
    assumeTrue(
        Arrays.stream(System.getenv("PATH").split(":", -1))
            .anyMatch(bin -> Files.isExecutable(Path.of(bin, "npm"))),
        "no npm; install it ('apt-get install npm')");
    assertThat(run(ROOT, new ProcessBuilder("bash", "doorbell", "docs"))).as(said).isZero();
  }

  /** Installs the generator, where no build has done so. */
  private void install() throws IOException, InterruptedException {
    if (!Files.exists(ROOT.resolve("target/site/node_modules/installed"))) {
      build();
    }
  }

  /** Builds a site of two pages, of which the second is {@code text}. */
  private int buildOf(String text) throws IOException, InterruptedException {
    Files.createDirectories(folder.resolve("site/.vitepress/theme"));
    try (Stream<Path> sources = Files.walk(ROOT.resolve("docs/site"))) {
      for (Path source : sources.filter(Files::isRegularFile).toList()) {
        Path copy =
            folder.resolve("site").resolve(ROOT.resolve("docs/site").relativize(source).toString());
        Files.copy(source, copy);
      }
    }
    Files.createSymbolicLink(
        folder.resolve("site/node_modules"), ROOT.resolve("target/site/node_modules"));
    Path docs = Files.createDirectories(folder.resolve("sources/docs"));
    Files.writeString(docs.resolveSibling("README.md"), "# First\n\n[all](docs/README.md)\n");
    Files.writeString(docs.resolve("README.md"), text);
    ProcessBuilder node = new ProcessBuilder("node", "build.mjs");
    node.environment().put("DOORBELL_HOME", folder.resolve("sources").toString());
    return run(folder.resolve("site"), node);
  }

  @Test
  @Tag("slow")
  void every_page_is_there_and_no_link_is_dead() throws Exception {
    build();

    Path html = ROOT.resolve("target/site/html");
    try (Stream<Path> pages = Files.walk(ROOT.resolve("docs"))) {
      assertThat(
              pages
                  .map(page -> ROOT.relativize(page).toString())
                  .filter(name -> name.endsWith(".md") && !name.startsWith("docs/site/")))
          .hasSizeGreaterThan(40)
          .allSatisfy(
              name ->
                  assertThat(
                          html.resolve(
                              name.replace("README.md", "index.md").replaceAll("md$", "html")))
                      .exists());
    }
    assertThat(Files.readString(html.resolve("index.html")).contains("<h1 id=\"doorbell\""))
        .isTrue();
  }

  @Test
  @Tag("slow")
  void a_dead_link_fails_the_build_and_is_named() throws Exception {
    install();

    assertThat(buildOf("# Second\n\n[a page](gone.md)\n")).isNotZero();
    assertThat(said).contains("links that lead nowhere", "docs/README.md: gone.md");
  }

  @Test
  @Tag("slow")
  void a_dead_anchor_and_a_picture_from_elsewhere_fail_the_build() throws Exception {
    install();

    String page = "# Second\n\n[a heading](#gone) ![far](https://example.org/a.svg) {{ 1 + }}\n";
    assertThat(buildOf(page)).isNotZero();
    assertThat(said.lines())
        .contains("the site is wrong in 2 places:")
        .anyMatch(line -> line.contains("#gone, no such heading"))
        .anyMatch(line -> line.contains("img from elsewhere, https://example.org/a.svg"));
  }

  @Test
  void without_npm_one_line_says_what_is_missing() throws Exception {
    ProcessBuilder launcher = new ProcessBuilder(launcher(), "docs");
    launcher.environment().put("PATH", emptyPath().toString());
    launcher.environment().put("JAVA_HOME", System.getProperty("java.home"));

    assertThat(run(folder, launcher)).isEqualTo(4);
    assertThat(said.lines()).hasSize(1).first().asString().contains("no node on PATH", "npm'");
  }

  /** The launcher in a checkout without sources. */
  private String launcher() throws IOException {
    Files.writeString(folder.resolve("pom.xml"), "<project/>");
    Path copy = Files.copy(ROOT.resolve("doorbell"), folder.resolve("doorbell"));
    return copy.toString();
  }

  /** A folder with what the launcher needs, and no node. */
  private Path emptyPath() throws IOException {
    Path bin = Files.createDirectories(folder.resolve("bin"));
    for (String tool : List.of("bash", "dirname", "readlink", "grep", "env")) {
      for (String place : List.of("/usr/bin", "/bin")) {
        Path program = Path.of(place, tool);
        if (Files.exists(program) && !Files.exists(bin.resolve(tool))) {
          Files.createSymbolicLink(bin.resolve(tool), program);
        }
      }
    }
    return bin;
  }

  @Test
  void an_unpacked_package_serves_its_site_with_its_own_runtime() throws Exception {
    Path bundle = Files.createDirectories(folder.resolve("bundle"));
    Files.copy(ROOT.resolve("doorbell"), bundle.resolve("doorbell"));
    Path java = Files.createDirectories(bundle.resolve("runtime/bin")).resolve("java");
    Files.writeString(java, "#!/bin/sh\necho \"$@\"\n");
    assertThat(java.toFile().setExecutable(true)).isTrue();
    String docs = bundle.resolve("doorbell").toString();

    assertThat(run(bundle, new ProcessBuilder("bash", docs, "docs"))).isEqualTo(4);
    assertThat(said).contains("this archive has no site");
    Path html = Files.createDirectories(bundle.toRealPath().resolve("docs/html"));
    assertThat(run(bundle, new ProcessBuilder("bash", docs, "docs"))).isZero();
    assertThat(said).contains(html + "; a browser shows it by", "docs --serve");
    assertThat(run(bundle, new ProcessBuilder("bash", docs, "docs", "--serve", "8123"))).isZero();
    assertThat(said.strip()).isEqualTo("-m jdk.httpserver -b 127.0.0.1 -p 8123 -d " + html);
  }
}
