package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Packs the last commit as a release does. */
@Tag("slow")
@EnabledIfSystemProperty(
    named = "doorbell.package",
    matches = "true",
    disabledReason = "takes ten minutes; run it with -Ddoorbell.package=true before a release")
class PackageTest {
  @TempDir private Path folder;

  private String run(Path in, String... command) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).directory(in.toFile());
    try (TestProgram program = TestProgram.start(folder, builder)) {
      return program.succeed();
    }
  }

  private Path packed(Path of, String name) throws IOException, InterruptedException {
    Path clone = folder.resolve(name);
    run(of, "git", "clone", "-q", ".", clone.toString());
    run(clone, "./doorbell", "package");
    return clone.resolve("target/package");
  }

  @Test
  void two_clones_of_a_commit_give_equal_packages_and_each_says_what_is_in_it()
      throws IOException, InterruptedException {
    assumeTrue(
        Files.isDirectory(Path.of("../.git")), "no checkout by git; clone the repository to test");
    Path first = packed(Path.of(".."), "first");
    Path second = packed(folder.resolve("first"), "a/longer/path/to/the/second");
    String sums = Files.readString(first.resolve("SHA256SUMS"));
    assertThat(sums).isEqualTo(Files.readString(second.resolve("SHA256SUMS")));
    run(first, "sha256sum", "--strict", "-c", "SHA256SUMS");

    List<String> unsummed = new ArrayList<>();
    try (Stream<Path> files = Files.walk(first)) {
      files
          .filter(Files::isRegularFile)
          .map(file -> "./" + first.relativize(file))
          .filter(file -> !sums.contains("  " + file + "\n") && !file.endsWith("SHA256SUMS"))
          .forEach(unsummed::add);
    }
    assertThat(unsummed).isEmpty();

    Path unpacked = Files.createDirectories(folder.resolve("unpacked"));
    Path archive;
    try (Stream<Path> files = Files.list(first)) {
      archive = files.filter(file -> file.toString().contains("-linux-")).findFirst().orElseThrow();
    }
    run(unpacked, "tar", "xJf", archive.toString());
    String bill = Files.readString(first.resolve("sbom.json"));
    String notice = Files.readString(first.resolve("NOTICE"));
    List<String> unnamed = new ArrayList<>();
    try (Stream<Path> jars = Files.list(unpacked.resolve("doorbell/lib"))) {
      for (Path jar : jars.filter(file -> file.toString().endsWith(".jar")).toList()) {
        String library = jar.getFileName().toString().replaceFirst("-[0-9].*", "");
        if (!bill.contains("\"name\" : \"" + library + "\"")) {
          unnamed.add("sbom.json: " + library);
        }
        boolean own = Files.exists(first.resolve("maven/dev/doorbell/" + library)) || own(library);
        if (!own && !notice.contains(":" + library + " ")) {
          unnamed.add("NOTICE: " + library);
        }
      }
    }
    assertThat(unnamed).isEmpty();
    assertThat(run(unpacked, "env", "-i", "doorbell/doorbell", "list")).contains("pull-vs-push");
  }

  private static boolean own(String library) throws IOException {
    try (Stream<Path> modules = Files.walk(Path.of(".."), 2)) {
      return modules.anyMatch(
          module ->
              module.getFileName().toString().equals(library)
                  && Files.exists(module.resolve("pom.xml")));
    }
  }
}
